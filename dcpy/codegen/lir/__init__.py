"""LIR: a small tree of loops, assignments and calls between an SDFG and text.

`expr` has the expressions, `tree` the statements, `traversal` walks of both. All frozen; lowering decides
everything, an emitter only prints.
"""
