"""From a Python function to an SDFG: source, closure, desugaring to a small core, and an evaluator over types.

Read `lower.function_to_sdfg` first; `numpy` holds what NumPy's functions mean, one small function each.
"""
