"""Sums over dimensions: one description, and two ways to write the loops. Read `spec` first."""
