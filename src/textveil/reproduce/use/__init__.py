"""What veiled text is worth at which attack success, on public collections: curves, the forecast, and its test."""
