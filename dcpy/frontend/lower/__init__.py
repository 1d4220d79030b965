"""Typed inference and lowering in one: an abstract evaluator over values that writes the SDFG as it goes.

`function_to_sdfg` has the entry, `expressions` and `statements` give Python its meaning, the folders its chapters;
`op_builder` is the emission interface that implementations of NumPy functions use, `emitter` the pen below it.
"""
