"""Kernels: their formation, fusion, and index checks."""
