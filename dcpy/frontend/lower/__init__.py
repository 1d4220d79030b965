"""Typed inference and lowering in one: an abstract evaluator over values that writes the SDFG as it goes.

`function` has the entry, `expressions` and `statements` give Python its meaning, `loops`, `merges` and `maps` its
control flow, `builder` the emission interface that implementations of NumPy functions use, `emitter` the pen below it.
"""

from dcpy.frontend.lower.function import Lowered, lower_function

__all__ = ["Lowered", "lower_function"]
