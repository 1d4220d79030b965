"""Expansions of the nodes of sorting."""
