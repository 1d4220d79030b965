"""Expansions of products of matrices and vectors."""
