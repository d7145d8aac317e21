"""Networks that more than one room uses, and the plain (non-private) loop that fits them.

Nothing is imported here, and torch only when a network is built: the estimators can be named and copied without it.
"""
