"""One file per format. A format is a `Reader` that yields records and can `render` a record back into its file's bytes.

Reading cuts a row open at its text and nowhere else; rendering puts a text back into the same cut. So whatever is not the
text (spacing, quotes, the spelling of numbers, line ends) comes out byte for byte, and an untouched record does so entirely.
"""
