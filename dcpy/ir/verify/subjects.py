"""Subjects of rules: what rules look at, and what is visible around it.

Besides blocks, nodes, regions and the SDFG itself, four things are subjects of rules: a container's declaration, a use
of a memlet, a use of a symbol, and a scalar expression.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.value_ranges import KnownRanges
from dcpy.ir.data import Data
from dcpy.ir.expressions.scalar import ScalarExpr
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Node
from dcpy.ir.region import Block, Owner, Region
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.symbolic import Ranges


@dataclass(frozen=True, slots=True)
class Declaration:
    """A container declared in a region."""

    name: str
    desc: Data
    region: Region


@dataclass(frozen=True, slots=True)
class MemletUse:
    """A memlet on a node. `desc` is None where the container is not visible or has no elements to name."""

    node: Node
    connector: str
    memlet: Memlet
    is_write: bool
    desc: Data | None


@dataclass(frozen=True, slots=True)
class SymbolUse:
    """A symbol that something mentions."""

    name: str
    where: str  # words: "a subset of 'A'"


@dataclass(frozen=True, slots=True)
class ExprUse:
    """A scalar expression. `refs` are the dtypes of the connectors it may use, None outside of nodes."""

    expr: ScalarExpr
    where: str  # words: "the condition of a loop"
    place: Node | Block
    refs: Mapping[str, object] | None = None


@dataclass(slots=True)
class Scope:
    """Names and facts visible at one place of an SDFG; the walk keeps them current."""

    sdfg: Sdfg
    known: KnownRanges
    containers: dict[str, Data] = field(default_factory=dict)
    bound: set[str] = field(default_factory=set)  # symbols that have a value here
    owners: list[Owner] = field(default_factory=list)  # outermost first
    guarded: bool = False  # whether it depends on a condition that this place is reached
    place: Sdfg | Region | Block | Node | None = None
    handles: dict[Sdfg, dict[str, None]] = field(default_factory=dict)  # of this SDFG and what it calls, once asked for
    found_uses: Uses | None = None

    def desc(self, name: str) -> Data | None:
        """The descriptor of a container; None where none is visible."""
        return self.containers.get(name)

    @property
    def ranges(self) -> Ranges:
        """Known ranges of symbols here."""
        return self.known.at(self.place if self.place is not None else self.sdfg)

    @property
    def uses(self) -> Uses:
        """Use in the whole SDFG, which rules do not change: computed once, when a rule asks."""
        if self.found_uses is None:
            self.found_uses = Uses(self.sdfg)
        return self.found_uses
