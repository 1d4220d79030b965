"""Explicit dataflow: tasklets, memlets and scopes as users of data-centric Python write them by hand."""
