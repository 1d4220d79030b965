"""Reverse mode: the program with all it needs kept, then its statements in reverse order with adjoints."""
