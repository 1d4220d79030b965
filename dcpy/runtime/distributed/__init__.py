"""Ranks: who they are, what they agree on, and the arrays of which each has a part."""
