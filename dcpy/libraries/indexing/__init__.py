"""Indexing with masks and index arrays: what they select, gather, and write."""
