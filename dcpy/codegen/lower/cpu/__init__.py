"""Lowering for processors alone: memory, stores and signals of the host.

`allocation_hoisting` allocates buffers once per thread, `nontemporal_stores` writes past the caches, `literal_tables`
keeps numbers at file scope, `extremum_lanes` folds extrema of floats, `interrupt_polling` asks for signals in long
loops.
"""
