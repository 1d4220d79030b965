"""Copies between distributed arrays in local form: any distribution to any other, and halos from their owners.

Scatter, gather, broadcast, transposition, allreduce and the exchange of halos are all cases of one: each element goes
from a rank that has it to those that need it. A rank takes what it has from itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dcpy.base.errors import CommunicationError
from dcpy.base.rank_grids import coordinates
from dcpy.ir.communication import Collective, NDArray, RankMessages, RankVisit
from dcpy.ir.distribution import Partial, Section, coordinate_names
from dcpy.ir.field_roles import Role, Roles
from dcpy.ir.interp.local_parts import Assembly, LocalPart, on_grid, part_of
from dcpy.ir.interp.memory import index_of, range_of, shape_of
from dcpy.ir.interp.scalars import combine
from dcpy.ir.memlet import CONFLICT_RESOLUTIONS
from dcpy.ir.subsets import Range

Arrived = dict[int, int]  # how many bytes a rank got of each other one


@dataclass(eq=False)
class DistributedCopy(Collective):
    """``target[...] = source[...]`` of global arrays, of which ``src`` and ``dst`` are each rank's whole part.

    With `wcr` it is combined with what was there. All ranks take part, those outside of grids, too.
    """

    kind = "comm.copy"
    roles: ClassVar[Roles] = {**Collective.roles, "source": Role.BOUND, "target": Role.BOUND}
    source: Section
    target: Section
    wcr: str = ""

    @property
    def gives_the_same(self) -> bool:
        return self.target.distribution is None and not self.wcr

    def problems(self) -> Iterator[str]:
        """Other connectors; a target whose value is still to be combined."""
        if set(self.inputs) != {"src"} or set(self.outputs) != {"dst"}:
            yield "has the connectors (src) -> (dst)"
        if self.wcr and self.wcr not in CONFLICT_RESOLUTIONS:
            yield f"cannot combine by {self.wcr!r}"
        yield from _section_problems("source", self.source)
        yield from _section_problems("target", self.target)
        placed = self.target.distribution
        if placed is not None and any(isinstance(part, Partial) for part in placed.rest):
            yield "its target is still to be combined over an axis"

    def agreement(self, visit: RankVisit) -> dict[str, object]:
        return {
            "the source": _told(self.source, visit, visit.inputs["src"]),
            "the target": _told(self.target, visit, visit.outputs["dst"]),
            "the operation": self.wcr,
        }

    def meaning_of_all(self, visits: Sequence[RankVisit]) -> RankMessages:
        given = [visit.inputs["src"] for visit in visits]
        taken = [visit.outputs["dst"] for visit in visits]
        arrived = _move(self, self.source, self.target, visits, given, taken, self.wcr)
        return RankMessages(sum(map(len, arrived)), sum(sum(from_.values()) for from_ in arrived))


@dataclass(eq=False)
class Exchange(Collective):
    """Halos of arrays, from the ranks that own their elements; ``x0`` and ``out0`` are each rank's part of the first.

    Section k says of ``xk``, in the same memory as ``outk``, how it is distributed and how wide its halo is. An operand
    may leave out what an array has room for along some dimensions, as its section does: then elements that are beyond
    along another one arrive for these rows only (a face without corners). What one rank sends to another is one
    message, of all sections. All of it is the same at each call with the same sizes, so the requests may persist.
    """

    kind = "comm.exchange"
    roles: ClassVar[Roles] = {**Collective.roles, "sections": Role.BOUND}
    sections: tuple[Section, ...]

    def problems(self) -> Iterator[str]:
        """Other connectors, or an array without a distribution."""
        names = [str(number) for number in range(len(self.sections))]
        if set(self.inputs) != {f"x{n}" for n in names} or set(self.outputs) != {f"out{n}" for n in names}:
            yield "has the connectors (x0, x1, ...) -> (out0, out1, ...), one of each per section"
        for section in self.sections:
            yield from _section_problems("section", section)
            if section.distribution is None:
                yield "exchanges what is not distributed"
            elif any(isinstance(part, Partial) for part in section.distribution.rest):
                yield "exchanges what is still to be combined"

    def agreement(self, visit: RankVisit) -> dict[str, object]:
        return {
            f"array {number}": _told(section, visit, visit.inputs[f"x{number}"])
            for number, section in enumerate(self.sections)
        }

    def meaning_of_all(self, visits: Sequence[RankVisit]) -> RankMessages:
        pairs, size = set[tuple[int, int]](), 0
        for number, section in enumerate(self.sections):
            given = [visit.inputs[f"x{number}"] for visit in visits]
            taken = [visit.outputs[f"out{number}"] for visit in visits]
            arrived = _move(self, section, section, visits, given, taken, "")
            pairs |= {(visit.rank, sender) for visit, from_ in zip(visits, arrived, strict=True) for sender in from_}
            size += sum(sum(from_.values()) for from_ in arrived)
        return RankMessages(len(pairs), size)


@dataclass(eq=False)
class BeginExchange(Exchange):
    """Starts what an exchange does. Until its end, what is sent must not change, and halos have no values.

    Virtual ranks move elements at the end: before, halos have what they had.
    """

    kind = "comm.begin_exchange"

    def meaning_of_all(self, visits: Sequence[RankVisit]) -> RankMessages:
        apart = [replace(visit, outputs={name: x.copy() for name, x in visit.outputs.items()}) for visit in visits]
        return super().meaning_of_all(apart)


@dataclass(eq=False)
class EndExchange(Exchange):
    """Waits until all has arrived that the `BeginExchange` of the same sections has started."""

    kind = "comm.end_exchange"

    def meaning_of_all(self, visits: Sequence[RankVisit]) -> RankMessages:
        super().meaning_of_all(visits)
        return RankMessages(0, 0)


def _section_problems(what: str, section: Section) -> Iterator[str]:
    count = len(section.shape)
    if len(section.subset.dims) != count:
        yield f"its {what} has {count} dimensions, and a subset of {len(section.subset.dims)}"
    if section.distribution is not None and len(section.distribution.axes) != count:
        yield f"its {what} has {count} dimensions, and a distribution of {len(section.distribution.axes)}"
    if section.grid is not None and section.distribution is None:
        yield f"its {what} has a grid, and no distribution"


def _told(section: Section, visit: RankVisit, values: NDArray) -> str:
    """Return the description that all ranks must share, with numbers for symbols. A rank's own place is not in it."""
    names = {name: visit.symbols[name] for name in section.symbols if name in visit.symbols}
    return f"{values.dtype} {section.subs(names)}"


def _move(
    node: Collective,
    source: Section,
    target: Section,
    visits: Sequence[RankVisit],
    given: Sequence[NDArray],
    taken: Sequence[NDArray],
    wcr: str,
) -> list[Arrived]:
    """Move a section of one global array to a section of another; return what each rank got of others."""
    givers, takers = ([_on_grid_of(section, visit) for visit in visits] for section in (source, target))
    first = givers[0]
    shape = shape_of(source.shape, first.symbols)
    assembly = Assembly(shape, source.distribution, first.grids)
    for visit, values in zip(givers, given, strict=True):
        assembly.add(visit.rank, values, visit.symbols)
    index = index_of(source.subset, shape, first.symbols)
    assert assembly.values is not None  # there is at least one rank
    values, owners = assembly.values[index], assembly.owners[index]
    if np.any(owners < 0):
        raise CommunicationError(f"no rank has all elements of {source}", span=node.span)
    arrived = []
    for giver, taker, out in zip(givers, takers, taken, strict=True):
        from_ = _deliver(node, source, target, giver, taker, values, owners, out, wcr, shape)
        arrived.append(_parts_for(giver, taker, assembly, source, target, shape) if assembly.sums else from_)
    return arrived


def _on_grid_of(section: Section, visit: RankVisit) -> RankVisit:
    """A rank as a section sees it that has a grid of its own: its coordinates follow from its number."""
    if section.grid is None or section.distribution is None:
        return visit
    name, sizes = section.distribution.grid, [size.evaluate(visit.symbols) for size in section.grid.sizes]
    at = zip(coordinate_names(name, len(sizes)), coordinates(visit.rank, sizes), strict=True)
    return replace(visit, grids={**visit.grids, name: section.grid}, symbols={**visit.symbols, **dict(at)})


def _parts_for(
    giver: RankVisit, visit: RankVisit, assembly: Assembly, source: Section, target: Section, shape: tuple[int, ...]
) -> Arrived:
    """Return the values that a rank combines: of ranks with the same part, one sends; none to itself."""
    whole = shape_of(target.shape, visit.symbols)
    part = part_of(target.distribution, whole, visit.grids, visit.symbols)
    if not part.here:
        return {}
    assert assembly.values is not None  # there is a rank
    _, picked, sizes = _places(part, target, visit)
    mine = assembly.place_of(giver.symbols) if on_grid(source.distribution, giver.grids, giver.symbols) else None
    arrived: Arrived = {}
    for number, (place, index) in enumerate(assembly.parts.items()):
        has = np.zeros(shape, bool)
        has[index] = True
        needed = has[index_of(source.subset, shape, visit.symbols)].reshape(sizes)[picked]
        if place != mine and np.any(needed):
            arrived[number] = int(np.count_nonzero(needed)) * assembly.values.itemsize
    return arrived


def _deliver(
    node: Collective,
    source: Section,
    target: Section,
    giver: RankVisit,
    visit: RankVisit,
    values: NDArray,
    owners: NDArray,
    out: NDArray,
    wcr: str,
    shape: tuple[int, ...],
) -> Arrived:
    whole = shape_of(target.shape, visit.symbols)
    part = part_of(target.distribution, whole, visit.grids, visit.symbols)
    if out.shape != part.shape:
        raise CommunicationError(
            f"the part of rank {visit.rank} has the shape {out.shape}; its distribution says {part.shape}",
            span=node.span,
        )
    index_of(target.subset, whole, visit.symbols)  # it is within the array
    if not part.here:
        return {}
    local, picked, sizes = _places(part, target, visit)
    moved = values.reshape(sizes)[picked]
    out[local] = combine(wcr, out[local], moved) if wcr else moved
    needed = owners.reshape(sizes)[picked]
    mine = part_of(source.distribution, shape, giver.grids, giver.symbols)
    owned = np.zeros(shape, bool)
    if mine.here and (source.distribution is None or on_grid(source.distribution, giver.grids, giver.symbols)):
        owned[np.ix_(*(each.whole for each in mine.own))] = True
    own = owned[index_of(source.subset, shape, visit.symbols)].reshape(sizes)[picked]
    senders, counts = np.unique(needed[~own & (needed != visit.rank)], return_counts=True)
    return {int(sender): int(count) * out.itemsize for sender, count in zip(senders, counts, strict=True)}


def _places(
    part: LocalPart, target: Section, visit: RankVisit
) -> tuple[tuple[NDArray, ...], tuple[NDArray, ...], list[int]]:
    """Return the section's local positions in a rank's memory, their positions in the section, and its size."""
    local, picked, sizes = [], [], []
    for room, dim in zip(part.room, target.subset.dims, strict=True):
        wanted = range_of(dim, visit.symbols) if isinstance(dim, Range) else (dim.evaluate(visit.symbols),)
        sizes.append(len(wanted))
        numbers = {element: number for number, element in enumerate(wanted)}
        there = [place for place, element in enumerate(room.whole.tolist()) if element in numbers]
        local.append(room.local[there].astype(int))
        picked.append(np.array([numbers[element] for element in room.whole[there].tolist()], int))
    if not sizes:
        return (), (), []
    return np.ix_(*local), np.ix_(*picked), sizes
