"""Iteration: items one after the other, in the loops of comprehensions and generator expressions.

What is done with an item is a function of the frontend's own (`visit`), which runs inside the innermost loop. Loops
over something of known length are unrolled. `run_loop` carries what the expressions change, as for any other loop.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dcpy.frontend.abstract_values.list_values import LazyGenerator
from dcpy.frontend.abstract_values.values import RangeValue, TupleValue, Value, VariantValue, integer, with_parts
from dcpy.frontend.desugar import core
from dcpy.frontend.desugar.bound_and_free_names import bound_names, walrus_names
from dcpy.frontend.desugar.liveness import LoopNames
from dcpy.frontend.lower.arithmetic import comparisons
from dcpy.frontend.lower.control.path_selectors import chosen, is_number_of
from dcpy.frontend.lower.expressions import condition, evaluate
from dcpy.frontend.lower.frame import NOTHING, Flow, Names
from dcpy.frontend.lower.loops.loop_entry import LoopPlan
from dcpy.frontend.lower.loops.loop_fixpoint import run_loop
from dcpy.frontend.lower.loops.loop_statements import break_if, extent_of
from dcpy.frontend.lower.lowering_signals import WillRaise
from dcpy.frontend.lower.name_binding import bind_plain, bound_item
from dcpy.frontend.lower.sequences import items as sequences
from dcpy.frontend.lower.sequences.generator_inlining import in_frame, is_generated
from dcpy.frontend.lower.sequences.iterator_uses import unnamed
from dcpy.frontend.lower.sequences.list_preallocation import place_of
from dcpy.ir import types
from dcpy.ir.analysis.dataflow.value_ranges import bind_parameter
from dcpy.ir.expressions.scalar import Const, Index, ScalarExpr, op
from dcpy.ir.region import Block, Loop, Region
from dcpy.ir.symbolic import Expr, as_expr, sym

if TYPE_CHECKING:
    from dcpy.frontend.lower.sequences.list_preallocation import place_of
from dcpy.frontend.lower.frame import Frame
from dcpy.frontend.lower.objects import special_methods

Visit = Callable[[Sequence[Expr]], None]
Wrap = Callable[[str, "Region"], Block]


@dataclass
class ItemIteration:
    """One way through the items of nested generators: ``for x in first if ... for y in ...``.

    `visit` gets the position in each level. `binds`: names that it assigns, which the loops carry. `stop`: the test
    that ends the walk once `visit` has made it true. What the walk finds out on the way: `sizes` of the levels, whether
    conditions leave items out (`filtered`), and whether how many there are is known at run time only (`counts`).
    """

    frame: Frame
    node: ast.AST
    generators: Sequence[ast.comprehension]
    first: Value
    visit: Visit
    binds: Names = NOTHING
    stop: Callable[[], ScalarExpr] | None = None
    wrap: Callable[[Block, int], Block] | None = None
    sizes: dict[int, list[Expr]] = field(default_factory=dict)
    filtered: bool = False
    counts: bool = False
    depth: int = 0  # of loops that are not unrolled

    def run(self) -> None:
        """Visit all items. Names that the generators bind are known inside only."""
        targets = [name for generator in self.generators for name in bound_names(generator.target)]
        before = {name: self.frame.env.get(name) for name in targets}
        try:
            self._level(0, [])
        finally:
            for name, value in before.items():
                if value is None:
                    self.frame.env.pop(name, None)
                else:
                    self.frame.env[name] = value

    def _level(self, number: int, places: list[Expr]) -> None:
        if number == len(self.generators):
            self.visit(places)
            return
        generator = self.generators[number]
        iterable = self.first
        if number:
            iterable = special_methods.iterated(self.frame, evaluate(self.frame, generator.iter))
        if isinstance(iterable, LazyGenerator):
            self._inner_walk(number, iterable, places)
            return
        if is_generated(iterable) or sequences.is_guarded(self.frame.b, iterable):
            self._generated(number, iterable, places)
            return
        if sequences.is_short(self.frame.b, iterable):
            self._unroll(number, sequences.items(self.frame.b, iterable), places)
            return
        size = self.frame.emit.ranges.simplify(sequences.length(self.frame.b, iterable))
        self.sizes.setdefault(number, []).append(size)
        self.counts = True
        stem = generator.target.id if isinstance(generator.target, ast.Name) else "i"
        self._loop(generator, iterable, stem, lambda item, place: self._item(number, item, [*places, place]))

    def _inner_walk(self, number: int, lazy: LazyGenerator, places: list[Expr]) -> None:
        """Items of another generator expression: its loops are around."""
        self.filtered = self.counts = True
        lazy = in_frame(self.frame, lazy)

        def visit(_: Sequence[Expr]) -> None:
            self._item(number, evaluate(self.frame, lazy.node.elt), places)

        inner = ItemIteration(self.frame, lazy.node, lazy.node.generators, lazy.first, visit, self._binds, self.stop)
        inner.depth = self.depth
        inner.run()

    def _generated(self, number: int, iterable: Value, places: list[Expr]) -> None:
        """Items of a generator: what is done with each goes where they are yielded."""
        frame, span = self.frame, self.frame.span(self.node)
        self.filtered = self.counts = True
        item, source, left = (self._own_name(stem) for stem in ("item", "iterable", "left"))
        body: list[core.Statement] = [
            core.Resume(lambda: self._item(number, frame.env[item.id], places), self._binds, span=span)
        ]
        if self.stop is not None:
            stop = self.stop

            def note() -> None:
                frame.env[left.id] = comparisons.as_value(stop())

            leave: core.Body = (core.Break(span=span),)
            body += [core.Resume(note, frozenset({left.id}), span=span), core.If(left, leave, (), span=span)]
        node = core.For(item, source, tuple(body), span=span)
        frame.program.expression_loops[node] = node  # what is known of a loop is kept by its identity
        frame.env[source.id] = unnamed(iterable)
        frame.liveness.block((node,), self._binds)
        frame.program.evaluator.execute(frame, (node,))
        for name in (item.id, source.id, left.id):
            frame.env.pop(name, None)

    def _own_name(self, stem: str) -> ast.Name:
        """A name of the frontend's own."""
        name = ast.Name(f".{stem}_{len(self.frame.program.expression_loops)}", ast.Load())
        return ast.copy_location(name, self.node)

    def _unroll(self, number: int, items: Sequence[Value], places: list[Expr]) -> None:
        self.sizes.setdefault(number, []).append(as_expr(len(items)))
        for position, item in enumerate(items):
            place = [*places, as_expr(position)]
            if self.stop is None or position == 0:
                self._item(number, item, place)
            else:
                self._under(op("not", self.stop()), functools.partial(self._item, number, item, place))

    @property
    def _binds(self) -> Names:
        walrus = [name for g in self.generators for test in (*g.ifs, g.iter) for name in walrus_names(test)]
        element = getattr(self.node, "elt", None)
        inside = walrus_names(element) if element is not None else ()
        return self.binds | frozenset(walrus) | frozenset(inside) | self.frame.liveness.rebound

    def _loop(
        self, generator: ast.comprehension, iterable: Value, stem: str, action: Callable[[Value, Expr], None]
    ) -> None:
        """A loop over something whose length is known at run time only."""
        frame, b = self.frame, self.frame.b
        extent = extent_of(frame, iterable)
        if frame.emit.ranges.proves_le(extent.size, 0):
            return
        param = frame.emit.parameter(stem)
        ranges = bind_parameter(frame.emit.ranges, param, extent) if extent.step.constant else frame.emit.ranges
        index = sym(param)
        place = place_of(extent, index) if isinstance(iterable, RangeValue) else index
        depth = self.depth + 1

        def execute(_: object, __: core.Body) -> Flow:
            self.depth = depth
            try:
                item = integer(index) if isinstance(iterable, RangeValue) else sequences.at(b, iterable, index)
                action(item, place)
                if self.stop is not None:
                    break_if(frame, self.stop())
            except WillRaise as error:
                frame.emit.statement(error.span)
                b.raise_here(error)
                return Flow.LEFT
            finally:
                self.depth = depth - 1
            return Flow.ON

        def wrap(body: Region) -> Block:
            loop = Loop(param, extent, body, span=frame.emit.placed(frame.span(self.node)))
            return loop if self.wrap is None else self.wrap(loop, depth)

        node = self._statement(generator)
        own = frozenset(name for g in self.generators for name in bound_names(g.target))
        names = LoopNames(self._binds, self._binds, self._binds | own)
        nonempty: bool | ScalarExpr = frame.emit.ranges.proves_nonneg(extent.size - 1) or op(
            "gt", Index(extent.size), Const(0, types.int64)
        )
        plan = LoopPlan(lambda: None, wrap, ranges, nonempty)
        hidden = {name: frame.env[name] for name in own if name in frame.env}
        run_loop(frame, node, names, plan, execute)
        frame.env |= hidden

    def _statement(self, generator: ast.comprehension) -> core.For:
        """The loop as a statement: what is known about loops is kept by statement."""
        known = self.frame.program.expression_loops
        if generator not in known:
            known[generator] = core.For(generator.target, generator.iter, (), span=self.frame.span(self.node))
        found: core.For = known[generator]
        return found

    def _item(self, number: int, item: Value, places: list[Expr]) -> None:
        variant = variant_in(item)
        if variant is not None:
            self._by_kind(variant, 0, lambda key: self._item(number, _with(item, variant.which, key), places))
            return
        generator = self.generators[number]
        bind_plain(self.frame, generator.target, bound_item(self.frame, item))
        self._test(number, 0, places)

    def _test(self, number: int, position: int, places: list[Expr]) -> None:
        """The conditions of a level, one after the other, then the next level."""
        tests = self.generators[number].ifs
        if position == len(tests):
            self._level(number + 1, places)
            return
        test = condition(self.frame, tests[position])
        if isinstance(test, bool):
            self.filtered = self.filtered or not test
            if test:
                self._test(number, position + 1, places)
            return
        self.filtered = self.counts = True
        self._under(test, lambda: self._test(number, position + 1, places))

    def _by_kind(self, variant: VariantValue, position: int, action: Callable[[int], None]) -> None:
        """`action` for the kind that an item of several kinds has: each gets its own side of a branch."""
        number, _ = variant.options[position]
        if position == len(variant.options) - 1:
            action(number)
            return
        rest = functools.partial(self._by_kind, variant, position + 1, action)
        self._under(is_number_of(variant.which, number), functools.partial(action, number), rest)

    def _under(self, test: ScalarExpr, action: Callable[[], None], otherwise: Callable[[], None] | None = None) -> None:
        """`action` where a test holds."""
        frame = self.frame
        span = frame.span(self.node)
        binds = self._binds
        then = core.Resume(action, binds, span=span)
        orelse = () if otherwise is None else (core.Resume(otherwise, binds, span=span),)
        flag = frame.emit.fresh(".test")
        node = core.If(ast.copy_location(ast.Name(flag, ast.Load()), self.node), (then,), orelse, span=span)
        frame.liveness.after[node] = binds
        frame.env[flag] = comparisons.as_value(test)
        frame.program.evaluator.execute(frame, (node,))
        frame.env.pop(flag, None)


def variant_in(item: Value) -> VariantValue | None:
    """Return what is one of several kinds in an item."""
    if isinstance(item, TupleValue):
        return next((found for part in item.items if (found := variant_in(part)) is not None), None)
    return item if isinstance(item, VariantValue) else None


def _with(item: Value, which: str, number: int) -> Value:
    """The item where a selector has this number."""
    return with_parts(chosen(item, {which: number}), lambda part: _with(part, which, number))
