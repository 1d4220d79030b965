"""Scalar expressions in C: symbolic integers (`symbols`), typed operations (`operations`), conversions, numbers."""
