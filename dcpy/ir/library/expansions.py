"""Expansions: ways to turn one kind of library node into nodes that a code generator knows.

Libraries declare expansions (`dcpy.libraries.api`), the pass in `transforms.expand` chooses among them; neither sees
the other, both see the two registries here. They are filled by `dcpy.plugins`: names are ``blas.gemm/openblas``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from dcpy.base.errors import ExpansionError
from dcpy.base.library_environment import Environment
from dcpy.base.registry import Registry
from dcpy.ir.data import Data
from dcpy.ir.machine_model import COSTS, Costs
from dcpy.ir.region import Block
from dcpy.ir.types import DType


@dataclass(frozen=True, slots=True)
class TargetExpansions:
    """The expansions that a target takes, best first: `names`; those that are not named come last.

    `host` is the target that its host is: it does what that one can do, and its order holds where there is no other.
    `by_hand` are those to try where a user asks for one that is for this target alone, behind it; nobody can where
    there are none.
    """

    names: tuple[str, ...] = ()
    host: str = ""
    by_hand: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Replacement:
    """Replacement of a library node: blocks in order, and the containers to declare in the node's region.

    `names` are all those that it gives to containers, parameters and symbols; nothing in the SDFG has them yet.
    `symbols` are those that its blocks assign. The blocks may hold library nodes again, which are expanded in turn.
    """

    blocks: tuple[Block, ...]
    containers: dict[str, Data] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()


class Build(Protocol):
    """Makes what stands for a library node."""

    def __call__(self, node: Any, costs: Costs = COSTS, /) -> Replacement: ...


def _never_slow(node: object) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Expansion:
    """One way to compute a kind of library node.

    `build` makes the replacement, or raises `ExpansionError` with the reason where this node does not fit. It changes
    nothing; costs are those of the target, for sizes of tiles. `dtypes` are those that every operand must have one of,
    the same one for all; empty takes any. `targets` are those that it is for; empty stands for all. `fuses` says that
    it may be maps which become one with those beside the node: worth building it to see. `why_slow` is why it would be
    slow for a node, "" where it would not: such an expansion is only taken by name.
    """

    kind: str
    name: str
    build: Build
    environment: str = ""
    dtypes: tuple[DType, ...] = ()
    targets: tuple[str, ...] = ()
    fuses: bool = True
    why_slow: Callable[[Any], str] = _never_slow

    def refusal(self, target: str) -> str:
        """Return why no node can use this expansion on `target` on this machine; "" where some can."""
        if self.targets and target not in self.targets and expansions_for(target).host not in self.targets:
            return f"is for {', '.join(self.targets)}"
        return ENVIRONMENTS[self.environment].missing() if self.environment else ""


@dataclass(frozen=True, slots=True)
class ForeignLibrary:
    """A foreign library that may or may not be installed.

    `find` says what a call of it needs, or raises `ExpansionError` with what is missing and how to install it. It is
    called when the library is first wanted, never at import.
    """

    name: str
    find: Callable[[], Environment]

    def missing(self) -> str:
        """Return why the library cannot be used here; "" where it can."""
        try:
            self.find()
        except ExpansionError as problem:
            return problem.message + (f" ({problem.help})" if problem.help else "")
        return ""


#: ``kind/name`` -> `Expansion`
EXPANSIONS: Registry[Expansion] = Registry("expansion")
#: the name that a `ForeignCall` carries -> `ForeignLibrary`
ENVIRONMENTS: Registry[ForeignLibrary] = Registry("environment")

#: the name of a target -> `TargetExpansions`
TARGET_EXPANSIONS: Registry[TargetExpansions] = Registry("target")


def expansions_for(target: str) -> TargetExpansions:
    """Return the expansions of a target; no preference where none is registered."""
    if target not in TARGET_EXPANSIONS:
        return TargetExpansions()
    return TARGET_EXPANSIONS[target]


def preference(target: str) -> tuple[str, ...]:
    """The names of the expansions that a target, or its host, tries first, best first."""
    own = expansions_for(target)
    return own.names or expansions_for(own.host).names


def expansions_of(kind: str) -> Iterator[Expansion]:
    """The expansions of a kind of library node, in the order of the catalog."""
    for name in EXPANSIONS:
        if name.rpartition("/")[0] == kind:
            yield EXPANSIONS[name]


def environment_of(name: str) -> Environment:
    """Return the environment of a `ForeignCall`; `UnknownName`, or `ExpansionError` where it is missing."""
    return ENVIRONMENTS[name].find()
