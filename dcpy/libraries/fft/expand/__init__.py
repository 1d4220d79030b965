"""How Fourier transforms are computed."""
