"""Branches: ``if``, statements in several versions (`path_splitting`), and what names stand for where the sides meet.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dcpy.base.errors import DcpyError
from dcpy.base.source import SrcSpan
from dcpy.frontend.abstract_values.values import Missing, Static, Value, VariantValue
from dcpy.frontend.desugar import core
from dcpy.frontend.desugar.liveness import assigned
from dcpy.frontend.introspection.ast_traversal import walk
from dcpy.frontend.lower.arrays.name_aliases import live_values, shown_by_others
from dcpy.frontend.lower.control import expression_splitting, joins, path_selectors, path_splitting, path_states
from dcpy.frontend.lower.control.long_chains import LONGEST, flattened
from dcpy.frontend.lower.expressions import condition
from dcpy.frontend.lower.frame import NOTHING, ExitPoint, Flow, Names, OpenRegion
from dcpy.frontend.lower.objects.dataclass_objects import changed_fields
from dcpy.frontend.lower.sequences import growing_texts, iterator_uses, list_references
from dcpy.ir.analysis.dataflow.branch_facts import refine_ranges
from dcpy.ir.expressions.scalar import ScalarExpr
from dcpy.ir.region import Branch, Region
from dcpy.ir.symbolic import Ranges

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

Execute = Callable[[Any, core.Body], Flow]


@dataclass(frozen=True)
class BranchSide:
    """One side of a branch: what runs, what is known there, and the number of its version, if it is one."""

    body: core.Body
    ranges: Ranges
    selector: VariantValue | None = None
    number: int = 0
    place: SrcSpan | None = None  # the test that leads there, or away from there


@dataclass(frozen=True)
class Fork:
    """The sides of a branch, tests for all but the last, and the names that are read later.

    `merge`: the place where they meet; for versions the one where the paths met before.
    """

    sides: Iterable[BranchSide]
    tests: Sequence[ScalarExpr]
    live: Names
    span: SrcSpan
    merge: object
    is_split: bool = False


def run_if(frame: Frame, node: core.If, execute: Execute) -> Flow:
    """``if``, each ``elif`` and ``else``: one branch with a side for each, as far as tests are expressions.

    A test that needs code of its own, or that has names of its own, runs on the other side of the tests before.
    """
    chain = node.chain()
    for part in chain:
        if part is not node and not _is_plain(frame, part):
            rest = chain[chain.index(part) :]
            return execute(frame, (part,) if len(rest) <= LONGEST else flattened(frame, rest))
        test = condition(frame, part.test)
        if test is True:
            return execute(frame, part.body)
        if not isinstance(test, bool):
            live = frame.liveness.after[node] | {".return"}
            tests = [test]
            sides = _sides(frame, chain[chain.index(part) :], tests, live)
            return _run(frame, Fork(sides, tests, live, part.span, merge=part.span), execute)
    return execute(frame, chain[-1].orelse)


def _sides(frame: Frame, chain: list[core.If], tests: list[ScalarExpr], live: Names) -> Iterator[BranchSide]:
    """The sides of a chain, of which the first test is known; the others are found as the sides before are done."""
    ranges = frame.emit.ranges
    for position, part in enumerate(chain):
        if position:
            test = _test(frame, part, ranges, live)
            if test is None:
                rest = chain[position:]
                body = (part,) if len(rest) <= LONGEST else flattened(frame, rest)
                yield BranchSide(body, ranges, place=part.span)
                return
            if test is False:
                continue
            if test is True:
                yield BranchSide(part.body, ranges, place=part.span)
                return
            tests.append(test)
        yield BranchSide(part.body, refine_ranges(ranges, tests[-1], holds=True), place=part.span)
        ranges = refine_ranges(ranges, tests[-1], holds=False)
    yield BranchSide(chain[-1].orelse, ranges, place=chain[-1].span)


def _test(frame: Frame, part: core.If, ranges: Ranges, live: Names) -> bool | ScalarExpr | None:
    """The test of an ``elif``; None where more than an expression is needed for it."""
    if not _is_plain(frame, part):
        return None
    mark, scope = frame.emit.mark(), OpenRegion(Region(), "branch", live, 1)
    try:
        with frame.entering(scope, ranges):
            test = condition(frame, part.test)
        if not scope.region.blocks and not scope.region.containers:
            return test
    except DcpyError:  # it is raised on that side
        pass
    frame.emit.undo_to(mark)
    return None


def _is_plain(frame: Frame, part: core.If) -> bool:
    """Return whether the test binds no name, and is not rewritten for the paths that lead there."""
    if isinstance(part.test, ast.AST) and any(isinstance(tree, ast.NamedExpr) for tree in walk(part.test)):
        return False
    pulled = expression_splitting.split_statement(frame, part) if frame.b.split_joins else None
    return pulled is None and path_splitting.selector_of(frame, part) is None


def run_versions(frame: Frame, body: core.Body, selector: VariantValue, execute: Execute) -> Flow:
    """Statements once for each number that the selector may have."""
    numbers = [number for number, _ in selector.options]
    path_splitting.require_few(frame, selector)
    sides = [BranchSide(body, frame.emit.ranges, selector, number) for number in numbers]
    tests = [path_selectors.is_number_of(selector.which, number) for number in numbers[:-1]]
    live = frame.liveness.after.get(body[-1], NOTHING) | {".return"}
    origin = frame.program.selector_origins.get(selector.which)
    return _run(frame, Fork(sides, tests, live, body[0].span, merge=origin, is_split=True), execute)


def _run(frame: Frame, fork: Fork, execute: Execute) -> Flow:
    regions: list[Region] = []
    alive: list[ExitPoint] = []
    places: list[SrcSpan] = []
    bound: Names = NOTHING
    with iterator_uses.on_one_of(frame.program) as end_of_side:
        for side in fork.sides:
            bound |= assigned(side.body)
            copies = 1 if side.selector is None else len(side.selector.options)
            scope = OpenRegion(Region(), "branch", fork.live, copies)
            with frame.entering(scope, side.ranges):
                if side.selector is not None:
                    path_splitting.resolved(frame, side.selector.which, side.number)
                flow = execute(frame, side.body)
                regions.append(scope.region)
                if flow is Flow.ON or ".return" in frame.env:
                    alive.append(ExitPoint(scope.region, frame.env, False, frame.emit.ranges))
                    places.append(side.place or fork.span)
            end_of_side(flow is not Flow.LEFT)
    returned = any(".return" in path.env for path in alive)
    for path in alive:
        if returned:  # the end of the function: the other side returns None
            path.env.setdefault(".return", Static(None))
    _merge(frame, fork, bound, alive, places)
    if len(alive) == 1:  # what the other path would have been, it raised
        frame.emit.ranges = alive[0].ranges
    frame.emit.statement(fork.span)
    frame.emit.block(_branch(fork.tests, regions))
    return Flow.ON if alive and not returned else Flow.LEFT


def _merge(frame: Frame, fork: Fork, bound: Names, paths: list[ExitPoint], places: list[SrcSpan]) -> None:
    """Bind the names that some side assigned to what they stand for afterwards."""
    names = changed_fields(frame.env, paths) if paths else []
    names += sorted((bound | {".return"}) & fork.live)
    facts, envs = [path.ranges for path in paths], [live_values(path.env, fork.live) for path in paths]
    columns: dict[str, list[Value]] = {}
    for name in names:
        found = [path.env.get(name) for path in paths]
        if any(value is not None for value in found):
            columns[name] = [
                _unset(name, place) if value is None else value for value, place in zip(found, places, strict=True)
            ]

    is_marked = path_splitting.is_marked(frame, fork.merge)

    def join(name: str) -> Value:
        busy = shown_by_others(frame, name, [frame.env, *envs])
        grow = growing_texts.grows_at_branch(frame, name, columns[name]) and not is_marked
        return joins.join(frame, name, columns[name], joins.Paths(facts, envs, busy, merge=fork.merge, texts_grow=grow))

    table = _states(frame, fork, paths, columns, join)
    tables = [] if table is None else [table]
    ends = [path_states.path_ends(path.env, tables) for path in paths]
    kept = [] if table is None else table.names
    joined: dict[str, Value] = {}
    for name in columns:
        if name not in kept:
            frame.env[name] = joined[name] = join(name)
    for position, (path, end) in enumerate(zip(paths, ends, strict=True)):
        pairs = [(value, list_references.as_source(path.env, value, columns[name][position]))
                 for name, value in joined.items()]  # fmt: skip
        with frame.emit.inside(path.region, path.ranges):
            path_states.move(frame, pairs, end)
    if table is not None:
        numbers = [number for path in paths for number in table.reached(path.env)]
        frame.env |= {name: table.value(name, numbers) for name in kept}
    for name in joined:
        frame.env[name] = list_references.as_own(frame, name, frame.env[name])


def _states(
    frame: Frame, fork: Fork, paths: list[ExitPoint], columns: dict[str, list[Value]], join: Callable[[str], Value]
) -> path_states.States | None:  # fmt: skip
    """The states of names that must not meet in one place, where these paths are kept apart; None where there are none.

    Names that stand for several things already, and versions of statements, are always kept apart.
    """
    if not path_splitting.is_split(frame, fork.merge):
        return None
    split = fork.is_split or path_splitting.is_marked(frame, fork.merge)
    names = []
    for name, values in columns.items():
        several = any(isinstance(value, VariantValue) for value in values)
        if not split and not several:
            continue
        joined: Value = Static(None)
        if not several and not path_splitting.differ(values):
            with frame.emit.dry_run():
                joined = join(name)
        if path_splitting.disagree(frame, values, joined):
            names.append(name)
    if not names:
        return None
    mark = frame.emit.mark()
    while names:
        table = path_states.States(frame, names, fork.merge, loop=False)
        try:
            for path in paths:
                table.reached(path.env)
            return table
        except path_selectors.NoOuterPlace as unplaced:
            frame.emit.undo_to(mark)
            names = [name for name in names if name != unplaced.name] if unplaced.name else []
    return None


def _unset(name: str, span: SrcSpan) -> Missing:
    return Missing(
        f"cannot access local variable {name!r}: it has no value where the condition on line "
        f"{span.line} goes the other way",
        span,
        f"assign {name!r} before the `if`, or on both sides of it",
        unset=True,
    )


def _branch(tests: Sequence[ScalarExpr], regions: Sequence[Region]) -> Branch:
    """A branch; an ``else`` that is nothing but a branch continues the chain (``elif``)."""
    sides, orelse = list(zip(tests, regions, strict=False)), regions[-1]
    if not orelse.blocks:
        return Branch(sides, None)
    only = orelse.blocks[0]
    if len(orelse.blocks) == 1 and isinstance(only, Branch) and not orelse.containers:
        return Branch([*sides, *only.cases], only.otherwise)
    return Branch(sides, orelse)
