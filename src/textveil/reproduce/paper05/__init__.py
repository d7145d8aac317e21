"""Paper 05, run again: its study, the cells it needs and what is measured on them."""
