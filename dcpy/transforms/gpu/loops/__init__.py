"""Loops of kernels: persistent kernels, captured graphs, unswitching, and overlapped tiling."""
