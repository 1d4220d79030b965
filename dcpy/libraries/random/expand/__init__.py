"""Expansions of the random nodes."""
