"""Indexing routines: positions, masks, choices, and elements taken and put."""
