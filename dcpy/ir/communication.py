"""Communication between the ranks of a local program: the base of all nodes that communicate.

A program in local form runs once per rank, each with memory of its own; nodes of this class are all that they share.
The kinds of nodes are in `dcpy.libraries.mpi`, virtual ranks that run them in `ir.interp.virtual_ranks`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from dcpy.base.errors import InterpreterError
from dcpy.ir.distribution import ProcessGrid, Section
from dcpy.ir.effects import Effect
from dcpy.ir.field_roles import Role, Roles
from dcpy.ir.nodes import LibraryNode

NDArray = np.ndarray[Any, Any]


@dataclass(slots=True)
class RankVisit:
    """One rank at a node: its operands, the values of its symbols, and the grids of its program."""

    grids: Mapping[str, ProcessGrid]
    symbols: Mapping[str, int]
    inputs: dict[str, NDArray]
    outputs: dict[str, NDArray]
    rank: int = 0


class Ranks(Protocol):
    """The other ranks, as a node sees them that one of them runs."""

    def here(self) -> int:
        """The number of the rank that runs now."""

    def place(self, node: CommNode, visit: RankVisit) -> tuple[int, int]:
        """The number of this rank in the node's communicator, and how many there are; -1 for one that is not there."""

    def meet(self, node: Collective, visit: RankVisit) -> None:
        """Wait until all ranks of the node's communicator are there; its outputs are filled then."""

    def send(self, node: CommNode, visit: RankVisit, to: int, tag: int, values: NDArray) -> int:
        """Start to send to a rank of the node's communicator; returns a request."""

    def receive(self, node: CommNode, visit: RankVisit, source: int, tag: int, like: NDArray) -> int:
        """Start to receive; returns a request."""

    def finish(self, node: CommNode, request: int, values: NDArray | None) -> NDArray | None:
        """Wait for a request. Returns what was received; None for what was sent, which `values` still have to be."""


RANKS: ContextVar[Ranks | None] = ContextVar("RANKS", default=None)  #: those beside the rank that runs here


class RankMessages(NamedTuple):
    """Traffic from rank to rank: messages, and the bytes in them."""

    messages: int
    bytes: int


@dataclass(eq=False)
class HaloUpdate(LibraryNode):
    """Halo update: what ranks have of their neighbours' elements of some arrays becomes what these are now.

    A node of the distributed form. It changes no element of an array, so for one rank, and erased, it does nothing.
    Each array, whole, is an input and, by the same name, an output. `before` and `behind` are how many elements beyond
    its own ones a rank gets: one number per dimension of the first array, then of the second one, and so on. Without
    `corners`, elements that are beyond along two dimensions stay as they are.
    """

    kind = "comm.update"
    before: tuple[int, ...]
    behind: tuple[int, ...]
    corners: bool = False

    def widths(self) -> dict[str, tuple[tuple[int, int], ...]]:
        """The widths before and behind along each dimension, of each array."""
        pairs = iter(zip(self.before, self.behind, strict=True))
        return {memlet.container: tuple(next(pairs) for _ in memlet.subset.dims) for memlet in self.inputs.values()}

    def problems(self) -> Iterator[str]:
        """Other outputs than inputs; widths that are not one per dimension, or negative."""
        if self.inputs != self.outputs or not self.inputs:
            yield "updates arrays in place: its inputs are its outputs"
        count = sum(len(memlet.subset.dims) for memlet in self.inputs.values())
        if not len(self.before) == len(self.behind) == count:
            yield f"has {len(self.before)} and {len(self.behind)} widths for {count} dimensions"
        if min((*self.before, *self.behind), default=0) < 0:
            yield "has a negative width"

    def meaning(self, inputs: Mapping[str, NDArray], outputs: Mapping[str, NDArray]) -> None:
        for name, values in inputs.items():
            outputs[name][...] = values


@dataclass(eq=False)
class Distribute(LibraryNode):
    """A distribution that a program asks for: ``out[...] = x``, of which each rank of a grid has its blocks.

    A node of the global form. What an array is does not depend on where it is, so for one rank this is a copy. When a
    program is distributed it is a copy as well, into an array that lives there
    (`transforms.distributed.planning.user_distributions`).
    """

    kind = "comm.distribute"
    roles: ClassVar[Roles] = {**LibraryNode.roles, "where": Role.BOUND}
    where: Section

    def problems(self) -> Iterator[str]:
        """Other connectors, another number of dimensions, or a section without a place."""
        if set(self.inputs) != {"x"} or set(self.outputs) != {"out"}:
            yield "has the connectors (x) -> (out)"
            return
        counts = [len(self.inputs["x"].subset.shape), len(self.outputs["out"].subset.shape), len(self.where.shape)]
        if len(set(counts)) > 1:
            yield f"has operands of {counts[0]} and {counts[1]} dimensions, and deals out {counts[2]}"
        if self.where.distribution is None or self.where.grid is None:
            yield "does not say how its array is dealt out, and on which grid"

    def meaning(self, inputs: Mapping[str, NDArray], outputs: Mapping[str, NDArray]) -> None:
        outputs["out"][...] = inputs["x"]


@dataclass(eq=False)
class CommNode(LibraryNode):
    """A node that communicates. Nodes of one communicator stay in their order, and run as often as the program says.

    The communicator is all ranks (``grid = ""``) or those of a grid, of which `along` are the axes along which it
    reaches: ``along = (1,)`` are the ranks of a row. None: all axes. A rank that is not on the grid does nothing.
    """

    effects: ClassVar[Effect] = Effect.ORDERED
    grid: str = field(default="", kw_only=True)
    along: tuple[int, ...] = field(default=(), kw_only=True)

    def meaning(self, inputs: Mapping[str, NDArray], outputs: Mapping[str, NDArray]) -> None:
        """A rank alone has no peer: `ir.interp.virtual_ranks` runs all of them."""
        raise InterpreterError(
            f"a {self.kind} needs the other ranks",
            span=self.span,
            help="run_ranks(sdfg, [arguments of each rank, ...]) runs all of them",
        )

    @property
    def gives_the_same(self) -> bool:
        """Return whether its outputs are surely the same on all ranks."""
        return False

    @property
    def same_outputs(self) -> frozenset[str]:
        """The containers of those outputs that are surely the same on all ranks."""
        return frozenset(memlet.container for memlet in self.outputs.values() if self.gives_the_same)

    def run(self, visit: RankVisit, ranks: Ranks) -> None:
        """Run one rank's part of the node: fill its outputs."""
        raise NotImplementedError(f"a {self.kind} must say what it does")


@dataclass(eq=False)
class Collective(CommNode):
    """A node that all ranks of its communicator reach, in the same order as the others of that communicator."""

    def run(self, visit: RankVisit, ranks: Ranks) -> None:
        ranks.meet(self, visit)

    def agreement(self, visit: RankVisit) -> dict[str, object]:
        """Return the values that must agree on all ranks, by name; for most, dtypes and shapes of the operands."""
        operands = {**visit.inputs, **{f"{name} ": value for name, value in visit.outputs.items()}}
        return {f"the operand {name.strip()!r}": _described(value) for name, value in operands.items()}

    def meaning_of_all(self, visits: Sequence[RankVisit]) -> int | RankMessages:
        """Fill the outputs of all ranks, in the order of the communicator; return how many messages that takes.

        0 for what an MPI does in a way of its own.
        """
        raise NotImplementedError(f"a {self.kind} must say what it means")


def communicate(
    node: CommNode,
    grids: Mapping[str, ProcessGrid],
    symbols: Mapping[str, int],
    inputs: dict[str, NDArray],
    outputs: dict[str, NDArray],
) -> None:
    """Run a node on one rank, beside the others; alone, it raises."""
    ranks = RANKS.get()
    if ranks is None:
        node.meaning(inputs, outputs)
    else:
        node.run(RankVisit(grids, dict(symbols), inputs, outputs, ranks.here()), ranks)


def _described(value: NDArray) -> str:
    return f"{value.dtype}[{', '.join(map(str, value.shape))}]"
