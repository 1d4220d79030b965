"""Parallelism: which parts of a program and which iterations may run at the same time, in threads or in vectors.

`bernstein_conditions` for parts side by side; `conflict_resolutions` for iterations that combine values, and
`thread_parameters` for those that threads can divide; `vectorizability` for vector instructions, and
`nontemporal_stores` for vector loops whose rows need no cache.
"""
