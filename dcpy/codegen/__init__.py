"""From an SDFG in codegen form to source text: lowering to LIR, emission, and the artifact that the runtime builds.

`generate` is the way for CPUs and GPUs, `fpga` has that for FPGAs. Read `lir` (the small tree between an SDFG and
text), then `lower` (from an SDFG to LIR) and `emit` (from LIR to a language). `cycle_model` predicts the cycles of
hardware from LIR.
"""
