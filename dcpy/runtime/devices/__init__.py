"""Devices that programs run on besides the processor: GPUs, and what stands in for one.

table.py is what they have in common, simulator/ runs kernels on the CPU. Nothing here is imported before a program asks
for a GPU.
"""
