"""Typed inference and lowering in one: an abstract evaluator over values that writes the SDFG as it goes."""
