"""From an SDFG in codegen form to source text: lowering to LIR, emission, and the artifact that the runtime builds."""
