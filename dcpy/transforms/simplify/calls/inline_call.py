"""InlineCall: the body of a function takes the place of its call."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.base.source import CALLS_KEPT, SrcSpan, call_chain
from dcpy.ir.data import Data, Scalar, View
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.editing.substitution import Substitution, substitute_in_region
from dcpy.ir.editing.view_rebasing import rebase_views
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Call, Copy, Node
from dcpy.ir.region import Region, State
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import ExprLike, sym
from dcpy.transforms.api import LEGAL, Legal, Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.simplify.calls.argument_layouts import layout_problems
from dcpy.transforms.simplify.calls.return_removal import drop_returns, why_returns_stay


@dataclass(frozen=True)
class InlineCall(Transformation[Legal]):
    """Replace a call by a copy of the callee's blocks, over the caller's containers.

    before   call @double (x = A[0:N], y = B[i, 0:N])       after   view y: f64[N] of B[i, 0:N]
             @double { y = x + x }                                  y = A + A

    A whole container takes the place of the argument that it is passed for, a part of one becomes a view, a scalar is
    copied, as calls by value do. Names get numbers where they are taken. Returns must be such that the rest of the
    function fits into the way that does not return. Calls that are outlined stay.
    """

    name: ClassVar[str] = "inline-call"
    call = capture(Call)
    pattern = one(call)

    def plan(self, m: Match) -> Legal | Refusal:
        call = m[self.call]
        if call.outlined:
            return Refusal(f"{call.sdfg.name} is to stay a function of its own")
        if stay := why_returns_stay(call.sdfg.body):
            return Refusal(f"{call.sdfg.name} cannot take the place of its call: {stay.reason}", stay.elements)
        if any(memlet.wcr for memlet in call.arguments.values()):
            return Refusal("an argument combines values instead of replacing them")
        unbound = [name for name in call.sdfg.symbols if name not in call.symbols]
        if unbound:
            return Refusal(f"the call gives no value for the symbol {unbound[0]!r} of {call.sdfg.name}")
        missing = [name for name, desc in call.sdfg.containers.items() if _is_unbound(name, desc, call)]
        if missing:
            return Refusal(f"the call passes nothing for {missing[0]!r}")
        if problem := next(layout_problems(call, m.sdfg, m.region), ""):
            return Refusal(f"{problem} in {call.sdfg.name} needs another memory layout than what is passed has")
        return LEGAL

    def apply(self, m: Match, plan: Legal, rw: Rewriter) -> None:
        call = m[self.call]
        home = m.region
        callee = copy_sdfg(call.sdfg)
        drop_returns(callee.body)
        loads: list[Node] = []
        names = {name: _bind(name, call, home, rw, loads) for name in call.arguments}
        values = Substitution(_symbol_values(callee, call, rw), _container_names(callee, names, rw))
        for name in call.arguments:
            del callee.body.containers[name]
        substitute_in_region(callee.body, values)
        rebase_views(callee.body, lambda name: rw.sdfg.desc(name, home))
        constants = {values.container(name): constant for name, constant in callee.constants.items()}
        for name, desc in callee.body.containers.items():
            if not rw.uses.declared(name):
                rw.declare(name, desc, rw.sdfg.body if name in constants else home)
        rw.sdfg.constants.update(constants)
        _put_in_place(call, loads, callee.body, rw)


def _is_unbound(name: str, desc: Data, call: Call) -> bool:
    return not desc.transient and name not in call.arguments and name not in call.sdfg.constants


def _bind(name: str, call: Call, home: Region, rw: Rewriter, loads: list[Node]) -> str:
    """The caller's container that stands for an argument; made, and filled by `loads`, where there is none yet."""
    formal, memlet = call.sdfg.desc(name), call.arguments[name]
    container = memlet.container
    actual = rw.sdfg.desc(container, home)
    if isinstance(formal, Scalar):
        if isinstance(actual, Scalar) and not actual.transient:
            return container
        local = rw.declare_fresh(name, Scalar(formal.dtype, transient=True), home)
        loads.append(Copy(memlet, Memlet(local, Subset()), span=call.span))
        return local
    if memlet.subset == Subset.whole(actual.shape):
        return container
    view = View.slice(container, actual, memlet.subset, span=call.span)
    shape = tuple(size.subs(call.symbols) for size in formal.shape)  # equal to the view's own, and said more simply
    return rw.declare_fresh(name, replace(view, shape=shape), home)


def _container_names(callee: Sdfg, arguments: dict[str, str], rw: Rewriter) -> dict[str, str]:
    names = dict(arguments)
    for name, constant in callee.constants.items():
        known = next((known for known, value in rw.sdfg.constants.items() if value is constant), "")
        names.setdefault(name, known or rw.fresh_name(name))
    for region in callee.body.walk_regions():
        for name in region.containers:
            if name not in names:
                names[name] = rw.fresh_name(name)
    return names


def _symbol_values(callee: Sdfg, call: Call, rw: Rewriter) -> dict[str, ExprLike]:
    """Values of the callee's free symbols, and new names for those that it defines itself."""
    values: dict[str, ExprLike] = {name: call.symbols[name] for name in callee.symbols}
    for name, dtype in callee.assigned_symbols.items():
        fresh = rw.fresh_name(name)
        rw.sdfg.assign_symbol(fresh, dtype)
        values[name] = sym(fresh)
    for region in callee.body.walk_regions():
        for name in region.params:
            values[name] = sym(rw.fresh_name(name))
    return values


def _place(body: Region, call: Call) -> None:
    """Say where the function was called; code of dcpy's own, which has no place in the program, gets that of the call.
    """
    for block in body.walk_blocks():
        block.span = _called(block.span, call.span)
    for node in body.walk_nodes():
        node.span = _called(node.span, call.span)


def _called(span: SrcSpan | None, at: SrcSpan | None) -> SrcSpan | None:
    if span is None or at is None or not span.calls or span.calls[-1][1] is not None:
        return span or at
    *inner, (function, _) = span.calls
    return span.with_calls((*inner, *call_chain(function, at))[:CALLS_KEPT])


def _put_in_place(call: Call, loads: list[Node], body: Region, rw: Rewriter) -> None:
    """Put the nodes of a body that is a single state into the call's state, else its blocks where the state was."""
    _place(body, call)
    blocks = list(body.blocks)
    for block in reversed(blocks):
        body.remove(block)
    if all(isinstance(block, State) for block in blocks):
        nodes = [node for block in blocks if isinstance(block, State) for node in block.nodes]
        rw.replace(call, *loads, *nodes)
        return
    before, alone, after = rw.split_state(call)
    rw.replace(alone, State(nodes=loads, span=call.span), *blocks)
    for state in (before, after):
        if not state.nodes:
            rw.erase(state)
