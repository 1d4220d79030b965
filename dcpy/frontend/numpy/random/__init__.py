"""Random sampling: generators, distributions, orders, with NumPy's own streams."""
