"""Introspection of Python functions: source text, syntax tree, bytecode, closure, fingerprint."""
