"""Measurements: `python -m benchmarks` prints the table of the README, `python -m benchmarks.demo` the short tour."""
