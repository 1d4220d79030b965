"""Dataflow simplification: constants, common subexpressions, dead code, and value numbering."""
