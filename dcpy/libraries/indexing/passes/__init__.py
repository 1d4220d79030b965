"""Optimizer passes for indexing: predication, merged compressions, and worklist interchange."""
