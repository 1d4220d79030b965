"""Loops: entry, fixed point and exit of sequential loops, unrolling, and what depends on the index."""
