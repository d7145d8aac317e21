"""From files to releases of the PII part: annotate, train, find, mask, score, review."""
