"""Parallel maps: ``dcpy.map``, independence of its iterations, and writes that iterations share."""
