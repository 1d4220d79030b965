"""Blocks of threads: grids, shared memory, reductions, and vector loads."""
