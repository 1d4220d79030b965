"""Analyses of programs for FPGAs: networks of processes, and pipelines.

`token_rates` counts what processes push and pop. `port_demand` counts the accesses of an iteration to each memory,
`pipeline_dependences` the iterations between two that meet in one.
"""
