"""Expansions of the nodes of indexing."""
