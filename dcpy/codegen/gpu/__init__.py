"""GPU programs: the host's unit, that of the kernels (in the dialect `gpu_cpp`), and their headers."""
