"""Brings every part of an SDFG to the rules, outermost first, with what is visible there.

A symbol is bound after a block where every way through the block assigns it; a parameter is bound inside its scope.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from dcpy.ir.analysis.dataflow.def_use import CalleeAccesses, desc_symbols
from dcpy.ir.analysis.dataflow.name_resolution import symbols_assigned_in
from dcpy.ir.analysis.dataflow.value_ranges import KnownRanges
from dcpy.ir.expressions.scalar import ScalarExpr, symbols_of
from dcpy.ir.field_roles import Role
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Call, ForeignCall, Map, Node, Tasklet
from dcpy.ir.region import (
    Block,
    Branch,
    Check,
    Loop,
    Owner,
    Region,
    Resize,
    State,
    SymbolAssign,
    While,
)
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.tree import jumps, may_complete
from dcpy.ir.verify.subjects import Declaration, ExprUse, MemletUse, Scope, SymbolUse

Subjects = Iterator[tuple[Any, Scope]]


def walk(sdfg: Sdfg) -> Subjects:
    """All subjects of rules with the scope around each (one object, current until the next step)."""
    return _SdfgVerifier(sdfg).program()


class _SdfgVerifier:
    def __init__(self, sdfg: Sdfg) -> None:
        self.sdfg = sdfg
        self.scope = Scope(sdfg, KnownRanges(sdfg), bound=set(sdfg.symbols))
        self.callees = CalleeAccesses()

    def program(self) -> Subjects:
        yield from self.at(self.sdfg)
        yield from self.region(self.sdfg.body)

    def at(self, place: Sdfg | Region | Block | Node) -> Subjects:
        self.scope.place = place
        yield place, self.scope

    def uses(self, names: Iterable[str], where: str) -> Subjects:
        for name in names:
            yield SymbolUse(name, where), self.scope

    # -- regions -----------------------------------------------------------------------------------------------

    def region(self, region: Region) -> Subjects:
        yield from self.at(region)
        scope, outer = self.scope, self.scope.containers
        scope.containers = {**outer, **region.containers} if region.containers else outer
        assigned = set(symbols_assigned_in(region)) if region.containers else set()
        for name, desc in region.containers.items():
            yield Declaration(name, desc, region), scope
            unbound = (symbol for symbol in desc_symbols(desc) if symbol not in assigned)
            yield from self.uses(unbound, f"the declaration of {name!r}")
        guarded = scope.guarded
        for block in region.blocks:
            yield from self.block(block)
            scope.guarded = scope.guarded or isinstance(block, Check) or any(jumps(block))
        scope.guarded, scope.containers = guarded, outer

    @contextmanager
    def inside(self, owner: Owner, *params: str, guarded: bool = False) -> Iterator[None]:
        """Within: the scope of an owner's body. What is bound there is not bound afterwards."""
        bound, before = self.scope.bound, self.scope.guarded
        self.scope.bound = {*bound, *params}
        self.scope.guarded = before or guarded
        self.scope.owners.append(owner)
        yield
        self.scope.owners.pop()
        self.scope.bound, self.scope.guarded = bound, before

    # -- blocks ------------------------------------------------------------------------------------------------

    def block(self, block: Block) -> Subjects:
        yield from self.at(block)
        match block:
            case State(nodes=nodes):
                for node in nodes:
                    yield from self.node(node)
            case Loop(param=param, range=values, body=body):
                yield from self.uses(values.symbols, "the range of a loop")
                with self.inside(block, param, guarded=any(jumps(body))):
                    yield from self.region(body)
            case While(condition=condition, body=body):
                yield from self.expr(condition, "the condition of a loop", block)
                with self.inside(block, guarded=True):
                    yield from self.region(body)
            case Branch():
                yield from self.branch(block)
            case SymbolAssign(symbol=symbol, value=value):
                yield from self.expr(value, f"the value of {symbol!r}", block)
                if isinstance(block, Resize):
                    yield from self.uses(block.kept.symbols, "what a resize keeps")
                self.scope.bound.add(symbol)
            case Check(condition=condition, values=values):
                yield from self.expr(condition, "the condition of a check", block)
                for value in values:
                    yield from self.expr(value, "a value of a check", block)
            case _:
                yield from self.by_roles(block)

    def by_roles(self, block: Block) -> Subjects:
        """A kind of block of which nothing is known but what it declares."""
        for expr in block.exprs():
            yield from self.expr(expr, f"an expression of a {block.kind}", block)
        for bound in block.all_of(Role.BOUND):
            yield from self.uses(bound.symbols, f"a bound of a {block.kind}")
        for region in block.regions():
            with self.inside(block, *region.params, guarded=True):
                yield from self.region(region)

    def branch(self, block: Branch) -> Subjects:
        ends = [] if block.otherwise is not None else [set(self.scope.bound)]
        for condition, _ in block.cases:
            self.scope.place = block
            yield from self.expr(condition, "the condition of a branch", block)
        for region in block.regions():
            with self.inside(block, guarded=True):
                yield from self.region(region)
                if may_complete(region):
                    ends.append(self.scope.bound)
        if ends:
            self.scope.bound = set.intersection(*ends)

    # -- nodes -------------------------------------------------------------------------------------------------

    def node(self, node: Node) -> Subjects:
        yield from self.at(node)
        for operand in node.operands():
            memlet = operand.memlet
            written = operand.role is Role.WRITTEN or any(
                operand.connector in self.callees.written_by(callee) for callee in node.callees()
            )
            desc = self.scope.desc(memlet.container)
            yield MemletUse(node, operand.name, memlet, written, desc), self.scope
            yield from self.uses(memlet.subset.symbols, f"a subset of {memlet.container!r}")
            if desc is not None:
                yield from self.uses(desc_symbols(desc), f"the size of {memlet.container!r}")
        yield from self.inner(node)

    def inner(self, node: Node) -> Subjects:
        """Yield the parts of a node besides its memlets: a body, code, values of symbols."""
        match node:
            case Map():
                yield from self.map(node)
            case Call(symbols=symbols):
                for name, value in symbols.items():
                    yield from self.uses(value.symbols, f"the value of the callee's {name!r}")
            case Tasklet():
                yield from self.code(node)
            case ForeignCall(args=args):
                refs = self.dtypes_of(node.inputs)
                for arg in args:
                    if not isinstance(arg, str):
                        yield from self.expr(arg, f"an argument of {node.function}", node, refs)
            case _:
                for bound in node.all_of(Role.BOUND):
                    yield from self.uses(bound.symbols, f"a property of a {node.kind}")

    def map(self, node: Map) -> Subjects:
        with self.inside(node):
            for name, values in zip(node.params, node.domain, strict=False):
                yield from self.uses(values.symbols, f"the range of {name!r}")
                self.scope.bound.add(name)
            self.scope.bound.update(node.params)
            if node.home is not None:
                yield from self.uses(node.home.symbols, "the home of a map")
            yield from self.region(node.body)

    def code(self, node: Tasklet) -> Subjects:
        refs = self.dtypes_of(node.inputs)
        for name, expr in node.code:
            yield from self.expr(expr, f"the value of {name!r}", node, dict(refs))
            refs[name] = expr.dtype

    def dtypes_of(self, inputs: dict[str, Memlet]) -> dict[str, object]:
        descs = {name: self.scope.desc(memlet.container) for name, memlet in inputs.items()}
        return {name: desc.dtype for name, desc in descs.items() if desc is not None}

    def expr(
        self, expr: ScalarExpr, where: str, place: Node | Block, refs: dict[str, object] | None = None
    ) -> Subjects:
        yield ExprUse(expr, where, place, refs), self.scope
        yield from self.uses(symbols_of(expr), where)
