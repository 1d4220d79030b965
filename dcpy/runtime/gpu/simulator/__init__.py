"""A GPU on the CPU: runs the very text of kernels, and says what is wrong with it. What it proves and what it cannot is
in docs/explanation/gpu-simulator.md.

library.py opens devices; the C++ here is what they are (simulator.h first).
"""
