"""SciPy's functions that dcpy compiles: loaded where a program's process has imported SciPy, and not before.

SciPy is asked for names and dtypes only; nothing of it runs in a compiled program (docs/decisions/0038).
"""
