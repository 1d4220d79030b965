"""GPU programs: the host's unit, that of the kernels, and their headers."""
