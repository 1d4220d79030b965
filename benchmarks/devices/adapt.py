"""What each framework asks for in a kernel's source to run it on a GPU: imports and decorators.

JAX's is that of `benchmarks.peers.adapt_jax`.
"""

from __future__ import annotations

import re

from benchmarks.peers.adapt import decorated
from benchmarks.peers.subject import Subject

_NUMPY = re.compile(r"^import numpy as np$", re.MULTILINE)


def for_dcpy(subject: Subject, left_out: str = "") -> str:
    """With a pass `left_out`, programs are compiled without it."""
    more = f', overrides=("{left_out}=off",)' if left_out else ""
    decorator = f"@dcpy.program(auto_optimize=True, device=dcpy.DeviceType.GPU{more})"
    return decorated(subject.source, "import dcpy", decorator, only=subject.name)


def for_cupy(subject: Subject) -> str:
    """CuPy's functions have the names of NumPy's."""
    return _NUMPY.sub("import cupy as np", subject.source)


def for_torch(subject: Subject) -> str:
    """PyTorch compiles NumPy functions as they are; outside, arrays are tensors, on the GPU. Those that a function
    makes are not: a default device breaks products of its NumPy arrays and numbers (2.11, 2.13).
    """
    wrapped = "@torch.compile\n@torch.compiler.wrap_numpy"
    return decorated(subject.source, "import torch", wrapped, only=subject.name)
