"""Functions: calls, arguments, recursion, decorators, functions that stay Python."""
