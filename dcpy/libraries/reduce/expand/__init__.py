"""Expansions of reductions."""
