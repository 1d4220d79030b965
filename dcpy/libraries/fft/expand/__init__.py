"""Expansions of Fourier transforms."""
