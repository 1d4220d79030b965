"""The library node of scans (prefix sums). How they are computed is in `libraries.scan.expand`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dcpy.ir.nodes import LibraryNode
from dcpy.ir.symbolic import Ranges

#: operation -> the NumPy function that accumulates with it
SCANS = {
    "add": np.add,
    "mul": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.logical_and,
    "or": np.logical_or,
}


@dataclass(eq=False)
class Scan(LibraryNode):
    """``out[k] = x[0] op … op x[k]`` along `axis`: ``np.cumsum``, ``np.maximum.accumulate``, ….

    Elements are converted to the dtype of ``out`` first. With the optional input ``initial``, which has an
    element for each line, that is combined in front of it. Input and output may be the same memlet. The order of
    combination is the expansion's.
    """

    kind = "scan"
    op: str = "add"
    axis: int = 0

    def meaning(self, inputs: Mapping[str, np.ndarray[Any, Any]], outputs: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """NumPy's own accumulation."""
        out = outputs["out"]
        x = inputs["x"].astype(out.dtype)
        if "initial" in inputs:
            first = inputs["initial"].astype(out.dtype)
            x = np.concatenate((np.expand_dims(first, self.axis), x), self.axis)
        with np.errstate(all="ignore"):
            found = SCANS[self.op].accumulate(x, self.axis)
        out[...] = np.delete(found, 0, self.axis) if "initial" in inputs else found

    def problems(self) -> Iterator[str]:
        """Unknown operations, an axis that does not exist, operands of different shapes."""
        if self.op not in SCANS:
            yield f"scans with {self.op!r}, which is none of {', '.join(SCANS)}"
        if set(self.inputs) - {"initial"} != {"x"} or set(self.outputs) != {"out"}:
            yield "has the connectors (x, initial) -> (out), of which initial is optional"
            return
        shape, result = self.inputs["x"].subset.shape, self.outputs["out"].subset.shape
        if not 0 <= self.axis < len(shape):
            yield f"axis {self.axis} does not fit an operand of {len(shape)} dimensions"
        if len(shape) != len(result) or any(
            Ranges().proves_ne(size, other) for size, other in zip(shape, result, strict=True)
        ):
            yield f"scans [{', '.join(map(str, shape))}], but the output is [{', '.join(map(str, result))}]"
        if "initial" in self.inputs and len(self.inputs["initial"].subset.shape) != len(shape) - 1:
            yield "starts from one element, initial, for each line"

    def index_labels(self) -> Mapping[str, tuple[str, ...]] | None:
        """The same for both; none where lines start from elements of their own."""
        labels = tuple(f"d{dim}" for dim in range(len(self.inputs["x"].subset.shape)))
        return None if "initial" in self.inputs else {"x": labels, "out": labels}

    @property
    def combination(self) -> str:
        return self.op

    @property
    def carried(self) -> str:
        return f"d{self.axis}"
