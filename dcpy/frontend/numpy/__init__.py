"""NumPy functions and methods that dcpy compiles, by theme; loaded when the first call is lowered."""
