"""From files to a model trained under TextHide, and from such a folder to what its server could read."""
