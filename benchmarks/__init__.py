"""Measurements: `python -m benchmarks` prints the table of bars, `python -m benchmarks.demo` the short tour."""
