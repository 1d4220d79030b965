"""The collectives of MPI as library nodes: what each means for all ranks of a communicator, in NumPy.

Operands are memlets of any stride; how much each rank gives and gets follows from their shapes, so what MPI calls
``Scatterv`` or ``Allgatherv`` is no other node. Pieces are along the first dimension, in the order of the ranks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

import numpy as np

from dcpy.base.errors import CommunicationError
from dcpy.base.minloc_maxloc import LOCATIONS, located
from dcpy.base.rank_grids import coordinates, fitted
from dcpy.ir.communication import Collective, CommNode, NDArray, Ranks, RankVisit
from dcpy.ir.expressions.ops import op_info
from dcpy.ir.field_roles import Role, Roles
from dcpy.ir.memlet import CONFLICT_RESOLUTIONS
from dcpy.ir.symbolic import ZERO, Expr


def own_results(node: CommNode) -> set[str]:
    """The results that are operands, too: what is there before stays where nothing comes."""
    return {name for name, memlet in node.inputs.items() if node.outputs.get(name) == memlet}


@dataclass(eq=False)
class Place(CommNode):
    """``rank`` is the number of this rank in the communicator, and ``size`` how many there are (both int64)."""

    kind = "comm.place"

    def problems(self) -> Iterator[str]:
        """Other connectors."""
        if self.inputs or set(self.outputs) != {"rank", "size"}:
            yield "has the connectors () -> (rank, size)"

    @property
    def same_outputs(self) -> frozenset[str]:
        return frozenset(() if self.grid else (self.outputs["size"].container,))

    def run(self, visit: RankVisit, ranks: Ranks) -> None:
        visit.outputs["rank"][...], visit.outputs["size"][...] = ranks.place(self, visit)


@dataclass(eq=False)
class Cart(CommNode):
    """A grid of all ranks: ``sizes`` are how long its axes are, ``coords`` where this rank is (int64, one per axis).

    A size of 0 stands for what the others leave (`base.rank_grids.fitted`); a rank outside of the grid has its sizes as
    coordinates.
    """

    kind = "comm.cart"
    roles: ClassVar[Roles] = {**CommNode.roles, "extents": Role.BOUND}
    extents: tuple[Expr, ...]

    def problems(self) -> Iterator[str]:
        """Other connectors, or no axes."""
        if self.inputs or set(self.outputs) != {"sizes", "coords"}:
            yield "has the connectors () -> (sizes, coords)"
        if not self.extents:
            yield "has no axis"

    @property
    def same_outputs(self) -> frozenset[str]:
        return frozenset((self.outputs["sizes"].container,))

    def run(self, visit: RankVisit, ranks: Ranks) -> None:
        rank, count = ranks.place(self, visit)
        sizes = fitted([extent.evaluate(visit.symbols) for extent in self.extents], count)
        visit.outputs["sizes"][...], visit.outputs["coords"][...] = sizes, coordinates(rank, sizes)


@dataclass(eq=False)
class Barrier(Collective):
    """No rank goes on before all are there."""

    kind = "comm.barrier"

    def meaning_of_all(self, visits: Sequence[RankVisit]) -> int:
        return 0


@dataclass(eq=False)
class _MovingCollective(Collective):
    """A collective with one operand in, ``x``, and one out, ``out``."""

    rows_differ: ClassVar[bool] = False  #: whether ranks may have different numbers of rows

    def problems(self) -> Iterator[str]:
        """Other connectors."""
        if set(self.inputs) - own_results(self) != {"x"} or set(self.outputs) != {"out"}:
            yield "has the connectors (x) -> (out)"

    def agreement(self, visit: RankVisit) -> dict[str, object]:
        first = 1 if self.rows_differ else 0
        found: dict[str, object] = {}
        for name, value in (("x", visit.inputs["x"]), ("out", visit.outputs["out"])):
            found[f"the dtype of {name!r}"] = str(value.dtype)
            found[f"the shape of {name!r}"] = value.shape[first:]
        return found


@dataclass(eq=False)
class _RootedCollective(_MovingCollective):
    """A collective with a rank that has, or gets, what the others do not: `root`, of the communicator."""

    roles: ClassVar[Roles] = {**Collective.roles, "root": Role.BOUND}
    root: Expr = field(default=ZERO, kw_only=True)

    def agreement(self, visit: RankVisit) -> dict[str, object]:
        return {"the root": self.root.evaluate(visit.symbols), **super().agreement(visit)}

    def root_of(self, visits: Sequence[RankVisit]) -> int:
        root = self.root.evaluate(visits[0].symbols)
        if not 0 <= root < len(visits):
            raise CommunicationError(f"the root of a {self.kind} is rank {root} of {len(visits)}", span=self.span)
        return root


@dataclass(eq=False)
class _CombiningCollective(_MovingCollective):
    """A collective that combines values of ranks by `op`, in the order of the ranks."""

    op: str = field(default="add", kw_only=True)

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if self.op not in (*CONFLICT_RESOLUTIONS, *LOCATIONS):
            yield f"cannot combine by {self.op!r}: there are {', '.join((*CONFLICT_RESOLUTIONS, *LOCATIONS))}"
        shape = self.inputs["x"].subset.shape if "x" in self.inputs else ()
        if self.op in LOCATIONS and (not shape or shape[-1].constant not in (None, 2)):
            yield f"{self.op!r} combines pairs along the last axis, which has not 2 elements"

    def agreement(self, visit: RankVisit) -> dict[str, object]:
        return {"the operation": self.op, **super().agreement(visit)}

    def running(self, values: Sequence[NDArray]) -> list[NDArray]:
        """Return the combinations of the first one, the first two, ...."""
        combine = partial(located, self.op) if self.op in LOCATIONS else op_info(self.op).numpy()
        found = [values[0]]
        for value in values[1:]:
            found.append(combine(found[-1], value).astype(value.dtype))
        return found


@dataclass(eq=False)
class Bcast(_RootedCollective):
    """``out`` on each rank is ``x`` of the root."""

    kind = "comm.bcast"

    @property
    def gives_the_same(self) -> bool:
        return not self.grid

    def meaning_of_all(self, visits: Sequence[RankVisit]) -> int:
        sent = visits[self.root_of(visits)].inputs["x"]
        for visit in visits:
            visit.outputs["out"][...] = sent
        return 0


@dataclass(eq=False)
class Reduce(_CombiningCollective, _RootedCollective):
    """``out`` at the root is what all ``x`` are together; that of other ranks stays as it is."""

    kind = "comm.reduce"

    def meaning_of_all(self, visits: Sequence[RankVisit]) -> int:
        visits[self.root_of(visits)].outputs["out"][...] = self.running([visit.inputs["x"] for visit in visits])[-1]
        return 0


@dataclass(eq=False)
class Allreduce(_CombiningCollective):
    """``out`` on each rank is what all ``x`` are together."""

    kind = "comm.allreduce"

    @property
    def gives_the_same(self) -> bool:
        return not self.grid

    def meaning_of_all(self, visits: Sequence[RankVisit]) -> int:
        total = self.running([visit.inputs["x"] for visit in visits])[-1]
        for visit in visits:
            visit.outputs["out"][...] = total
        return 0


@dataclass(eq=False)
class Scan(_CombiningCollective):
    """``out`` of a rank is what ``x`` of the ranks up to it are together."""

    kind = "comm.scan"

    def meaning_of_all(self, visits: Sequence[RankVisit]) -> int:
        for visit, total in zip(visits, self.running([visit.inputs["x"] for visit in visits]), strict=True):
            visit.outputs["out"][...] = total
        return 0


@dataclass(eq=False)
class Exscan(_CombiningCollective):
    """``out`` of a rank is what ``x`` of the ranks before it are together; that of the first one stays as it is."""

    kind = "comm.exscan"

    def meaning_of_all(self, visits: Sequence[RankVisit]) -> int:
        totals = self.running([visit.inputs["x"] for visit in visits])
        for visit, total in zip(visits[1:], totals, strict=False):
            visit.outputs["out"][...] = total
        return 0


@dataclass(eq=False)
class Scatter(_RootedCollective):
    """The rows of ``x`` at the root go to the ranks in turn: each gets as many as its ``out`` has."""

    kind = "comm.scatter"
    rows_differ = True

    def meaning_of_all(self, visits: Sequence[RankVisit]) -> int:
        pieces = _pieces(self, visits[self.root_of(visits)].inputs["x"], [visit.outputs["out"] for visit in visits])
        for visit, piece in zip(visits, pieces, strict=True):
            visit.outputs["out"][...] = piece
        return 0


@dataclass(eq=False)
class Gather(_RootedCollective):
    """``out`` at the root are the rows of all ``x``, in the order of the ranks; that of others stays as it is."""

    kind = "comm.gather"
    rows_differ = True

    def meaning_of_all(self, visits: Sequence[RankVisit]) -> int:
        target = visits[self.root_of(visits)].outputs["out"]
        for visit, piece in zip(visits, _pieces(self, target, [visit.inputs["x"] for visit in visits]), strict=True):
            piece[...] = visit.inputs["x"]
        return 0


@dataclass(eq=False)
class Allgather(_MovingCollective):
    """``out`` on each rank are the rows of all ``x``, in the order of the ranks."""

    kind = "comm.allgather"
    rows_differ = True

    @property
    def gives_the_same(self) -> bool:
        return not self.grid

    def meaning_of_all(self, visits: Sequence[RankVisit]) -> int:
        parts = [visit.inputs["x"] for visit in visits]
        for visit in visits:
            for piece, part in zip(_pieces(self, visit.outputs["out"], parts), parts, strict=True):
                piece[...] = part
        return 0


@dataclass(eq=False)
class Alltoall(_MovingCollective):
    """The rows of ``x`` in equal pieces, one for each rank: ``out`` has those for it, in the order of the senders."""

    kind = "comm.alltoall"

    def meaning_of_all(self, visits: Sequence[RankVisit]) -> int:
        count = len(visits)
        for visit in visits:
            for value in (visit.inputs["x"], visit.outputs["out"]):
                if len(value) % count:
                    raise CommunicationError(
                        f"{len(value)} rows of a {self.kind} are not in {count} equal pieces", span=self.span
                    )
        sent = [np.split(visit.inputs["x"], count) for visit in visits]
        for number, visit in enumerate(visits):
            visit.outputs["out"][...] = np.concatenate([pieces[number] for pieces in sent])
        return 0


@dataclass(eq=False)
class ReduceScatter(_CombiningCollective):
    """Combination of all ``x``; its rows go to the ranks in turn, to each as many as its ``out`` has."""

    kind = "comm.reduce_scatter"
    rows_differ = True

    def meaning_of_all(self, visits: Sequence[RankVisit]) -> int:
        total = self.running([visit.inputs["x"] for visit in visits])[-1]
        for visit, piece in zip(visits, _pieces(self, total, [v.outputs["out"] for v in visits]), strict=True):
            visit.outputs["out"][...] = piece
        return 0


def _pieces(node: Collective, whole: NDArray, parts: Sequence[NDArray]) -> list[NDArray]:
    """The rows of `whole`, cut into as many as each of `parts` has."""
    counts = [len(part) for part in parts]
    if sum(counts) != len(whole):
        raise CommunicationError(
            f"a {node.kind} moves {len(whole)} rows, and the ranks have {' + '.join(map(str, counts))}", span=node.span
        )
    return np.split(whole, np.cumsum(counts)[:-1])
