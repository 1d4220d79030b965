"""The 11 kernels that the paper distributes (its figure 12), with the shapes of their arguments."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np

import dcpy
from benchmarks import cluster_kernels

#: kernel -> the sizes of its arrays; numbers have none. Results are called `__return`, and with numbers behind it
SHAPES: dict[str, dict[str, str]] = {
    "atax": {"A": "MN", "x": "N", "__return": "N"},
    "bicg": {"A": "NM", "p": "M", "r": "N", "__return": "M", "__return_1": "N"},
    "doitgen": {"A": "NMK", "C4": "KK"},
    "gemm": {"alpha": "", "beta": "", "C": "NM", "A": "NK", "B": "KM"},
    "gemver": {"alpha": "", "beta": "", "A": "NN", **dict.fromkeys(("u1", "v1", "u2", "v2", "w", "x", "y", "z"), "N")},
    "gesummv": {"alpha": "", "beta": "", "A": "NN", "B": "NN", "x": "N", "__return": "N"},
    "jacobi_1d": {"steps": "", "A": "N", "B": "N"},
    "jacobi_2d": {"steps": "", "A": "NN", "B": "NN"},
    "k2mm": {"alpha": "", "beta": "", "A": "NK", "B": "KM", "C": "ML", "D": "NL"},
    "k3mm": {"A": "NK", "B": "KM", "C": "ML", "D": "LT", "__return": "NT"},
    "mvt": {"x1": "N", "x2": "N", "y1": "N", "y2": "N", "A": "NN"},
}
FUNCTIONS: dict[str, FunctionType] = {name: getattr(cluster_kernels, name) for name in SHAPES}


def annotated(name: str) -> Any:
    """The program for all sizes."""
    types = {}
    for argument, shape in SHAPES[name].items():
        scalar = dcpy.int64 if argument == "steps" else dcpy.float64
        types[argument] = scalar[tuple(map(dcpy.symbol, shape))] if shape else scalar
    function = FUNCTIONS[name]
    copied = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__)
    copied.__annotations__ = {key: found for key, found in types.items() if not key.startswith("__")}
    return dcpy.program(copied)


def arguments_for(name: str, sizes: dict[str, int], seed: int = 0) -> dict[str, Any]:
    """Arrays of random numbers of these sizes; results are zeros."""
    draw = np.random.default_rng(seed)
    found: dict[str, Any] = {}
    for argument, shape in SHAPES[name].items():
        extents = tuple(sizes[size] for size in shape)
        if not shape:
            found[argument] = 3 if argument == "steps" else draw.uniform(1, 2)
        else:
            found[argument] = np.zeros(extents) if argument.startswith("__") else draw.uniform(size=extents)
    return found
