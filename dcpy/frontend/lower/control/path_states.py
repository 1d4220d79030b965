"""Path states: numbered states of names that stand for different things where paths meet.

A state says what each of some names stands for: ``(u, v)`` show ``(A, B)`` or ``(B, A)``. A scalar holds the number of
the state that the path taken has led to. Arrays stay where they are, so that names which show the same memory still do;
what lives in a path only gets a container outside.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from dcpy.frontend.abstract_values.dynamic_arrays import Resized
from dcpy.frontend.abstract_values.number_kinds import instead_of
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    FunctionValue,
    Maybe,
    Missing,
    ObjectValue,
    RecordValue,
    Scalar,
    Static,
    SymInt,
    TextValue,
    TupleValue,
    Value,
    VariantValue,
    dtype_of,
    is_number,
    is_weak,
    parts_of,
    with_parts,
)
from dcpy.frontend.lower.arrays import dynamic_sizes, memory_order
from dcpy.frontend.lower.arrays.name_aliases import Env, roots
from dcpy.frontend.lower.control import joins
from dcpy.frontend.lower.control.path_selectors import Case, NoOuterPlace, cases
from dcpy.frontend.lower.frame import NOTHING, Names
from dcpy.frontend.lower.lowering_signals import BY_PATH
from dcpy.frontend.lower.objects import dataclass_objects as objects
from dcpy.ir import data, types
from dcpy.ir.data import Array, Data
from dcpy.ir.expressions.scalar import Const, Load, ScalarExpr, op
from dcpy.ir.region import Branch
from dcpy.ir.symbolic import Expr, sym

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame, OpenRegion

MAX_STATES = 6  # at the head of a loop: its body is written as often
MAX_MEETING = 36  # where paths meet that a loop around may number anew
Pairs = list[tuple[Value, Value]]


class States:
    """The states of `names` where paths meet. In a `loop`, one iteration after the other comes there."""

    def __init__(self, frame: Frame, names: Sequence[str], merge: object, *, loop: bool) -> None:
        self.frame, self.names, self.loop = frame, list(names), loop
        self.rows: list[dict[str, Value]] = []
        self.placed_arrays: dict[
            str, list[ArrayValue]
        ] = {}  # arrays of all states, by the name of what shows them or a part
        selector = data.Scalar(types.int64, transient=True)
        self.which = frame.emit.declare("version", selector)
        frame.program.selector_origins[self.which] = merge
        self.discarded_containers: dict[str, Data] = {}  # containers that a dry run has taken back
        self.discarded_slots: dict[str, tuple[OpenRegion, tuple[Any, ...]]] = {}  # those of names that live on outside

    @property
    def selector(self) -> Scalar:
        """The scalar that holds the number of the state."""
        return Scalar(Load(self.which, (), types.int64), weak=True)

    def arrive(self, values: Mapping[str, Value], busy: Names = NOTHING) -> tuple[int, Pairs]:
        """The number of the state that these values are, and what moves there."""
        shown = [root for name in self.names for root in roots(self.frame, values[name])]
        placing = _OffPathPlacement(self, busy.union(filter(self.frame.emit.is_visible, shown)))
        row: dict[str, Value] = {}
        for name in self.names:
            try:
                row[name] = placing.place(name, values[name])
            except NoOuterPlace:
                raise NoOuterPlace(name) from None
        if row not in self.rows:
            if len(self.rows) == (MAX_STATES if self.loop else MAX_MEETING):
                raise NoOuterPlace
            self.rows.append(row)
            for name in self.names:
                for part, array in _arrays(name, row[name]):
                    self.placed_arrays.setdefault(part, []).append(array)
        return self.rows.index(row), placing.pairs

    def reached(self, env: Env, busy: Names = NOTHING) -> list[int]:
        """The numbers of all states in which a path may end."""
        return [self.arrive(case.values, busy)[0] for case in cases(env, self.names)]

    def value(self, name: str, numbers: Sequence[int]) -> Value:
        """Return the value of a name where only these states are possible."""
        options = [(number, self.rows[number][name]) for number in sorted(set(numbers))]
        if all(option == options[0][1] for _, option in options):
            return options[0][1]
        return VariantValue(self.which, tuple(options))


@dataclass(frozen=True)
class PathEnd:
    """The end of a path in one case: the numbers that selectors get, and what moves."""

    case: Case
    numbers: list[tuple[Scalar, int]]
    pairs: Pairs


def path_ends(env: Env, tables: Sequence[States], busy: Names = NOTHING) -> list[PathEnd]:
    """Return the ends of a path with the values of `env`. Call it where the paths meet."""
    found = []
    for case in cases(env, [name for table in tables for name in table.names]):
        reached = [table.arrive(case.values, busy) for table in tables]
        numbers = [(table.selector, number) for table, (number, _) in zip(tables, reached, strict=True)]
        found.append(PathEnd(case, numbers, [pair for _, moves in reached for pair in moves]))
    return found


def move(frame: Frame, pairs: Pairs, found: Sequence[PathEnd]) -> None:
    """Assign all targets at once at the end of a path, and say which states were reached."""

    def write(arrival: PathEnd) -> None:
        numbers = [(target, Static(number)) for target, number in arrival.numbers]
        joins.move(frame, [*pairs, *arrival.pairs, *numbers])

    if len(found) == 1:
        write(found[0])
    elif not any(arrival.pairs for arrival in found):
        targets = [target for target, _ in found[0].numbers]
        numbers = [_choice([(arrival.case, arrival.numbers[k][1]) for arrival in found]) for k in range(len(targets))]
        joins.move(frame, [*pairs, *zip(targets, numbers, strict=True)])
    else:
        regions = []
        for arrival in found:
            with frame.emit.attempt() as region:
                write(arrival)
            regions.append(region)
        tests = [arrival.case.test for arrival in found[:-1]]
        frame.emit.block(Branch(list(zip(tests, regions, strict=False)), regions[-1]))


def _choice(numbers: Sequence[tuple[Case, int]]) -> Value:
    """The number of the case that holds."""
    *others, (_, last) = numbers
    if all(number == last for _, number in others):
        return Static(last)
    result: ScalarExpr = Const(last, types.int64)
    for case, number in reversed(others):
        result = op("select", case.test, Const(number, types.int64), result)
    return Scalar(result, weak=True)


@dataclass
class _OffPathPlacement:
    """Finds places outside of a path for one state."""

    states: States
    busy: Names
    slots: dict[str, ArrayValue] = field(default_factory=dict)
    pairs: Pairs = field(default_factory=list)
    grown: dict[str, bool] = field(default_factory=dict)  # what moves to a slot that grows

    def place(self, name: str, value: Value) -> Value:  # noqa: C901  (one case per kind)
        """The value as others see it; what must move there is added to `pairs`."""
        frame = self.states.frame
        match value:
            case Missing(unset=True):
                return replace(value, merge=BY_PATH)
            case ObjectValue() if not objects.fields_of(frame.env, value):
                raise NoOuterPlace  # made on this path: its fields are not known outside
            case Missing() | FunctionValue():
                return value
            case Maybe(value=inner, condition=condition):
                if not joins.is_visible(frame, value) or self.states.loop:
                    flag = frame.flag(name)
                    self.pairs.append((Scalar(flag, weak=True), Scalar(condition, weak=True)))
                    condition = flag
                return Maybe(self.place(name, inner), condition)
            case ArrayValue():
                return self._array(name, value)
            case TupleValue(items=items) | RecordValue(items=items):
                return replace(value, items=tuple(self.place(f"{name}_{k}", item) for k, item in enumerate(items)))
            case TextValue(parts=parts):
                return replace(value, parts=tuple(self._text(f"{name}_{k}", part) for k, part in enumerate(parts)))
        if is_number(value):
            return self._number(name, value)
        count = itertools.count()
        placed = with_parts(value, lambda part: self.place(f"{name}_{next(count)}", part))
        if not joins.is_visible(frame, placed):
            raise NoOuterPlace
        return placed

    def _text(self, name: str, part: Any) -> Any:
        """A part of a text: its number moves outside."""
        if isinstance(part, str) or joins.is_visible(self.states.frame, part[0]):
            return part
        if not is_number(part[0]):
            raise NoOuterPlace
        return (self._number(name, part[0]), *part[1:])

    def _number(self, name: str, value: Value) -> Value:
        if not self.states.loop and (isinstance(value, Static) or self._is_size(value)):
            return value
        slot = self.states.frame.slot(name, dtype_of(value), is_weak(value), instead_of(value))
        if slot != value:
            self.pairs.append((slot, value))
        return slot

    def _is_size(self, value: Value) -> bool:
        return isinstance(value, SymInt) and joins.is_visible(self.states.frame, value)

    def _growing(self, name: str, value: ArrayValue, root: str) -> Resized:
        """An array of a size that is known on this path only."""
        frame = self.states.frame
        found = dynamic_sizes.growing_slot(frame, name, value, value.rank, self.busy - {root})
        mine = root == found.slot.container and root not in self.busy
        if not mine and (frame.emit.is_visible(root) or root in self.slots or root in self.grown):
            raise NoOuterPlace  # two names show it
        self.grown[root], self.busy = True, self.busy | {found.slot.container}
        self.pairs.append((found, value))
        return found

    def _had_another_size(self, name: str, value: ArrayValue) -> bool:
        """Return whether the name had an array like this of another size: one more iteration may need yet another one.
        """
        others = [known for known in self.states.placed_arrays.get(name, []) if known.shape != value.shape]
        return any(known.dtype == value.dtype and known.rank == value.rank for known in others)

    def _array(self, name: str, value: ArrayValue) -> ArrayValue | Resized:
        frame = self.states.frame
        value = replace(value, fresh=False)
        if joins.is_visible(frame, value):
            return value
        root = frame.b.root(value.container)
        if root not in frame.emit.descs and root in self.states.discarded_slots and root == value.container:
            again = frame.slot_again(*self.states.discarded_slots[root], self.states.discarded_containers[root])
            return self._array(name, replace(value, container=again))
        if not joins.known_outside(frame, _sizes(value)):
            return self._growing(name, value, root)
        is_view = frame.emit.is_visible(root)
        if (is_view or not self.states.loop) and joins.hoist(frame, value):
            return value
        if is_view:
            raise NoOuterPlace
        desc = frame.emit.descs.get(root) or self.states.discarded_containers.get(root)
        if root != value.container or not isinstance(desc, Array):
            raise NoOuterPlace
        if self.states.loop and root not in self.slots and self._had_another_size(name, value):
            return self._growing(name, value, root)
        return self._copied(name, value, root, desc)

    def _copied(self, name: str, value: ArrayValue, root: str, desc: Array) -> ArrayValue:
        """Move an array that a path has made to a slot outside, once for all names that show it."""
        frame = self.states.frame
        if root in self.grown:
            raise NoOuterPlace
        if root not in self.slots:
            shape = tuple(frame.b.exact(size) for size in desc.shape)
            if not joins.known_outside(frame, shape):
                raise NoOuterPlace
            axes = memory_order.as_known(frame.emit.axis_orders.get(root) or desc.axes)
            slot = frame.array_slot(name, desc.dtype, shape, axes, self.busy)
            self.slots[root], self.busy = slot, self.busy | {slot.container}
            self.pairs.append((slot, ArrayValue.whole(root, desc)))
        return replace(value, container=self.slots[root].container)


def _sizes(value: ArrayValue) -> list[Expr]:
    return [*value.shape, *map(sym, value.window.symbols)]


def _arrays(name: str, value: Value) -> Iterator[tuple[str, ArrayValue]]:
    """The arrays that a value is or holds, by the names that they are placed under."""
    if isinstance(value, ArrayValue):
        yield name, value
        return
    for k, part in enumerate(parts_of(value)):
        if part is not value:
            yield from _arrays(f"{name}_{k}", part)
