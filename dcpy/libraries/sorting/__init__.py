"""Sorting of numbers: nodes, and an expansion that sorts by digits."""
