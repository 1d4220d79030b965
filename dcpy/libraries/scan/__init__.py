"""Scans: running sums, products and extrema along an axis."""
