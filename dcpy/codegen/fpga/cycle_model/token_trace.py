"""Token trace: the pushes and pops of a process, in order, without values; pipelines are one step of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import repeat

from dcpy.codegen.fpga.cycle_model.guarded_iterations import Condition, axes_of, guarded, spans
from dcpy.codegen.fpga.cycle_model.integer_evaluation import Known, iterations, value_of
from dcpy.codegen.fpga.cycle_model.process_time import FLUSHABLE, UnknownCyclesError, moves_of, note_value, process_time
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import LirExpr

Move = tuple[str, bool]  #: a queue, as the process calls it, and whether a token is pushed to it


@dataclass(frozen=True, slots=True)
class Pipe:
    """A run of a pipelined loop: what each of its iterations does, in order."""

    ii: int
    is_flushable: bool  #: frp: bubbles may enter
    depth: int
    iterations: Iterable[tuple[Move, ...]]


def moves_in(body: tree.Body, known: dict[str, int]) -> Iterator[Move | Pipe]:
    """Yield the moves of a process whose variables have these values. Raises `UnknownCyclesError`.

    Where data decide between parts, the longest one counts: none of them has tokens of its own (`fpga.tokens`).
    """
    for statement in body:
        match statement:
            case tree.Loop():
                yield from _loop(statement, known)
            case tree.Compound(body=inside):
                yield from moves_in(inside, known)
            case tree.If(cases=cases, otherwise=otherwise):
                yield from moves_of(statement)
                yield from moves_in(_chosen(cases, otherwise, known), dict(known))
            case tree.While():
                raise UnknownCyclesError("a loop ends when data say so")
            case _:
                yield from moves_of(statement)
                note_value(statement, known)


def _chosen(cases: tuple[tuple[LirExpr, tree.Body], ...], otherwise: tree.Body, known: Known) -> tree.Body:
    held = [(value_of(condition, known), inside) for condition, inside in cases]
    possible: list[tree.Body] = []
    for holds, inside in held:
        if holds is None:
            possible.append(inside)
        elif holds:
            possible.append(inside)
            break
    else:
        possible.append(otherwise)
    return max(possible, key=lambda one: process_time(one, known).cycles) if len(possible) > 1 else possible[0]


def _loop(loop: tree.Loop, known: dict[str, int]) -> Iterator[Move | Pipe]:
    values = iterations(loop.start, loop.stop, loop.step, known)
    if values is None:
        raise UnknownCyclesError(f"the bounds of {loop.var} depend on data, or on sizes that are not given")
    mark = next((mark for mark in loop.marks if isinstance(mark, tree.Pipelined)), None)
    if mark is not None:
        if values:
            inside = {**known, loop.var: values[0]}
            yield Pipe(mark.ii, mark.style == FLUSHABLE, mark.depth, _iterations(loop, mark, values, inside))
        return
    for value in values:
        yield from moves_in(loop.body, {**known, loop.var: value})


def _iterations(
    loop: tree.Loop, mark: tree.Pipelined, values: range, known: dict[str, int]
) -> Iterable[tuple[Move, ...]]:
    """Return the moves of each iteration of a pipeline; conditions on loop variables choose between its statements."""
    found: list[tuple[tuple[Condition, ...], tuple[Move, ...]]] = []
    for one in guarded(loop.body):
        moves = tuple(_in_iteration((one.statement,), known))
        if moves:
            found.append((one.conditions, moves))
    axes = axes_of(loop, mark, known)
    always = tuple(move for _, moves in found for move in moves)
    if axes is None or not any(conditions for conditions, _ in found):
        return repeat(always, len(values))
    masks = [0] * len(values)
    for number, (conditions, _) in enumerate(found):
        for span in spans(conditions, axes, known):
            for place in span:
                masks[place] |= 1 << number
    chosen = {
        mask: tuple(move for number, (_, moves) in enumerate(found) if mask >> number & 1 for move in moves)
        for mask in set(masks)
    }
    return [chosen[mask] for mask in masks]


def _in_iteration(body: tree.Body, known: dict[str, int]) -> Iterator[Move]:
    """The moves in one iteration of a pipeline: loops inside of it are unrolled."""
    for statement in body:
        match statement:
            case tree.Loop():
                values = iterations(statement.start, statement.stop, statement.step, known)
                for value in values or ():
                    yield from _in_iteration(statement.body, {**known, statement.var: value})
            case tree.Compound(body=inside):
                yield from _in_iteration(inside, known)
            case tree.If(cases=cases, otherwise=otherwise):
                yield from _in_iteration(_chosen(cases, otherwise, known), known)
            case _:
                yield from moves_of(statement)
