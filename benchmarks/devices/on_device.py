"""The device's copy of an array that a function makes, in code that PyTorch compiles."""

from __future__ import annotations

from typing import Any

import torch

from benchmarks.devices.device import is_simulated

PLACE = "cpu" if is_simulated() else "cuda"


def on_device(array: Any) -> Any:
    """An array of NumPy's, whose memory is on the device: the compiler has tensors in the place of arrays."""
    return torch.from_numpy(array).to(PLACE).numpy()
