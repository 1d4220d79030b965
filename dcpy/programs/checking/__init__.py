"""Checks of a program against its function in Python: the first statement and element that differ."""
