"""What each framework asks for in a kernel's source to run it on a GPU: imports and decorators.

JAX's is that of `benchmarks.peers.adapt_jax`, PyTorch's that of `adapt_torch`.
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
