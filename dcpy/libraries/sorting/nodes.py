"""The library nodes of sorting. How they are computed is in `libraries.sorting.expand`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dcpy.ir.nodes import LibraryNode


@dataclass(eq=False)
class SortingNode(LibraryNode):
    """Works on each row of a matrix of real numbers by itself; NaN comes last."""

    CONNECTORS: ClassVar[tuple[str, ...]] = ("x",)

    def problems(self) -> Iterator[str]:
        """Other connectors, or operands that are no matrices of one shape."""
        if set(self.inputs) != set(self.CONNECTORS) or set(self.outputs) != {"out"}:
            yield f"has the connectors ({', '.join(self.CONNECTORS)}) -> (out)"
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


@dataclass(eq=False)
class RankPartition(SortingNode):
    """``out = np.partition(x, ranks)`` along the last dimension of two; the order between the ranks is left open.

    `ranks` is a vector of int64. Each is from 0 to the length of a row, exclusive.
    """

    kind = "partition"
    CONNECTORS = ("x", "ranks")

    def problems(self) -> Iterator[str]:
        """Ranks that are no vector, too."""
        yield from super().problems()
        if "ranks" in self.inputs and len(self.inputs["ranks"].subset.shape) != 1:
            yield f"takes a vector of ranks, not {self.inputs['ranks'].subset.shape}"

    def meaning(self, inputs: Mapping[str, np.ndarray[Any, Any]], outputs: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Everything in order."""
        outputs["out"][...] = np.sort(inputs["x"], axis=-1)
