"""GPU costs and limits, until those of a device are known (`targets.gpu.costs`)."""

from __future__ import annotations

from dcpy.ir.machine_model import Costs, Limits

GPU_COSTS = Costs(
    few_rows=0,
    block=256,
    warp=32,
    memory_speed=4_300_000,  # measured on an H200, as in a copy; what follows are estimates, until measured
    operation_speed=34_000_000,
    transfer_speed=20_000,
    launch=3_000,
    wait=10_000,
    barrier=200,
)
GPU_LIMITS = Limits(stack_bytes=1024, block_threads=1024, shared_bytes=227 * 1024)
