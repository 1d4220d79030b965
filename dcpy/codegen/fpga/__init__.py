"""Programs for FPGAs: what is generated beside the host's program.

`program` has the host's and the device's unit, `opencl_host` what starts kernels on a board, `vitis_link` the banks of
arrays, `tool_projects` the folders for vendors' tools. Dialects: `vitis_hls`, `intel_opencl`, with
`vector_token_types`. `cycle_model` predicts the cycles of kernels from LIR. Lowering is in `codegen.lower.fpga`.
"""
