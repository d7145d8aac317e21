"""Pages about releases: the card of one (card), the overview of a folder of them (report)."""
