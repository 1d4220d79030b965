"""A stand-in for numba."""

__version__ = "0 (a stand-in)"
