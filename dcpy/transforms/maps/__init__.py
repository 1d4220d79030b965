"""Transformations of maps, the parallel loop nests."""
