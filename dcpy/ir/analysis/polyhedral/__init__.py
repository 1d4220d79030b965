"""Integer sets: which elements accesses touch, asked exactly, for all sizes at once.

`footprints` has the elements of an access as a value, `tiled_footprints` simplifies those of tiled loops;
`integer_sets` has the questions, `isl_sets` puts the hard ones to isl. `symbolic_equality` compares expressions,
`traversal_order` the orders in which two accesses go through their elements.
"""
