"""Halos: their validity, depth, exchange, and overlap with computation."""
