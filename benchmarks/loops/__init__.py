"""Small programs of the kinds that strangers' programs were slow in, beside NumPy and Numba in one run."""
