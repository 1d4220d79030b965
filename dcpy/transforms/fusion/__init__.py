"""Fusion: maps that become one, and what they hand to each other becomes private."""
