"""Scalar expressions: what tasklets compute, and the table of operations."""
