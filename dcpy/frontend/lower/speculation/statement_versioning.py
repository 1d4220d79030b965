"""Statement versioning: ``best[w:] = best[w:] + best[:-w]`` with slices that fit, and for any numbers.

What lowering would like to know of run-time bounds (`Emitter.holds`) becomes the condition of a branch: under it the
statement is lowered with slices inside their arrays and sizes that are equal, else as NumPy defines it for any numbers.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import reduce
from typing import TYPE_CHECKING, Any

from dcpy.base.errors import DcpyError
from dcpy.frontend.abstract_values.values import ArrayValue, Scalar, SymInt, Value
from dcpy.frontend.desugar import core
from dcpy.frontend.lower.frame import Flow, OpenRegion
from dcpy.frontend.lower.lowering_signals import WillRaise
from dcpy.frontend.lower.speculation.requests import FactRequests
from dcpy.frontend.lower.speculation.size_assumptions import needed
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, Index, Load, ScalarExpr, op
from dcpy.ir.region import Branch, Region
from dcpy.ir.symbolic import Expr, Ranges

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

Handler = Callable[["Frame", Any], Flow]


def store(frame: Frame, node: core.Assign | core.Augment, handler: Handler) -> Flow:
    """A store to an array, in two versions where bounds of its slices are known at run time only."""
    emit = frame.emit
    names = _names_in_bounds(node) if _is_store(frame, node) else []
    if not names or emit.fact_requests is not None or frame.map_scopes() or any(frame.program.pending_operands):
        return handler(frame, node)
    with _as_symbols(frame, names):
        facts = _wished(frame, node, handler)
        if not facts:
            return handler(frame, node)
        regions = [_version(frame, node, handler, known) for known in (emit.ranges.assuming(*facts), emit.ranges)]
    emit.statement(node.span)
    emit.block(Branch([(_all_hold(facts), regions[0])], regions[1]))
    return Flow.ON


def _all_hold(facts: tuple[Expr, ...]) -> ScalarExpr:
    tests: list[ScalarExpr] = [op("ge", Index(fact), Const(0, types.int64)) for fact in facts]
    return reduce(lambda left, right: op("and", left, right), tests)


def _wished(frame: Frame, node: core.Assign | core.Augment, handler: Handler) -> tuple[Expr, ...]:
    """Return the facts about a statement's bounds that lowering requests."""
    emit = frame.emit
    wishes = FactRequests(frozenset((*emit.ranges.names, *emit.sdfg.symbols)))
    env = dict(frame.env)
    emit.fact_requests = wishes
    try:
        with emit.dry_run():
            handler(frame, node)
            binds = len(frame.env) != len(env) or any(frame.env.get(name) is not value for name, value in env.items())
    except DcpyError:
        return ()  # what is wrong shows when the statement is lowered as it is
    finally:
        emit.fact_requests = None
        frame.env.clear()
        frame.env.update(env)
    return (
        () if binds else needed(wishes.requested, emit.ranges)
    )  # what a branch binds (a list that changes) ends with it


def _version(frame: Frame, node: core.Assign | core.Augment, handler: Handler, known: Ranges) -> Region:
    scope = OpenRegion(Region(), "branch", frame.liveness.after.get(node, frozenset()))
    with frame.entering(scope, known):
        frame.emit.statement(node.span)
        try:
            handler(frame, node)
        except WillRaise as error:
            for block in list(scope.region.blocks):
                scope.region.remove(block)
            scope.region.containers.clear()
            frame.b.raise_here(error)
    return scope.region


def _targets(node: core.Assign | core.Augment) -> tuple[ast.expr, ...]:
    return node.targets if isinstance(node, core.Assign) else (node.target,)


def _is_store(frame: Frame, node: core.Assign | core.Augment) -> bool:
    """Return whether the targets are memory: parts of arrays, and in ``out += ...`` an array."""
    if isinstance(node, core.Augment) and isinstance(node.target, ast.Name):
        return isinstance(frame.env.get(node.target.id), ArrayValue)
    return all(isinstance(target, ast.Subscript) for target in _targets(node))


def _names_in_bounds(node: core.Assign | core.Augment) -> list[str]:
    """Names that bounds of slices in a statement mention."""
    if not isinstance(node.value, ast.expr):
        return []
    parts = [part for tree in (*_targets(node), node.value) for part in ast.walk(tree)]
    if any(isinstance(part, ast.NamedExpr) for part in parts):
        return []
    bounds = (bound for part in parts if isinstance(part, ast.Slice) for bound in (part.lower, part.upper))
    inside = (part for bound in bounds if bound is not None for part in ast.walk(bound))
    return list(dict.fromkeys(part.id for part in inside if isinstance(part, ast.Name)))


@contextmanager
def _as_symbols(frame: Frame, names: list[str]) -> Iterator[None]:
    """The integers among `names` are symbols meanwhile: equal bounds are then equal expressions."""
    before: Mapping[str, Value] = {name: frame.env[name] for name in names if _is_integer(frame.env.get(name))}
    for name, value in before.items():
        assert isinstance(value, Scalar)
        frame.env[name] = SymInt(frame.emit.assign_symbol("n", value.expr), value.weak)
    try:
        yield
    finally:
        frame.env.update(before)


def _is_integer(value: Value | None) -> bool:
    return (
        isinstance(value, Scalar)
        and isinstance(value.expr, Load)
        and not value.expr.indices
        and value.dtype == types.int64
        and set(value.other_kinds) <= {int}
    )
