"""Sequences: lists, tuples and dictionaries, iteration, comprehensions and generators."""
