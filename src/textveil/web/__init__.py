"""Local pages: one app on this machine, a router for each part."""
