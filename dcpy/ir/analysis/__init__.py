"""Questions about an SDFG: which memory is touched, what is known, what depends on what. Nothing here changes one.

In the order of a compiler's textbook; each room imports only those before it:
`polyhedral`: integer sets and footprints. `dataflow`: definitions and uses, aliases, effects, value ranges, values.
`accesses`: which elements each access touches. `distributed`: which elements a rank owns, and what copies cost.
`dependence`: which iterations depend on each other. `parallelism`: which may run at the same time.
`fpga`: rates of queues, ports, pipelines. `costs`: the time of loop nests. `gpu`: kernels, traffic, valid copies.
Two modules are for all of them: `device_side` (host or device) and `dataflow_graph` (a state as a multigraph).
"""
