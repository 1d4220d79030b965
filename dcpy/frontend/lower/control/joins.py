"""Joins: what a name stands for after a branch, at the head of a loop, after it.

Numbers meet in the name's slot, in the dtype that NumPy promotes to. Arrays that differ meet in a container of their
own, into which each path copies; from then on neither version may be written, unless only this name has it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, is_dataclass, replace
from typing import TYPE_CHECKING

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.dynamic_arrays import VARYING, Resized, SlidingWindow
from dcpy.frontend.abstract_values.kinds_by_path import Kinds, all_of
from dcpy.frontend.abstract_values.list_values import GrownText, JoinedList, ListRef, ListValue
from dcpy.frontend.abstract_values.number_kinds import instead_of, types_of
from dcpy.frontend.abstract_values.stream_values import StreamValue
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    DictValue,
    GeneratorValue,
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
    kind_of,
    scalar_expr,
)
from dcpy.frontend.lower.arithmetic import elementwise
from dcpy.frontend.lower.arithmetic.promotion import joined_number
from dcpy.frontend.lower.arrays import dynamic_sizes, dynamic_views, memory_order, stores
from dcpy.frontend.lower.arrays.name_aliases import Env, inherit_invalidation, invalidate_alias, is_own, roots
from dcpy.frontend.lower.control import text_joins
from dcpy.frontend.lower.control.path_selectors import cases
from dcpy.frontend.lower.frame import NOTHING, Names, how_to_part, name_for_user
from dcpy.frontend.lower.objects import dataclass_objects as objects
from dcpy.frontend.lower.sequences import growing_texts, list_joins, list_references
from dcpy.ir.data import View
from dcpy.ir.expressions.scalar import Load, ScalarExpr, loads_of, symbols_of
from dcpy.ir.memlet import Memlet
from dcpy.ir.region import Branch
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import Expr, Ranges

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame


@dataclass(frozen=True)
class Paths:
    """Facts about paths that meet.

    `facts`: what is known of symbols at the end of each path; without them, shapes must agree. `envs`: what names stand
    for there. `visible_containers`: containers that other names still show, so that no version may move there;
    `rebound_containers`: those that take another value at the same time. `entering`: how many of the paths, from the
    first, are on the way into a loop, where a number takes the kind that the loop gives it. `owner`: the name whose
    value this is (or is part of). `merge`: where in the program the paths meet, for `path_splitting`.
    `copied_containers`: what lists have copies of.
    """

    facts: Sequence[Ranges] = ()
    envs: Sequence[Env] = ()
    visible_containers: Names = NOTHING
    rebound_containers: Names = NOTHING
    entering: int = 0
    owner: str = ""
    merge: object = None
    copied_containers: Names = NOTHING
    texts_grow: bool = False  # a loop adds to a text

    def of(self, frame: Frame, name: str, kept: Sequence[bool]) -> Paths:
        """The paths on which `name` has a value, and it is the owner unless there is one already."""
        envs = self.envs or [frame.env] * len(kept)
        return replace(
            self,
            facts=tuple(itertools.compress(self.facts, kept)),
            envs=tuple(itertools.compress(envs, kept)),
            entering=sum(kept[: self.entering]),
            owner=self.owner or name,
        )


def join(frame: Frame, name: str, values: Sequence[Value], paths: Paths | None = None) -> Value:
    """Return the value of `name` where paths with these values meet; `Missing` where there is no such value.

    The caller then moves each path's value into the result (`move`), at the end of the path.
    """
    paths = paths or Paths()
    if any(isinstance(value, VariantValue) for value in values) and not _is_one(frame, values):
        values, paths = _spread(frame, values, paths)
    unusable = [value for value in values if isinstance(value, Missing)]
    known = [value for value in values if not isinstance(value, Missing)]
    if not known or not all(value.unset for value in unusable):
        return next((value for value in unusable if not value.unset), unusable[0])
    plain = [value.value if isinstance(value, Maybe) else value for value in known]
    paths = paths.of(frame, name, [not isinstance(value, Missing) for value in values])
    joined = _join_known(frame, name, plain, paths)
    if isinstance(joined, Missing):
        return replace(joined, merge=joined.merge or paths.merge)
    if not unusable and not any(isinstance(value, Maybe) for value in known):
        return joined
    return Maybe(joined, _joined_flag(frame, name, values))


def _is_one(frame: Frame, values: Sequence[Value]) -> bool:
    return all(value == values[0] for value in values) and is_visible(frame, values[0])


def _spread(frame: Frame, values: Sequence[Value], paths: Paths) -> tuple[list[Value], Paths]:
    """A path for each of several things that a name may stand for at its end."""
    options = [[part for _, part in value.options] if isinstance(value, VariantValue) else [value] for value in values]
    counts = [len(found) for found in options]
    envs = paths.envs or [frame.env] * len(counts)
    repeated = replace(
        paths,
        facts=[ranges for ranges, count in zip(paths.facts, counts, strict=False) for _ in range(count)],
        envs=[env for env, count in zip(envs, counts, strict=True) for _ in range(count)],
        entering=sum(counts[: paths.entering]),
    )
    return [option for found in options for option in found], repeated


def _join_known(frame: Frame, name: str, plain: Sequence[Value], paths: Paths) -> Value:
    first = plain[0]
    same = all(value == first for value in plain)
    if same and is_visible(frame, first) and _stays(frame, first, paths):
        return _same(plain)
    if any(isinstance(value, ListRef | DictValue) or list_references.is_list(value) for value in plain):
        return list_joins.join(frame, name, plain, paths, join)
    meeting = joined_number(plain, entering=paths.entering) if all(map(is_number, plain)) else None
    if meeting is not None:
        return frame.slot(name, meeting.dtype, meeting.weak, _kinds(frame, meeting.other_kinds, plain, paths))
    pairs = zip(plain, paths.envs, strict=True)
    mixed = any(map(is_number, plain)) and all(_is_element(frame, paths, value, env) for value, env in pairs)
    if mixed and len(set(map(dtype_of, plain))) == 1:
        return frame.slot(name, dtype_of(first), weak=False)  # a 0-d array of this name's own meets a scalar
    if all(isinstance(value, ArrayValue | Resized | SlidingWindow) for value in plain):
        versions = [value for value in plain if isinstance(value, ArrayValue | Resized | SlidingWindow)]
        return _slid(frame, name, versions, paths) or _join_arrays(frame, name, _without_windows(versions), paths)
    if (text := text_joins.join(frame, name, plain, paths, join)) is not None:
        return text
    if all(isinstance(value, TupleValue) for value in plain):
        return _join_tuples(frame, name, [value for value in plain if isinstance(value, TupleValue)], paths)
    if all(isinstance(value, ObjectValue | RecordValue) for value in plain):
        values = objects.as_values(frame, plain)
        if values is not None:
            return _join_items(frame, name, values, paths)
        return _several_objects(name, [value for value in plain if isinstance(value, ObjectValue | RecordValue)])
    kinds = list(dict.fromkeys(map(kind_of, plain)))
    what = " or ".join(kinds) if len(kinds) > 1 else f"{kinds[0]} or another one"
    return Missing(
        f"{name_for_user(name)} is {what} here, depending on the path taken",
        help=f"{how_to_part(name)}, or give both paths the same type",
    )


def _same(values: Sequence[Value]) -> Value:
    """A value that all paths agree on; of a number, one of them may be what a loop has begun with."""
    first = values[0]
    known = [instead_of(value) for value in values]
    if not isinstance(first, Scalar) or all(one is known[0] for one in known):
        return first
    return replace(first, other_kinds=all_of(known))


def _kinds(frame: Frame, known: Kinds, values: Sequence[Value], paths: Paths) -> Kinds:
    """The kinds of a number, which has other ones on other paths from here on."""
    if len(set(map(types_of, values))) == 1:
        return known
    at_branch = paths.merge if not paths.entering else None
    found = all_of([known], at_branch, tells=not frame.is_in_loop)
    return found if found else Kinds(entering=known.entering)


def _several_objects(name: str, values: Sequence[ObjectValue | RecordValue]) -> Missing:
    made = "dataclasses.replace" if is_dataclass(values[0].cls) else values[0].cls.__name__
    return Missing(
        f"{name_for_user(name)} is one of {len(set(values))} objects here, depending on the path taken",
        help=f"assign the fields of one object, or give each name a new object: `x = {made}(...)`",
    )


def _stays(frame: Frame, value: Value, paths: Paths) -> bool:
    return paths.rebound_containers.isdisjoint(roots(frame, value))


def _joined_flag(frame: Frame, name: str, values: Sequence[Value]) -> ScalarExpr:
    """Return whether the name has a value, known at run time."""
    conditions = [value.condition if isinstance(value, Maybe) else None for value in values]
    first = conditions[0]
    if first is not None and all(condition == first for condition in conditions) and is_visible_expr(frame, first):
        return first
    return frame.flag(name)


def is_visible_expr(frame: Frame, expr: ScalarExpr) -> bool:
    """Return whether an expression means the same outside the region that made it."""
    containers = all(frame.emit.is_visible(load.container) for load in loads_of(expr))
    return containers and all(_symbol_known(frame, name) for name in symbols_of(expr))


def _is_element(frame: Frame, paths: Paths, value: Value, env: Env) -> bool:
    own = isinstance(value, ArrayValue) and not value.shape and is_own(frame, paths.owner, value, env)
    return own or is_number(value)


def _slid(
    frame: Frame, name: str, versions: Sequence[ArrayValue | Resized | SlidingWindow], paths: Paths
) -> SlidingWindow | None:  # fmt: skip
    """Return the view that a name is where its versions are windows of one container."""
    windows = [value for value in versions if not isinstance(value, Resized)]
    root = frame.b.root(windows[0].like.container if isinstance(windows[0], SlidingWindow) else windows[0].container) \
        if windows else ""
    if len(windows) < len(versions) or root in paths.rebound_containers:
        return None
    return dynamic_views.join_views(frame, name, windows, paths.facts)


def _without_windows(versions: Sequence[ArrayValue | Resized | SlidingWindow]) -> list[dynamic_sizes.Version]:
    return [value.like if isinstance(value, SlidingWindow) else value for value in versions]


def _join_arrays(frame: Frame, name: str, versions: list[dynamic_sizes.Version], paths: Paths) -> Value:
    values = [value.slot if isinstance(value, Resized) else value for value in versions]
    first = values[0]
    help_text = f"{how_to_part(name)}, or convert both with .astype(...)"
    if any(value.dtype != first.dtype for value in values):
        dtypes = " or ".join(dict.fromkeys(str(value.dtype.numpy_name) for value in values))
        return Missing(f"the dtype of {name_for_user(name)} depends on the path taken: {dtypes}", help=help_text)
    found = [dynamic_sizes.rank(value) for value in versions]
    if any(rank != found[0] for rank in found):
        ranks = " or ".join(dict.fromkeys(map(str, found)))
        message = f"the number of dimensions of {name_for_user(name)} depends on the path taken: {ranks}"
        return Missing(message, help=how_to_part(name))
    busy = paths.visible_containers | paths.rebound_containers
    resized = any(isinstance(value, Resized) for value in versions)
    if resized or not _agree(frame, first, values, paths.facts) or not known_outside(frame, first.shape):
        if not paths.facts:
            return Missing(f"the shape of {name_for_user(name)} depends on the path taken", help=how_to_part(name))
        slot = dynamic_sizes.join_sizes(frame, name, versions, paths.facts, busy)
        frame.b.sizes_by_path[slot.slot.container] = paths.merge
        _invalidate_aliases(frame, paths, slot.slot, values)
        return slot
    if all(value == first for value in values) and _stays(frame, first, paths) and hoist(frame, first):
        return first
    axes = memory_order.order_where_paths_meet(frame.b, values, frame.program.slot_axes)
    own = frame.array_slot(name, first.dtype, tuple(frame.b.exact(size) for size in first.shape), axes, busy)
    memory_order.note_gaps(frame.b, own, values)
    _invalidate_aliases(frame, paths, own, values)
    return own


def _agree(frame: Frame, first: ArrayValue, values: Sequence[ArrayValue], facts: Sequence[Ranges]) -> bool:
    """Return whether all shapes are the same: as expressions, or by what each path has checked."""
    return all(
        size is wanted or frame.b.exact(size) is frame.b.exact(wanted) or _equal(size, wanted, ranges)
        for value, ranges in itertools.zip_longest(values, facts)
        for size, wanted in zip(value.shape, first.shape, strict=True)
    )


def _equal(size: Expr, wanted: Expr, ranges: Ranges | None) -> bool:
    return ranges is not None and ranges.proves_le(size, wanted) and ranges.proves_le(wanted, size)


def _invalidate_aliases(frame: Frame, paths: Paths, slot: ArrayValue, values: Sequence[ArrayValue]) -> None:
    own = [
        is_own(frame, paths.owner, value, env) and frame.b.root(value.container) not in paths.copied_containers
        for value, env in zip(values, paths.envs, strict=True)
    ]
    renewed = all(mine or value == slot for mine, value in zip(own[1:], values[1:], strict=True))
    for mine, value in zip(own, values, strict=True):
        if value.container == slot.container:
            continue
        if mine:
            inherit_invalidation(frame, slot, value)
        else:
            invalidate_alias(frame, paths.owner, slot, value, paths.merge, renewed=renewed)


def _join_tuples(frame: Frame, name: str, values: list[TupleValue], paths: Paths) -> Value:
    first = values[0]
    if any(value.cls is not first.cls for value in values):
        kinds = " or ".join(dict.fromkeys(map(kind_of, values)))
        return Missing(f"{name_for_user(name)} is {kinds} here, depending on the path taken", help=how_to_part(name))
    if any(len(value.items) != len(first.items) or value.is_list != first.is_list for value in values):
        array = "make an array of known size, fill it, and count what is in it"
        advice = array if first.is_list else how_to_part(name)
        return Missing(f"the length of {name_for_user(name)} depends on the path taken", help=advice)
    return _join_items(frame, name, values, paths)


def _join_items(frame: Frame, name: str, values: Sequence[TupleValue | RecordValue], paths: Paths) -> Value:
    columns = zip(*(value.items for value in values), strict=True)
    items = tuple(join(frame, f"{name}_{k}", column, paths) for k, column in enumerate(columns))
    missing = next((item for item in items if isinstance(item, Missing)), None)
    return missing or replace(values[0], items=items)


def is_visible(frame: Frame, value: Value) -> bool:  # noqa: C901  (one case per kind)
    """Return whether the value means the same outside the region that made it."""
    match value:
        case SymInt(expr=expr):
            return known_outside(frame, (expr,))
        case Scalar(expr=Load(container=container, indices=indices)):
            return frame.emit.is_visible(container) and known_outside(frame, indices)
        case ArrayValue(container=container, shape=shape, window=window):
            symbols = [name for size in shape for name in size.symbols] + list(window.symbols)
            return frame.emit.is_visible(container) and all(_symbol_known(frame, name) for name in symbols)
        case TupleValue(items=items) | RecordValue(items=items):
            return all(is_visible(frame, item) for item in items)
        case TextValue(parts=parts):
            return all(isinstance(part, str) or is_visible(frame, part[0]) for part in parts)
        case JoinedList(items=whole) | GrownText(items=whole):
            return is_visible(frame, whole)
        case ListRef() | ListValue() | DictValue():
            return list_joins.is_visible(frame, value, is_visible)
        case GeneratorValue(container=container) | StreamValue(container=container):
            return frame.emit.is_visible(container)
        case Resized(slot=slot, sizes=sizes, grows=grows):
            there = frame.emit.is_visible(slot.container) if grows else is_visible(frame, slot)
            return there and all(frame.emit.is_visible(name) for name in sizes if name is not None)
        case SlidingWindow(like=like, places=places):
            slots = [name for place in places for name in (place.start, place.size, place.step) if name is not None]
            return is_visible(frame, like) and all(map(frame.emit.is_visible, slots))
        case Maybe(value=inner, condition=condition):
            return is_visible(frame, inner) and is_visible_expr(frame, condition)
        case VariantValue(which=which, options=options):
            return frame.emit.is_visible(which) and all(is_visible(frame, option) for _, option in options)
        case Scalar():
            return False
    return True


def known_outside(frame: Frame, exprs: Sequence[Expr]) -> bool:
    """Return whether all that the expressions mention has a value where the code is written now."""
    return all(_symbol_known(frame, name) for expr in exprs for name in expr.symbols)


def _symbol_known(frame: Frame, name: str) -> bool:
    return name in frame.emit.sdfg.symbols or name in frame.emit.ranges.names


def hoist(frame: Frame, value: ArrayValue) -> bool:
    """Move the container outwards where all that its declaration mentions is known there; whether that is done."""
    if any(not _symbol_known(frame, name) for name in value.window.symbols):
        return False
    emit = frame.emit
    if value.container not in emit.descs:
        return False
    moved: str | None = value.container
    while moved is not None and not emit.is_visible(moved):  # a view, and what it shows
        desc = emit.descs[moved]
        if not known_outside(frame, desc.shape):
            return False
        moved = desc.of if isinstance(desc, View) else None
    if not emit.is_visible(value.container):
        emit.hoist(value.container)
    return True


def move(frame: Frame, pairs: Sequence[tuple[Value, Value]]) -> None:  # noqa: C901  (one case per kind)
    """Assign all targets at once: sources are read before any target is written."""
    if any(isinstance(source, VariantValue) and target != source for target, source in pairs):
        _move_cases(frame, pairs)
        return
    flat = [pair for target, source in pairs for pair in _flatten(target, objects.like(frame, target, source))]
    scalars: list[tuple[Memlet, ScalarExpr]] = []
    arrays: list[tuple[ArrayValue | Resized, ArrayValue]] = []
    lists: list[tuple[ListValue, ListValue | TupleValue]] = []
    texts: list[tuple[GrownText, Value]] = []
    for target, source in flat:
        match target, source:
            case Scalar(expr=Load(container=container, dtype=dtype)), ArrayValue():
                scalars.append((Memlet(container, Subset()), elementwise.convert(source.load(()), dtype)))
            case Scalar(expr=Load(container=container, dtype=dtype)), _:
                scalars.append((Memlet(container, Subset()), elementwise.convert(scalar_expr(source), dtype)))
            case ArrayValue(), ArrayValue():
                arrays.append((target, source))
            case ListValue(), ListValue() | TupleValue():
                lists.append((target, source))
            case GrownText(), _:
                texts.append((target, source))
            case SlidingWindow(), ArrayValue() | SlidingWindow():
                part = dynamic_views.concrete(frame, source) if isinstance(source, SlidingWindow) else source
                scalars += dynamic_views.new_places(frame, target, part)
            case Resized(), ArrayValue() | Resized() | SlidingWindow():
                part = dynamic_sizes.concrete(frame, source) if isinstance(source, VARYING) else source
                scalars += dynamic_sizes.new_sizes(frame, target, part)
                if not dynamic_sizes.is_in_place(frame, target, part):
                    arrays.append((target, part))
            case ArrayValue(), SlidingWindow():
                arrays.append((target, dynamic_views.concrete(frame, source)))
    growing_texts.move(frame, texts)
    ready = [list_joins.load_list(frame, target, source, lists) for target, source in lists]
    if scalars:
        frame.emit.tasklet(scalars)
    _write(frame, arrays)
    for target, source in ready:
        list_joins.write(frame, target, source)


def _move_cases(frame: Frame, pairs: Sequence[tuple[Value, Value]]) -> None:
    """Move values that depend on the path taken."""
    pairs = [(target, source) for target, source in pairs if target != source]
    several = {str(k): source for k, (_, source) in enumerate(pairs) if isinstance(source, VariantValue)}
    found = cases(several, list(several))
    regions = []
    for case in found:
        with frame.emit.attempt() as region:
            move(frame, [(target, case.values.get(str(k), source)) for k, (target, source) in enumerate(pairs)])
        regions.append(region)
    tests = [case.test for case in found[:-1]]
    frame.emit.block(Branch(list(zip(tests, regions, strict=False)), regions[-1]))


def _write(frame: Frame, arrays: Sequence[tuple[ArrayValue | Resized, ArrayValue]]) -> None:
    written = {_slot_of(target) for target, _ in arrays}
    ready = []
    for target, source in arrays:
        own = _slot_of(target)
        moves = isinstance(target, Resized) and target.grows
        if frame.b.root(source.container) in (written if moves else written - {own}):
            source = frame.b.copy(source)
        ready.append((target, source))
    for target, source in ready:
        if isinstance(target, Resized):
            shape = [frame.b.exact(size) for size in source.shape]
            if target.grows:
                dynamic_sizes.make_room(frame, target, shape)
            target = dynamic_sizes.front(frame, target, shape)
        stores.write(frame.b, target, source)
        for other, merge in list(frame.b.aliased_copies.get(frame.b.root(source.container), {}).items()):
            frame.b.split_alias(frame.b.root(target.container), other, merge)


def _slot_of(target: ArrayValue | Resized) -> str:
    return target.slot.container if isinstance(target, Resized) else target.container


def written(frame: Frame, pairs: Sequence[tuple[Value, Value]]) -> Names:
    """The containers of arrays that `move` writes."""
    return frozenset(root for pair in pairs for target, _ in _flatten(*pair) for root in roots(frame, target))


def _flatten(target: Value, source: Value) -> list[tuple[Value, Value]]:
    if isinstance(target, Maybe):
        condition: Value = Static(not isinstance(source, Missing))
        if isinstance(source, Maybe):
            condition, source = Scalar(source.condition, weak=True), source.value
        flag = _flatten(Scalar(target.condition, weak=True), condition) if _is_slot(target.condition) else []
        return flag if isinstance(source, Missing) else _flatten(target.value, source) + flag
    if isinstance(source, Maybe):
        source = source.value
    if target == source or isinstance(target, Missing | Static | SymInt):
        return []
    if isinstance(target, TupleValue | RecordValue) and isinstance(source, TupleValue | RecordValue):
        if len(target.items) != len(source.items):  # a list that grows, before that is known
            return [(target, source)]
        pairs = zip(target.items, source.items, strict=True)
        return [pair for part in pairs for pair in _flatten(*part)]
    if isinstance(target, TextValue) and isinstance(source, TextValue):
        return [pair for mine, other in text_joins.numbers(target, source) for pair in _flatten(mine, other)]
    if isinstance(target, DictValue) and isinstance(source, DictValue):
        values = zip(target.items, source.items, strict=True)
        return [pair for (_, mine), (_, other) in values for pair in _flatten(mine, other)]
    return [(target, source)]


def _is_slot(condition: ScalarExpr) -> bool:
    return isinstance(condition, Load)


def require_usable(frame: Frame, value: Value) -> None:
    """Refuse a value that the paths do not agree on."""
    if isinstance(value, Missing):
        raise frame.b.by_path(value.merge, FrontendError(value.reason, help=value.help))
