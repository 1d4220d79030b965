"""Fourier transforms: one node, an expansion for FFTW, and one that is a program in dcpy's own IR."""
