"""Arithmetic: operators and comparisons, broadcasting, dtypes of results, integers that do not overflow."""
