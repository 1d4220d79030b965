"""SciPy's functions that dcpy compiles: loaded where a program's process has imported SciPy, and not before.

Only names and dtypes are taken from SciPy; none of its code runs in a compiled program (docs/decisions/0038).
"""
