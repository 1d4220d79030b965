"""Sums over dimensions: one description, and two ways to write the loops. Read `contraction` first."""
