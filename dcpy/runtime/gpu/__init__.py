"""GPUs: drivers, compilers, device memory, and a simulator.

table.py is what they have in common, simulator/ runs kernels on the CPU. Nothing here is imported before a program asks
for a GPU.
"""
