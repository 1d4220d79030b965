"""From an SDFG in codegen form to source text: lowering to LIR, emission, and the artifact that the runtime builds.

`generate` prints programs for CPUs; `gpu` and `fpga` have generators and dialects of their own. Read `lir` (the small
tree between an SDFG and text), then `lower` (from an SDFG to LIR) and `emit` (from LIR to a language).
"""
