"""LIR: a small tree of loops, assignments and calls between an SDFG and text.

`expr` has the expressions, `tree` the statements, `traversal` what is asked of both. All frozen; lowering decides
everything, an emitter only prints.
"""
