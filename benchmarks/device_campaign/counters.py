"""Hardware counters by ncu: bytes that kernels move through memory, time, and how full the processors are."""

from __future__ import annotations

import csv
from typing import Any

from benchmarks.device_campaign.residents import crash

KERNELS = (
    "jacobi_2d", "softmax", "gemm", "atax", "hdiff", "spmv", "azimint_hist", "conv2d_bias", "heat_3d", "vadv",
)  # fmt: skip
BYTES, TIME = "dram__bytes.sum", "gpu__time_duration.sum"
OCCUPANCY = "sm__warps_active.avg.pct_of_peak_sustained_active"
LAUNCHES = 40  # of a program that are looked at
NCU = (
    "ncu", "--csv", "--clock-control", "none", "--print-units", "base", "--launch-count", str(LAUNCHES),
    "--metrics", f"{BYTES},{TIME},{OCCUPANCY}",
)  # fmt: skip


def read(code: int, text: str) -> dict[str, Any]:
    """By kernel: launches that were seen, bytes and seconds of all, and the mean of its occupancy in percent."""
    lines = text.splitlines()
    start = next((k for k, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        return {"status": crash(code, text) if code else "refused: ncu saw no kernels"}
    kernels: dict[str, dict[str, float]] = {}
    for entry in csv.DictReader(lines[start:]):
        if not entry.get("Metric Name"):
            continue
        found = kernels.setdefault(
            entry["Kernel Name"], dict.fromkeys(("launches", "bytes", "seconds", "occupancy"), 0.0)
        )
        value = float(entry["Metric Value"].replace(",", ""))
        match entry["Metric Name"]:
            case name if name == BYTES:
                found["bytes"] += value
                found["launches"] += 1
            case name if name == TIME:
                found["seconds"] += value / 1e9
            case name if name == OCCUPANCY:
                found["occupancy"] += value
    for found in kernels.values():
        found["occupancy"] /= max(found["launches"], 1)
    return {"kernels": kernels, "status": "ok"}
