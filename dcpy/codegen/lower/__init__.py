"""From an SDFG in codegen form to LIR. Read `program.translation_unit` first, then `region`, `maps`, `tasklets`.

Decided here: where buffers are allocated, how elements are addressed, how loops run and reduce, where errors leave.
At the top is what every device shares; `context` is what lowering knows on the way. `program`: whole files and the C
ABI. `expressions`: indices, sizes and values. `cpu`, `gpu`, `fpga`: what only one device does.
"""
