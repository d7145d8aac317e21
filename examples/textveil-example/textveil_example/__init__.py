"""A mechanism, an attack, a paper and a verb, outside of Textveil."""
