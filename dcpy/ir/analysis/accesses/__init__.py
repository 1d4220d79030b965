"""Memory accesses: which elements each of them touches, in which iterations and in which order.

`memory_access` is one access as a value, `access_relations` collects those inside of a part. `memlet_propagation` sums
them up as boxes, `exposed_reads` finds what is read before it is written. `strides` and `layout_injectivity` are about
addresses.
"""
