"""Dependence analysis: which iterations depend on each other, proved by integer sets.

`loop_nests` are the axes that one asks about. `loop_dependences` answers for one loop, `dependence_vectors` for a nest,
with distances and directions; `declared_maps` tests what a program claims. `element_interference` is about one element
that a loop keeps, `precise_exceptions` about iterations behind one that raises.
"""
