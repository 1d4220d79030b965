"""Functions: calls, arguments and results, recursion, decorators, functions that stay Python."""
