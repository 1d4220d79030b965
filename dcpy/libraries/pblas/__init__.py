"""Parallel linear algebra: products of matrices that are in blocks on a grid of ranks."""
