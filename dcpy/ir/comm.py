"""What the ranks of a local program say to each other: the base of all nodes that communicate.

A program in local form runs once per rank, each with memory of its own; nodes of this class are all that they share.
The kinds of nodes are in `dcpy.libraries.mpi`, virtual ranks that run them in `ir.interp.ranks`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from dcpy.ir.distribution import ProcessGrid
from dcpy.ir.effects import Effect
from dcpy.ir.nodes import LibraryNode

NDArray = np.ndarray[Any, Any]


@dataclass(slots=True)
class Rank:
    """One rank at a node: its operands, what its symbols are, and where on the node's communicator it is."""

    number: int
    symbols: Mapping[str, int]
    inputs: dict[str, NDArray]
    outputs: dict[str, NDArray]
    grids: Mapping[str, ProcessGrid] = field(default_factory=dict)


@dataclass(eq=False)
class CommNode(LibraryNode):
    """A node that communicates. Nodes of one communicator stay in their order, and run as often as the program says.

    The communicator is all ranks (``grid = ""``) or those of a grid, of which `along` are the axes along which it
    reaches: ``along = (1,)`` are the ranks of a row. None: all axes.
    """

    effects: ClassVar[Effect] = Effect.ORDERED
    grid: str = field(default="", kw_only=True)
    along: tuple[int, ...] = field(default=(), kw_only=True)

    def meaning(self, inputs: Mapping[str, NDArray], outputs: Mapping[str, NDArray]) -> None:
        """A rank alone has nobody to talk to: `ir.interp.ranks` runs all of them."""
        from dcpy.base.errors import InterpreterError

        raise InterpreterError(
            f"a {self.kind} needs the other ranks",
            span=self.span,
            help="run_ranks(sdfg, [arguments of each rank, ...])",
        )


@dataclass(eq=False)
class Collective(CommNode):
    """A node that all ranks of its communicator reach, in the same order as the others of that communicator."""

    def agreement(self, rank: Rank) -> tuple[tuple[str, object], ...]:
        """What must be the same on all ranks, by name."""
        return tuple((name, (str(value.dtype), value.shape)) for name, value in {**rank.inputs, **rank.outputs}.items())

    def meaning_of_all(self, ranks: Sequence[Rank]) -> None:
        """Fills the outputs of all ranks, which are in the order of the communicator."""
        raise NotImplementedError(f"a {self.kind} must say what it means")
