"""Calls: inlining and outlining."""
