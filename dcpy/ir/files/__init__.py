"""Graphs as documents: JSON, content hashes, and how large a document may be."""
