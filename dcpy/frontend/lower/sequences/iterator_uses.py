"""Iterator uses: what ``zip``, ``enumerate``, ``map`` or a generator gives, once it has a name, is used up by one loop.

Programs that ask one iterator for its items at one place only, which are nearly all, do without a position. Where a
second place asks the same one (or a loop around does so again), lowering begins anew, and each such iterator that gets
a name is a cursor (`cursors`). A generator has no position outside of the loop that it runs as: it is refused there.
Sides of a branch exclude one another: each of them may ask for all items (`on_one_of`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.list_values import IteratorUse, LazyGenerator, YieldingValue
from dcpy.frontend.abstract_values.values import DictValue, IteratorValue, TupleValue, Value, with_parts
from dcpy.frontend.lower.frame import IdentityMatters
from dcpy.frontend.lower.sequences import cursors
from dcpy.frontend.lower.sequences import items as sequences

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame, LoweringState

USED_UP = ("zip", "enumerate", "reversed", "map", "repeat", "count", "points")


def named(frame: Frame, value: Value) -> Value:
    """An iterator that gets a name."""
    if isinstance(value, IteratorValue) and value.kind in USED_UP and zip in frame.program.objects.identity.changing:
        if sequences.is_stepped(value):
            return cursors.started(frame.b, value)
        if sequences.has_length(value):
            return cursors.cursor(frame.b, value)
    if (isinstance(value, IteratorValue) and value.kind in USED_UP) or isinstance(value, LazyGenerator | YieldingValue):
        return replace(value, use=IteratorUse(_loops_around(frame)))
    if isinstance(value, TupleValue | DictValue):
        return with_parts(value, lambda part: named(frame, part))
    return value


def unnamed(value: Value) -> Value:
    """The iterator as what has read the name has it, which goes through its items once."""
    return replace(value, use=None) if isinstance(value, IteratorValue | LazyGenerator | YieldingValue) else value


def read(frame: Frame, node: ast.expr, value: Value) -> Value:
    """The value of a name, an item or a field. Reading an iterator takes all of its items."""
    if isinstance(value, IteratorValue | LazyGenerator | YieldingValue) and value.use is not None:
        _note(frame, node, value, value.use)
    return value


def _note(frame: Frame, node: ast.expr, value: Value, use: IteratorUse) -> None:
    used_up = frame.program.used_iterators
    if use in used_up or _loops_around(frame) > use.loops:
        if isinstance(value, IteratorValue) and (sequences.has_length(value) or sequences.is_stepped(value)):
            frame.program.objects.identity.changing.add(zip)
            raise IdentityMatters(zip)
        raise FrontendError(
            f"the generator {ast.unparse(node)!r} is asked for items at several places, or several times",
            notes=("it runs inside the loop that consumes it, and its position is not stored",),
            help="make a list of its items, and an iterator over that: `iter(list(...))`",
        )
    used_up.append(use)
    frame.emit.on_undo(lambda: _forget(used_up, use))


def _forget(used_up: list[IteratorUse], use: IteratorUse) -> None:
    if use in used_up:
        used_up.remove(use)


@contextmanager
def on_one_of(program: LoweringState) -> Iterator[Callable[[bool], None]]:
    """Sides that exclude one another are written: call what is given behind each, with whether control goes on there.

    What some of these sides have used up is so behind all of them.
    """
    used_up = program.used_iterators
    before, behind = list(used_up), list(used_up)

    def end_of_side(goes_on: bool) -> None:
        behind.extend(use for use in used_up if goes_on and use not in behind)
        used_up[:] = before

    yield end_of_side
    used_up[:] = behind


def _loops_around(frame: Frame) -> int:
    count, place = 0, frame
    while True:
        count += len(place.loops) + sum(scope.kind == "map" for scope in place.scopes)
        if place.caller is None or not place.inline:
            return count
        place = place.caller
