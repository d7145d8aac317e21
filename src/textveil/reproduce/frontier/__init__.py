"""Attack success against use on a file of one's own: which mechanism and setting to take."""
