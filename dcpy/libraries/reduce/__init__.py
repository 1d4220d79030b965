"""Reductions along axes: sums, products, extrema, all and any, and the positions of extrema."""
