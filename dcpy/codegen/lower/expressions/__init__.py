"""Expressions as LIR: indices and sizes (`symbolic`), values (`scalar`), and the arithmetic of sizes.

`loop_ranges` is what is known of a loop's parameter. `size_arithmetic` checks sizes for overflow, `array_extents`
counts elements, `size_subexpressions` names what sizes have in common.
"""
