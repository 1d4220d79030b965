"""The way to GPUs: sides, kernels, data on both sides, copies between them. Read `lowering` first."""
