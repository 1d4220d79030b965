"""Guarded iterations: statements that only some iterations of a pipeline run, by conditions on its counters.

before   for c in 0:I*K*T { if k == K - 1 { push } ... }      (i, k, t are the odometer)
told     I bursts of T tokens, K * T iterations apart

Nothing is said about conditions on data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from dcpy.codegen.fpga.cycle_model.integer_evaluation import Known, iterations, value_of
from dcpy.codegen.fpga.cycle_model.token_bursts import TokenBursts, again
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import LirExpr, Name
from dcpy.codegen.lir.traversal import bodies, parts

MOST = 1 << 16  #: values of variables that are looked at one by one

Axes = Sequence[tuple[str, range]]
Condition = tuple[LirExpr, bool]  #: and whether it is to hold


@dataclass(frozen=True, slots=True)
class GuardedStatement:
    """A statement with the conditions under which it runs."""

    statement: tree.Statement
    conditions: tuple[Condition, ...]


def guarded(body: tree.Body, conditions: tuple[Condition, ...] = ()) -> Iterator[GuardedStatement]:
    """The statements of a body, and those in its branches; what is in loops inside is part of these."""
    for statement in body:
        match statement:
            case tree.If(cases=cases, otherwise=otherwise):
                before: tuple[Condition, ...] = ()
                for condition, inside in cases:
                    yield from guarded(inside, (*conditions, *before, (condition, True)))
                    before = (*before, (condition, False))
                yield from guarded(otherwise, (*conditions, *before))
            case tree.Compound():
                for inside in bodies(statement):
                    yield from guarded(inside, conditions)
            case _:
                yield GuardedStatement(statement, conditions)


def axes_of(loop: tree.Loop, mark: tree.Pipelined, known: Known) -> Axes | None:
    """The variables of a pipeline, the slowest one first, with their values; None where these are not known."""
    found: list[tuple[str, range]] = []
    for one in mark.nest or (loop,):
        values = iterations(one.start, one.stop, one.step, known)
        if values is None:
            return None
        found.append((one.var, values))
    return found


def when(conditions: Sequence[Condition], axes: Axes, known: Mapping[str, int]) -> TokenBursts | None:
    """The iterations in which all conditions hold, as bursts; those that data decide are taken to hold always.

    None: in no iteration.
    """
    mentioned = {part.name for one, _ in conditions for part in parts(one) if isinstance(part, Name)}
    if prod(len(values) for name, values in axes if name in mentioned) > MOST:
        return _burst(prod(len(values) for _, values in axes))
    return _when(conditions, mentioned, axes, known)


def _when(
    conditions: Sequence[Condition], mentioned: set[str], axes: Axes, known: Mapping[str, int]
) -> TokenBursts | None:
    if not any(name in mentioned for name, _ in axes):
        holds = [(value_of(one, known), wanted) for one, wanted in conditions]
        always = all(value is None or bool(value) is wanted for value, wanted in holds)
        return _burst(prod(len(values) for _, values in axes)) if always else None
    (name, values), *rest = axes
    inside = prod(len(others) for _, others in rest)
    if name not in mentioned:
        found = _when(conditions, mentioned, rest, known)
        return None if found is None or not values else again(found, len(values), inside)
    whole: TokenBursts | None = None
    for number, value in enumerate(values):
        found = _when(conditions, mentioned, rest, {**known, name: value})
        if found is not None:
            whole = _joined(whole, found.later(number * inside))
    return whole


def spans(conditions: Sequence[Condition], axes: Axes, known: Mapping[str, int]) -> Iterator[range]:
    """The iterations in which all conditions hold, one by one; those that data decide are taken to hold always."""
    mentioned = {part.name for one, _ in conditions for part in parts(one) if isinstance(part, Name)}
    yield from _spans(conditions, mentioned, axes, known)


def _spans(
    conditions: Sequence[Condition], mentioned: set[str], axes: Axes, known: Mapping[str, int]
) -> Iterator[range]:
    if not any(name in mentioned for name, _ in axes):
        holds = [(value_of(one, known), wanted) for one, wanted in conditions]
        if all(value is None or bool(value) is wanted for value, wanted in holds):
            yield range(prod(len(values) for _, values in axes))
        return
    (name, values), *rest = axes
    inside = prod(len(others) for _, others in rest)
    for number, value in enumerate(values):
        for found in _spans(conditions, mentioned, rest, {**known, name: value}):
            yield range(found.start + number * inside, found.stop + number * inside)


def _burst(count: int) -> TokenBursts | None:
    return TokenBursts.burst(0, count - 1, count) if count else None


def _joined(before: TokenBursts | None, later: TokenBursts) -> TokenBursts:
    """Both; one burst, if the second one begins where the first one ends."""
    if before is None:
        return later
    are_bursts = all(one.last - one.first == one.tokens - 1 for one in (before, later))
    if are_bursts and later.first == before.last + 1:
        return TokenBursts.burst(before.first, later.last, before.tokens + later.tokens)
    return before.then(later)
