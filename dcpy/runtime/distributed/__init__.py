"""Ranks: their communicators, their agreements, and the arrays of which each has a part."""
