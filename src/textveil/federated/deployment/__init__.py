"""A federation of separate machines: one server, sites that join it over TLS with registered keys, all on Flower.

The private modules of Flower are used in `flower.py` alone.
"""
