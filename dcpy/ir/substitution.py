"""Other names and values for symbols and containers, in one element or in a whole region.

Works in place on nodes and blocks; only the `Rewriter`, and builders of regions that are not yet in an SDFG, call it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from dcpy.base.errors import SymbolicError
from dcpy.ir.data import Descriptor, View
from dcpy.ir.expr import Load, ScalarExpr, rewrite, substitute_symbols
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Call, Consume, ForeignCall, Map, Node, Tasklet, replace_memlets
from dcpy.ir.region import Block, Branch, Check, Loop, Region, Resize, SymbolAssign, While
from dcpy.ir.symbolic import Expr, ExprLike, as_expr, sym


@dataclass(frozen=True)
class Substitution:
    """Values for symbols and new names for containers, applied all at once."""

    symbols: Mapping[str, ExprLike] = field(default_factory=dict)
    containers: Mapping[str, str] = field(default_factory=dict)

    def expr(self, value: Expr) -> Expr:
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
        """The new name of a container, or of a field of a renamed structure."""
        if name in self.containers:
            return self.containers[name]
        top, dot, member = name.partition(".")
        return self.containers.get(top, top) + dot + member

    def definition(self, name: str) -> str:
        """The new name of a symbol at the place that defines it; it must be a name, not a value."""
        if name not in self.symbols:
            return name
        renamed = as_expr(self.symbols[name]).name
        if renamed is None:
            raise SymbolicError(f"{name!r} is defined here and cannot become {self.symbols[name]}")
        return renamed

    def desc(self, desc: Descriptor) -> Descriptor:
        """The descriptor with symbols replaced; a view, of the renamed base."""
        changed = desc.subs(self.symbols) if self.symbols else desc
        return replace(changed, of=self.container(changed.of)) if isinstance(changed, View) else changed


def renaming(symbols: Mapping[str, str], containers: Mapping[str, str]) -> Substitution:
    """A substitution of names only."""
    return Substitution({old: sym(new) for old, new in symbols.items()}, containers)


def substitute_in_element(element: Node | Block, values: Substitution) -> None:
    """Replaces names in what is written on one node or block itself; bodies stay as they are."""
    match element:
        case Node():
            _substitute_in_node(element, values)
        case Block():
            _substitute_in_block(element, values)


def substitute_in_region(region: Region, values: Substitution) -> None:
    """Replaces names in all that a region declares and holds, nested regions included."""
    for inner in list(region.walk_regions()):
        inner.containers = {values.container(n): values.desc(d) for n, d in inner.containers.items()}
    for block in region.walk_blocks():
        substitute_in_element(block, values)
    for node in region.walk_nodes():
        substitute_in_element(node, values)


def _substitute_in_node(node: Node, values: Substitution) -> None:
    replace_memlets(node, values.memlet)
    match node:
        case Tasklet():
            if values.symbols:
                node.code = tuple((name, values.scalar(expr)) for name, expr in node.code)
        case ForeignCall():
            node.args = tuple(arg if isinstance(arg, str) else values.scalar(arg) for arg in node.args)
        case Map():
            node.params = tuple(map(values.definition, node.params))
            node.domain = tuple(dim.subs(values.symbols) for dim in node.domain)
        case Consume():
            node.stream, node.element = values.container(node.stream), values.container(node.element)
            node.worker, node.workers = values.definition(node.worker), values.expr(node.workers)
        case Call():
            node.symbols = {name: values.expr(value) for name, value in node.symbols.items()}


def _substitute_in_block(block: Block, values: Substitution) -> None:
    match block:
        case Loop():
            block.param, block.range = values.definition(block.param), block.range.subs(values.symbols)
        case While():
            block.condition = values.scalar(block.condition)
        case Branch():
            block.cases = [(values.scalar(condition), body) for condition, body in block.cases]
        case SymbolAssign():
            block.symbol, block.value = values.definition(block.symbol), values.scalar(block.value)
            if isinstance(block, Resize):
                block.container, block.kept = values.container(block.container), values.expr(block.kept)
        case Check():
            block.condition = values.scalar(block.condition)
            block.values = tuple(map(values.scalar, block.values))


def rewrite_exprs(element: Node | Block, change: Callable[[ScalarExpr], ScalarExpr]) -> None:
    """Replaces each scalar expression written on one element by `change` of it."""
    match element:
        case Tasklet():
            element.code = tuple((name, change(expr)) for name, expr in element.code)
        case ForeignCall():
            element.args = tuple(arg if isinstance(arg, str) else change(arg) for arg in element.args)
        case While():
            element.condition = change(element.condition)
        case Branch():
            element.cases = [(change(condition), body) for condition, body in element.cases]
        case SymbolAssign():
            element.value = change(element.value)
        case Check():
            element.condition = change(element.condition)
            element.values = tuple(map(change, element.values))
