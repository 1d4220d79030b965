"""Analyses of programs for GPUs: where data are valid, and what kernels do.

`data_validity` follows copies on host and device. `kernel_launches` has the launches of a kernel, `kernel_operations`
and `memory_traffic` what one computes and moves, `sector_counts` the traffic exactly. `graph_capture` says which loops
of launches can be recorded.
"""
