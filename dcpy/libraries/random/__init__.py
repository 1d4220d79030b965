"""Random numbers with the streams of NumPy's ``Generator``: nodes, and calls of the C library that NumPy ships."""
