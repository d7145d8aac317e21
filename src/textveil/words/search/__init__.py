"""Exact nearest-neighbour search over a whole vocabulary, for batches of noised queries.

A word mechanism noises a vector or a code and answers with the nearest word. Where the noise matters it dominates every
distance, so trees, graphs and early stopping do not help, and approximate indexes lose recall exactly there. What is left is
a scan of all words at the speed of the machine:

    HammingSearch   binary codes; distances are added as bit planes, 256 or 512 words per instruction
    EuclidSearch    float vectors; an integer product screens with a certified bound, survivors are measured in float64

Both give the same answers with numba installed (fast) and with numpy alone. Neither sees the word that was noised.
"""

from textveil.words.search.euclid import EuclidSearch
from textveil.words.search.hamming import HammingSearch

__all__ = ["EuclidSearch", "HammingSearch"]
