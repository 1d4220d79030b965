"""Python's own functions that dcpy compiles: builtins and math``."""
