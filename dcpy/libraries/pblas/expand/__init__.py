"""Expansions of products over ranks."""
