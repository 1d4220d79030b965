"""From an SDFG in codegen form to LIR. Read `module` first, then `region`, `maps`, `tasklets`.

Decided here: where buffers are allocated, how elements are addressed, how loops run and reduce, where errors leave.
"""
