"""FPGA memory and boards, in the terms of the IR: containers name banks and partitions, and the catalog of boards has
their capacities and latencies.

They are here rather than in `targets.fpga`, because declarations, library nodes, passes and code generation read them.
"""
