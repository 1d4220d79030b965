"""The GPU target: its value, costs, and explanation. Passes: `transforms.gpu`; lowering: `codegen.lower.gpu`; run
time: `runtime.gpu`."""
