"""Universal functions, their methods, `out=` and `where=`, and floating-point errors."""
