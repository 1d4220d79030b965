"""Other names and values for symbols and containers, in one element or in a whole region.

Works in place on nodes and blocks; only the `Rewriter`, and builders of regions that are not yet in an SDFG, call it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from dcpy.base.errors import SymbolicError
from dcpy.ir.data import Data, View
from dcpy.ir.expressions.scalar import Load, ScalarExpr, rewrite, substitute_symbols
from dcpy.ir.field_roles import MEMLETS, Changes, Role
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Node
from dcpy.ir.region import Block, Region
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import Expr, ExprLike, as_expr, sym
from dcpy.ir.tree import bodies_of, subtree


@dataclass(frozen=True)
class Substitution:
    """Values for symbols and new names for containers, applied all at once."""

    symbols: Mapping[str, ExprLike] = field(default_factory=dict)
    containers: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def changes(self) -> Changes:
        """Changes of an element's fields, by role; code and bounds mention symbols alone."""
        found: dict[Role, Callable[[Any], Any]] = dict.fromkeys(MEMLETS, self.memlet)
        found |= {Role.SCALAR: self.scalar, **dict.fromkeys((Role.WHOLE, Role.DECLARED), self.container)}
        if self.symbols:
            found |= {Role.CODE: self.scalar, Role.BOUND: self.bound, Role.DEFINED: self.definition}
        return found

    def bound(self, value: Expr | Range) -> Expr | Range:
        return value.subs(self.symbols)

    def scalar(self, value: ScalarExpr) -> ScalarExpr:
        def rename(part: ScalarExpr) -> ScalarExpr | None:
            return replace(part, container=self.container(part.container)) if isinstance(part, Load) else None

        renamed = rewrite(value, rename) if self.containers else value
        return substitute_symbols(renamed, self.symbols) if self.symbols else renamed

    def memlet(self, memlet: Memlet) -> Memlet:
        name = self.container(memlet.container)
        renamed = memlet if name == memlet.container else replace(memlet, container=name)
        return renamed.subs(self.symbols) if self.symbols else renamed

    def container(self, name: str) -> str:
        """The new name of a container."""
        return self.containers.get(name, name)

    def definition(self, name: str) -> str:
        """The new name of a symbol at the place that defines it; it must be a name, not a value."""
        if name not in self.symbols:
            return name
        renamed = as_expr(self.symbols[name]).name
        if renamed is None:
            raise SymbolicError(f"{name!r} is defined here and cannot become {self.symbols[name]}")
        return renamed

    def desc(self, desc: Data) -> Data:
        """The descriptor with symbols replaced; a view, of the renamed base."""
        changed = desc.subs(self.symbols) if self.symbols else desc
        return replace(changed, of=self.container(changed.of)) if isinstance(changed, View) else changed


def renaming(symbols: Mapping[str, str], containers: Mapping[str, str]) -> Substitution:
    """A substitution of names only."""
    return Substitution({old: sym(new) for old, new in symbols.items()}, containers)


def substitute_in_element(element: Node | Block, values: Substitution) -> None:
    """Replace names in what is written on one node or block itself; bodies stay as they are."""
    element.rewrite(values.changes)


def substitute_in_region(region: Region, values: Substitution) -> None:
    """Replace names in all that a region declares and holds, nested regions included."""
    _substitute_in_declarations(region, values)
    for block in region.blocks:
        substitute_inside(block, values)


def substitute_inside(element: Node | Block, values: Substitution) -> None:
    """Replace names in what is written on an element, and in all that its bodies declare and hold."""
    for inner in subtree(element):
        substitute_in_element(inner, values)
        for region in bodies_of(inner):
            _substitute_in_declarations(region, values)


def _substitute_in_declarations(region: Region, values: Substitution) -> None:
    region.containers = {values.container(n): values.desc(d) for n, d in region.containers.items()}
