"""Dataflow coarsening: transformations that make an SDFG simpler and never change its results."""
