"""The library nodes of sorting. How they are computed is in `libraries.sorting.expand`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dcpy.ir.nodes import LibraryNode


@dataclass(eq=False)
class SortingNode(LibraryNode):
    """Works on each row of a matrix of real numbers by itself; NaN comes last."""

    def problems(self) -> Iterator[str]:
        """Other connectors, or operands that are no matrices of one shape."""
        if set(self.inputs) != {"x"} or set(self.outputs) != {"out"}:
            yield "has the connectors (x) -> (out)"
            return
        shapes = [self.inputs["x"].subset.shape, self.outputs["out"].subset.shape]
        if len(shapes[0]) != 2 or shapes[0] != shapes[1]:
            yield f"sorts the rows of a matrix into one of the same shape, not {shapes[0]} into {shapes[1]}"


@dataclass(eq=False)
class Sort(SortingNode):
    """``out = np.sort(x)`` along the last dimension of two. Which of 0.0 and -0.0 comes first is left open."""

    kind = "sort"

    def meaning(self, inputs: Mapping[str, np.ndarray[Any, Any]], outputs: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """NumPy's own sort."""
        outputs["out"][...] = np.sort(inputs["x"], axis=-1)


@dataclass(eq=False)
class ArgSort(SortingNode):
    """``out = np.argsort(x, kind="stable")`` along the last dimension of two, of dtype int64."""

    kind = "argsort"

    def meaning(self, inputs: Mapping[str, np.ndarray[Any, Any]], outputs: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """NumPy's own order."""
        outputs["out"][...] = np.argsort(inputs["x"], axis=-1, kind="stable")
