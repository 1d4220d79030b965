"""The CPU target: its value, costs, calibration, and explanation. Passes: `transforms.cpu`; lowering: `codegen.lower`.
"""
