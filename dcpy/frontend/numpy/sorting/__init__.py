"""Sorting, searching, counting, and vectors as sets."""
