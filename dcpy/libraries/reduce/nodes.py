"""The library nodes of reductions. How they are computed is in `libraries.reduce.expand`.

Both take one operand ``x`` of any rank and reduce its `axes`, which count the kept dimensions of its memlet. The
output ``out`` has the remaining dimensions, in order (for ``keepdims`` let its memlet name index 0 there).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dcpy.ir.expressions.identities import extreme_value
from dcpy.ir.nodes import LibraryNode
from dcpy.ir.symbolic import Ranges

#: operation -> the NumPy function that reduces with it
REDUCTIONS = {
    "add": np.add,
    "mul": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.logical_and,
    "or": np.logical_or,
}


@dataclass(eq=False)
class Reduce(LibraryNode):
    """``out = op over axes of x``, accumulated in the dtype of ``out``: ``np.sum``, ``prod``, ``min``, ``all``, ….

    Elements are converted to that dtype first, as NumPy's ``dtype=`` does. NaN propagates through min and max. Nothing
    to reduce gives the operation's identity (for min and max the dtype's extreme value: NumPy refuses these, and so
    does the frontend). Sums may be reassociated, within the error of NumPy's pairwise sum.
    """

    kind = "reduce"
    op: str = "add"
    axes: tuple[int, ...] = ()

    def meaning(self, inputs: Mapping[str, np.ndarray[Any, Any]], outputs: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """NumPy's own reduction."""
        out = outputs["out"]
        x = inputs["x"].astype(out.dtype)
        function, axes = REDUCTIONS[self.op], tuple(self.axes)
        if self.op in ("min", "max"):
            out[...] = function.reduce(x, axis=axes, initial=extreme_value(self.op, out.dtype))
        else:
            out[...] = function.reduce(x, axis=axes, dtype=out.dtype)

    def problems(self) -> Iterator[str]:
        """Unknown operations, axes that do not exist, outputs of another rank or size."""
        if self.op not in REDUCTIONS:
            yield f"reduces with {self.op!r}, which is none of {', '.join(REDUCTIONS)}"
        yield from _shape_problems(self, self.axes)

    def index_labels(self) -> Mapping[str, tuple[str, ...]]:
        """A label for each dimension; those that are reduced are in the operand alone."""
        return _labels(self, self.axes)

    @property
    def combination(self) -> str:
        return self.op


@dataclass(eq=False)
class ArgReduce(LibraryNode):
    """``out = np.argmin(x)`` or ``argmax``: the first position of the extremum, or of the first NaN.

    `axes` holds the one axis searched; with several or all, the position counts them in C order. ``out`` is int64.
    """

    kind = "argreduce"
    op: str = "min"
    axes: tuple[int, ...] = (0,)

    def meaning(self, inputs: Mapping[str, np.ndarray[Any, Any]], outputs: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """NumPy's own search, with the searched axes last and flattened."""
        x, axes = inputs["x"], tuple(self.axes)
        kept = [axis for axis in range(x.ndim) if axis not in axes]
        count = int(np.prod([x.shape[axis] for axis in axes]))
        rows = x.transpose(*kept, *sorted(axes)).reshape(*(x.shape[axis] for axis in kept), count)
        outputs["out"][...] = np.argmin(rows, axis=-1) if self.op == "min" else np.argmax(rows, axis=-1)

    def problems(self) -> Iterator[str]:
        """Unknown operations, axes that do not exist, outputs of another rank or size."""
        if self.op not in ("min", "max"):
            yield f"searches {self.op!r}, which is neither min nor max"
        if not self.axes:
            yield "needs at least one axis to search"
        yield from _shape_problems(self, self.axes)

    def index_labels(self) -> Mapping[str, tuple[str, ...]]:
        """A label for each dimension; those that are searched are in the operand alone."""
        return _labels(self, self.axes)


def _labels(node: LibraryNode, axes: tuple[int, ...]) -> Mapping[str, tuple[str, ...]]:
    labels = tuple(f"d{dim}" for dim in range(len(node.inputs["x"].subset.shape)))
    return {"x": labels, "out": tuple(label for dim, label in enumerate(labels) if dim not in axes)}


def _shape_problems(node: LibraryNode, axes: tuple[int, ...]) -> Iterator[str]:
    if tuple(node.inputs) != ("x",) or tuple(node.outputs) != ("out",):
        yield "has the connectors (x) -> (out)"
        return
    shape, result = node.inputs["x"].subset.shape, node.outputs["out"].subset.shape
    if len(set(axes)) != len(axes) or any(not 0 <= axis < len(shape) for axis in axes):
        yield f"axes {axes} do not fit an operand of {len(shape)} dimensions"
        return
    kept = tuple(size for axis, size in enumerate(shape) if axis not in axes)
    if len(kept) != len(result):
        yield f"leaves {len(kept)} dimensions, but the output has {len(result)}"
    elif any(Ranges().proves_ne(size, other) for size, other in zip(kept, result, strict=True)):
        yield f"leaves [{', '.join(map(str, kept))}], but the output is [{', '.join(map(str, result))}]"
