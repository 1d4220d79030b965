"""The FPGA target: its value, queue depths, and explanation.

Passes: `transforms.fpga`; cycles: `codegen.fpga.cycle_model`; run time: `runtime.fpga`.
"""
