"""One memory access as a value: container, subset, mode, certainty, iteration space, and its place in the order.

`access_relations` has the accesses of a program; their union, seen from outside, is in
`memlet_propagation`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum

from dcpy.ir.analysis.polyhedral.footprints import Footprint, Variable
from dcpy.ir.memlet import Memlet
from dcpy.ir.region import Region
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import ExprLike
from dcpy.ir.tree import Element


class Mode(Enum):
    """Kind of an access. A push or pop changes a queue; to combine (`Memlet.wcr`) reads the old value, too."""

    READ = "reads"
    WRITE = "writes"
    COMBINE = "combines into"
    PUSH = "pushes to"
    POP = "pops from"

    __hash__ = object.__hash__


@dataclass(frozen=True, slots=True)
class EnclosingRegion:
    """A region around an access with its axes. Unless it `always` runs, its run may skip the access."""

    region: Region
    variables: tuple[Variable, ...] = ()
    always: bool = True
    repeats: bool = False  #: it runs as often as it turns out: iterations that no variable counts


@dataclass(frozen=True, slots=True, eq=False)
class MemoryAccess:
    """Access of one element, `place`, to the elements that one memlet names.

    `memlet` is as written there. `subset` is the same part of `root`, the container whose elements they are; None where
    that part is not known. `memory` is equal for containers that may overlap. `scopes` are the regions around it inside
    of what one asked about, outermost first; `position` counts in program order. One that is not `certain` may not
    happen, or touch less.
    """

    memlet: Memlet
    root: str
    memory: str
    subset: Subset | None
    mode: Mode
    place: Element
    scopes: tuple[EnclosingRegion, ...]
    position: int
    certain: bool = True
    varying_symbols: tuple[str, ...] = ()  #: symbols assigned inside, which have another value in each iteration

    @property
    def container(self) -> str:
        """The name by which it goes there."""
        return self.memlet.container

    @property
    def wcr(self) -> str:
        """Operation that combines the values, if there is one."""
        return self.memlet.wcr

    @property
    def of_queue(self) -> bool:
        """Return whether it takes its turn: `subset` names queues then, whose elements come in the order of the
        program.
        """
        return self.mode is Mode.PUSH or self.mode is Mode.POP

    @property
    def is_write(self) -> bool:
        """Return whether it changes something."""
        return self.mode is not Mode.READ

    def footprint(self, common: int = 0) -> Footprint | None:
        """Return the footprint while all but the `common` outermost scopes run through; None where it is not known."""
        if self.subset is None:
            return None
        over = tuple(variable for scope in self.scopes[common:] for variable in scope.variables)
        mentioned = {*self.subset.symbols, *(name for _, dim in over if dim is not None for name in dim.symbols)}
        unknown: tuple[Variable, ...] = tuple((name, None) for name in self.varying_symbols if name in mentioned)
        return Footprint(self.subset, (*unknown, *over))

    def shared_scopes(self, other: MemoryAccess) -> int:
        """Return the number of scopes, from the outside, that both are in."""
        count = 0
        for mine, its in zip(self.scopes, other.scopes, strict=False):
            if mine.region is not its.region:
                break
            count += 1
        return count

    def is_sure(self, common: int = 0) -> bool:
        """Return whether it happens each time that the part inside the `common` outermost scopes runs."""
        return self.certain and all(scope.always for scope in self.scopes[common:])

    def subs(self, values: Mapping[str, ExprLike]) -> MemoryAccess:
        """The same access with free symbols replaced, for instance the parameters of the map around it."""
        scopes = tuple(
            replace(
                scope, variables=tuple((n, None if dim is None else dim.subs(values)) for n, dim in scope.variables)
            )
            for scope in self.scopes
        )
        return replace(self, subset=None if self.subset is None else self.subset.subs(values), scopes=scopes)

    def __str__(self) -> str:
        verb = (Mode.WRITE if self.mode is Mode.COMBINE else self.mode).value
        return f"{verb} {self.root}[{self.subset}]" if self.subset and self.subset.dims else f"{verb} {self.root}"
