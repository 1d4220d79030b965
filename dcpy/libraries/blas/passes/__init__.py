"""Optimizer passes for linear algebra: they recognize products in loops and maps, merge them, and fold neighbours into
them."""
