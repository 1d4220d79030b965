"""Walked items: the items of something one after the other, and what is remembered of them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.list_values import LazyGenerator
from dcpy.frontend.abstract_values.number_kinds import instead_of
from dcpy.frontend.abstract_values.values import Scalar, TupleValue, Value, dtype_of, is_number, is_weak
from dcpy.frontend.lower.expressions import evaluate
from dcpy.frontend.lower.name_binding import bind_name, materialize
from dcpy.frontend.lower.sequences import items as sequences
from dcpy.frontend.lower.sequences.generator_inlining import in_frame
from dcpy.frontend.lower.sequences.iteration import ItemIteration
from dcpy.ir.expressions.scalar import Const, ScalarExpr

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame


class WalkedItems:
    """The items of something, one after the other; `names`: what is remembered from one to the next."""

    def __init__(self, frame: Frame, value: Value) -> None:
        self.frame, self.b = frame, frame.b
        if isinstance(value, LazyGenerator):
            self.node, self.first = in_frame(frame, value).node, value.first
        else:
            self.node, self.first = items_of(frame), value
        materialize(frame)

    def prototype(self) -> Value | None:
        """An item, found by a dry run; None where there never is one."""
        return next(iter(self.prototypes()), None)

    def prototypes(self) -> list[Value]:
        """An item of each kind, found by a dry run."""
        found: list[Value] = []
        env = self.frame.env
        self.frame.env = dict(env)
        try:
            with self.frame.emit.dry_run():
                self.walk(lambda item: found.append(item), ())
        finally:
            self.frame.env = env
        return found

    def walk(
        self, visit: Callable[[Value], object], names: Sequence[str], stop: Callable[[], ScalarExpr] | None = None
    ) -> None:
        """Visit each item."""

        def step(_: object) -> None:
            visit(sequences.stable(self.b, evaluate(self.frame, self.node.elt)))

        ItemIteration(self.frame, self.node, self.node.generators, self.first, step, frozenset(names), stop).run()

    def name(self, stem: str, value: Value) -> str:
        """A name of the frontend's own, bound to a first value."""
        name = self.frame.emit.fresh(f".{stem}")
        bind_name(self.frame, name, value)
        return name

    def take(self, name: str) -> Value:
        """Return the final value of the name, and remove the name."""
        return self.frame.env.pop(name)


def items_of(frame: Frame) -> ast.GeneratorExp:
    """``(item for item in ...)``: one tree for each place in the program."""
    known = frame.program.expression_loops
    place = frame.emit.place
    node = place[1] if place is not None else None
    if ("items", node) not in known:
        name = ast.Name(".item", ast.Load())
        target = ast.Name(".item", ast.Store())
        made = ast.GeneratorExp(name, [ast.comprehension(target, ast.Constant(None), [], 0)])
        if node is not None:
            for part in (name, target, made):
                ast.copy_location(part, node)
        known["items", node] = made
    found: ast.GeneratorExp = known["items", node]
    return found


def is_remembered(item: Value) -> bool:
    """Return whether variables hold the best item so far: a number, or a tuple of numbers."""
    return is_number(item) or (isinstance(item, TupleValue) and all(map(is_remembered, item.items)))


def like(frame: Frame, value: Value) -> Value:
    """A first value of the same kind, which is never used."""
    if isinstance(value, TupleValue):
        return replace(value, items=tuple(like(frame, item) for item in value.items))
    if not is_number(value):
        raise FrontendError("min() and max() compare numbers, and tuples of numbers")
    zero = Const(dtype_of(value).numpy.type(0).item(), dtype_of(value))
    return Scalar(zero, is_weak(value), instead_of(value))
