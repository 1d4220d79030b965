"""Programs for FPGAs: what is generated beside the host's program.

`program` has the host's and the device's unit, `opencl_host` what starts kernels on a board, `vitis_link` the banks of
arrays, `tool_projects` the folders for vendors' tools. Lowering is in `codegen.lower.fpga`, dialects in `codegen.emit`.
"""
