"""Sorting of numbers: a node, and C++'s own sort."""
