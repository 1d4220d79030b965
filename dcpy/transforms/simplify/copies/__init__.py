"""Redundant copy, reshape, and view removal."""
