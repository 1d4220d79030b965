"""Derivatives of the kernels of NPBench: ``python -m benchmarks.gradients [kernel ...]``.

Each kernel, unmodified, at its smallest size: derivatives along a random direction of all floating-point arguments
(`dcpy.jvp`) against extrapolated central differences of the plain function, and gradients (`dcpy.vjp`) against these by
the dot product. Errors are relative; of integers there is no derivative.
"""

from __future__ import annotations

import copy
import sys
import time
import types
from typing import Any

import numpy as np

import dcpy
from benchmarks.npbench import Kernel, kernels

TOLERANCE = 1e-5
IN_SINGLE_PRECISION = 1e-4  # of kernels that make arrays in it whatever their arguments are
STEP = 1e-4
#: in double precision for this, and arguments that only decide how often something runs, or where
_FEWER = {"radius"}


def arguments_of(kernel: Kernel) -> dict[str, Any]:
    """The arguments at the smallest size, in double precision."""
    found = kernel.initialize("XS")
    return {name: _double(value) for name, value in found.items()}


def _double(value: Any) -> Any:
    kind = getattr(getattr(value, "dtype", None), "char", "")
    return value.astype({"f": np.float64, "F": np.complex128}[kind]) if kind in ("f", "F") else value


def active_names(arguments: dict[str, Any]) -> list[str]:
    """The floating-point arguments."""
    return [name for name, value in arguments.items() if isinstance(value, float | complex | np.inexact)
            or (isinstance(value, np.ndarray) and value.dtype.kind in "fc")]  # fmt: skip


def direction(value: Any, rng: np.random.Generator) -> Any:
    """A random direction of about the size of an argument, complex for a complex one."""
    size = float(np.max(np.abs(value), initial=0.0)) or 1.0
    found = size * rng.uniform(0.5, 1.0, np.shape(value))
    if np.iscomplexobj(value):
        found = found + 1j * size * rng.uniform(0.5, 1.0, np.shape(value))
    return found if np.shape(value) else found.item() if hasattr(found, "item") else found


def in_double(kernel: Kernel) -> Any:
    """The plain function, which makes arrays of double precision where it says single."""
    if "float32" not in kernel.source():
        return kernel.function
    numpy = types.SimpleNamespace(**vars(np))
    numpy.float32 = np.float64
    scope: dict[str, Any] = {**vars(kernel.module), "np": numpy}
    for name, function in vars(kernel.module).items():
        if isinstance(function, types.FunctionType):
            scope[name] = types.FunctionType(function.__code__, scope, name, function.__defaults__)
    return scope[kernel.name]


def outputs_of(kernel: Kernel, arguments: dict[str, Any], names: list[str]) -> list[Any]:
    """What a call returns and leaves in some of its arguments, as floating-point arrays in order."""
    arguments = copy.deepcopy(arguments)
    with np.errstate(all="ignore"):
        returned = in_double(kernel)(**arguments)
    left = {name: arguments[name] for name in names if isinstance(arguments[name], np.ndarray)}
    return [*_floats(returned), *left.values()]


def _floats(returned: Any) -> list[Any]:
    items = returned if isinstance(returned, tuple) else (returned,)
    return [np.asarray(item) for item in items if item is not None and np.asarray(item).dtype.kind in "fc"]


def moved(arguments: dict[str, Any], along: dict[str, Any], step: float) -> dict[str, Any]:
    return {name: value + step * along[name] if name in along else value for name, value in arguments.items()}


def differences(kernel: Kernel, arguments: dict[str, Any], along: dict[str, Any]) -> list[Any]:
    """Derivatives along a direction: central differences, extrapolated once."""

    def central(h: float) -> list[Any]:
        ahead, behind = (outputs_of(kernel, moved(arguments, along, by), list(along)) for by in (h, -h))
        return [(a - b) / (2 * h) for a, b in zip(ahead, behind, strict=True)]

    wide, narrow = central(STEP), central(STEP / 2)
    return [(4 * n - w) / 3 for w, n in zip(wide, narrow, strict=True)]


def tangents_of(kernel: Kernel, arguments: dict[str, Any], along: dict[str, Any]) -> list[Any]:
    """The same by `dcpy.jvp`."""
    mine = copy.deepcopy(arguments)
    _, found = dcpy.jvp(kernel.function, wrt=list(along))(**mine, tangents=along)
    updated = found if isinstance(found, dict) else {"return": found}
    left = {name: updated.get(name, along[name]) for name in along if isinstance(arguments[name], np.ndarray)}
    returned = updated["return"]
    items = returned if isinstance(returned, tuple) else (returned,)
    return [*(np.asarray(item) for item in items if item is not None), *left.values()]


def gradient_gap(kernel: Kernel, arguments: dict[str, Any], along: dict[str, Any], tangents: list[Any]) -> float:
    """The relative error of `dcpy.vjp` by the dot product: seeds with tangents, gradients with the direction."""
    rng = np.random.default_rng(2)
    weights = [rng.uniform(0.5, 1.0, np.shape(one)) for one in tangents]
    names = [name for name in along if isinstance(arguments[name], np.ndarray)]
    count = len(tangents) - len(names)
    seeds: dict[str, Any] = dict(zip(names, weights[count:], strict=True))
    places = result_places(kernel, arguments)
    if places:
        own = dict(zip(places, weights, strict=False))
        seeds["return"] = tuple(own.get(place) for place in range(max(places) + 1))
    _, gradients = dcpy.vjp(kernel.function, wrt=list(along))(**copy.deepcopy(arguments), seeds=seeds)
    mine = sum(float(np.sum(g * along[name])) for name, g in zip(along, gradients, strict=True))
    expected = sum(float(np.sum(w * t)) for w, t in zip(weights, tangents, strict=True))
    size = sum(float(np.sum(np.abs(w * t))) for w, t in zip(weights, tangents, strict=True))
    return abs(mine - expected) / max(size, 1e-30)


def result_places(kernel: Kernel, arguments: dict[str, Any]) -> list[int]:
    """The positions of floating-point numbers in what a call returns."""
    returned = kernel.function(**copy.deepcopy(arguments))
    items = returned if isinstance(returned, tuple) else (returned,)
    return [k for k, item in enumerate(items) if item is not None and np.asarray(item).dtype.kind in "fc"]


def error_of(found: list[Any], expected: list[Any]) -> float:
    """The largest relative error, of each array by its largest element."""
    worst = 0.0
    for one, other in zip(found, expected, strict=True):
        size = float(np.max(np.abs(other), initial=0.0))
        gap = float(np.max(np.abs(one - other), initial=0.0))
        worst = max(worst, gap / size if size > 1e-30 else gap)
    return worst


def told(function: Any, *args: Any) -> tuple[str, Any]:
    """A word for an outcome: an error of an answer, or why there is none."""
    try:
        return "", function(*args)
    except dcpy.DcpyError as error:
        return f"refused: {error.message}", None
    except Exception as error:
        return f"FAILED: {error!r:.150}", None


def main(names: list[str]) -> int:
    """Print a line for each kernel; return how many are wrong."""
    wrong = right = graded = 0
    for kernel in [kernels()[name] for name in names or kernels()]:
        rng = np.random.default_rng(1)
        arguments = arguments_of(kernel)
        along = {name: direction(arguments[name], rng) for name in active_names(arguments) if name not in _FEWER}
        if not along:
            print(f"{kernel.name:28} no floating-point argument")
            continue
        start = time.perf_counter()
        why, found = told(tangents_of, kernel, arguments, along)
        seconds = time.perf_counter() - start
        if found is None:
            print(f"{kernel.name:28} jvp {why}")
            continue
        gap = error_of(found, differences(kernel, arguments, along))
        tolerance = IN_SINGLE_PRECISION if "float32" in kernel.source() else TOLERANCE
        wrong += not gap < tolerance
        right += gap < tolerance
        word = "right" if gap < tolerance else "WRONG"
        start = time.perf_counter()
        why, off = told(gradient_gap, kernel, arguments, along, found)
        if off is not None:
            wrong += not off < tolerance
            graded += off < tolerance
            why = f"{'right' if off < tolerance else 'WRONG'} ({off:.0e}, {time.perf_counter() - start:.1f} s)"
        print(f"{kernel.name:28} jvp {word} ({gap:.0e}, {seconds:.1f} s)   gradient {why}", flush=True)
    print(f"jvp {right} right, gradients {graded} right, {wrong} wrong")
    return wrong


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1:])))
