"""Journeys of parallel text: cut it, attack the pieces, adapt a model to them."""
