"""Transformations of sequential loops."""
