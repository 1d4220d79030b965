"""What a program gives back: results by kind, nested as the function returns them.

A local array that is returned becomes the result itself. An argument that is returned is the very object; a view of
one stays a view. With several ``return`` statements, all must agree, and each copies into the results.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import is_dataclass, replace
from enum import Enum
from types import FunctionType
from typing import TYPE_CHECKING, Any

from dcpy.base.errors import FrontendError
from dcpy.frontend.lists import ListValue, Row
from dcpy.frontend.lower.arithmetic.promotion import mixed_kinds
from dcpy.frontend.lower.arrays import orders, stores
from dcpy.frontend.lower.frame import IdentityMatters, NoCall
from dcpy.frontend.lower.functions.nesting import is_cut, place_of, plain, renumbered
from dcpy.frontend.lower.functions.returns import (
    Returned,
    Step,
    alike,
    is_local,
    moves,
    require_apart,
    require_itself,
)
from dcpy.frontend.lower.objects import dataclasses as objects
from dcpy.frontend.lower.sequences import references
from dcpy.frontend.specialize.records import Chosen, Cut, Effect, Given, Known, Listed, Made, Outcome, is_frozen
from dcpy.frontend.values import (
    ArrayValue,
    DictValue,
    GeneratorValue,
    Maybe,
    Missing,
    ObjectValue,
    RecordValue,
    Scalar,
    Static,
    TupleValue,
    Value,
    dtype_of,
    integer,
    is_number,
    is_weak,
    kind_of,
    scalar_expr,
)
from dcpy.ir import types
from dcpy.ir.data import Array, View
from dcpy.ir.editing.substitution import renaming, substitute_in_region
from dcpy.ir.expressions.scalar import Const, Index, Load, ScalarExpr
from dcpy.ir.memlet import Memlet
from dcpy.ir.region import SymbolAssign
from dcpy.ir.sdfg import Result
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import Expr, sym
from dcpy.ir.types import DType

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame, Program, Site

_PLAIN = (bool, int, float, complex, str, type(None))


def fit_a_call(frame: Frame) -> bool:
    """Whether a `Call` node hands over what the function returns: numbers, arrays, constants, tuples of them."""
    return all(site.value is None or _fits_a_call(site.value) for site in frame.returns)


def _fits_a_call(value: Value) -> bool:
    match value:
        case ListValue():
            return False
        case TupleValue(items=items, is_list=is_list, cls=cls):
            return not is_list and cls is None and all(map(_fits_a_call, items))
        case Maybe(value=inner):
            return _fits_a_call(inner)
        case Static(value=known) if isinstance(known, _PLAIN):
            return True
    return is_number(value) or isinstance(value, ArrayValue | Missing)


def finish(frame: Frame, *, called: bool) -> Outcome:
    """Writes the results at every place where the function returns, and declares them.

    What the caller's objects have got comes behind what the function returns. Where the returns do not agree on what
    they give, there are results for each kind, and a number that says which. `called`: a `Call` node is to take them.
    """
    sdfg, sites = frame.emit.sdfg, frame.returns
    sdfg.results, sdfg.structure = (), None
    if not sites:
        return Outcome()
    changed = objects.changed_arguments(frame, sites)
    unsure = {name for name in changed for site in sites if objects.is_new(site.env, name) != Static(True)}
    groups: list[list[Returned]] = []
    for site in sites:
        assert site.value is not None
        found = _Leaves(frame.program, site.env)
        parts = (found.part(site.value), *(found.change(name, name in unsure) for name in changed))
        require_itself(frame, found.values)
        if frame.source.is_step:
            require_apart(frame, found.values, site.span)
        returned = Returned(site, parts, found.values)
        group = next((group for group in groups if alike(frame, group[0], returned)), None)
        groups.append([returned]) if group is None else group.append(returned)
    if called and (len(groups) > 1 or any(is_cut(part) for part in groups[0][0].parts)):
        raise NoCall
    if len(groups) == 1 and groups[0][0].parts == (0,) and all(one.leaves == [Static(None)] for one in groups[0]):
        return Outcome()
    writer = _Results(frame)
    written = [writer.write(group) for group in groups]
    if len(groups) == 1:
        returned_part, *parts_of_fields = written[0]
    else:
        returned_part, *parts_of_fields = _chosen(writer, groups, written)
    writer.rename()
    sdfg.results = tuple(writer.results)
    sdfg.structure = plain((returned_part, *parts_of_fields)) if changed else plain(returned_part)
    effects = []
    for name, change in zip(changed, parts_of_fields, strict=True):
        path, _, field = name.rpartition(".")
        effects.append(Effect(path, field, *change))
    return Outcome(returned_part, tuple(effects))


def _chosen(writer: _Results, groups: list[list[Returned]], written: list[list[Any]]) -> list[Any]:
    """What is returned, and what fields are, by the number of a result; whether a field is new, once for all."""
    which = writer.which(groups)
    returned, *changes = zip(*written, strict=True)
    found: list[Any] = [Chosen(which, returned)]
    for position, parts in enumerate(changes, start=1):
        flags = () if len(parts[0]) == 1 else (writer.flag(groups, position),)
        found.append((Chosen(which, tuple(part[0] for part in parts)), *flags))
    return found


class _Leaves:
    """What the function returns at one place, taken apart: numbers, arrays and constants in order."""

    def __init__(self, program: Program, env: Mapping[str, Value]) -> None:
        self.program, self.env = program, env
        self.values: list[Value] = []
        self.made: dict[str, Made] = {}  # objects that may change, by key
        self.tokens: dict[object, str] = {}  # which list is which
        self.once: list[RecordValue] = []  # objects that are taken for values

    def change(self, name: str, unsure: bool) -> tuple[Any, ...]:
        """What a field of an argument is in the end; where that is not sure, also whether it is another object."""
        try:
            part = self.part(self.env[name])
        except FrontendError as error:
            raise FrontendError(f"the field {name!r}: {error.message}", notes=error.notes, help=error.help) from None
        return (part, self.part(objects.is_new(self.env, name))) if unsure else (part,)

    def part(self, value: Value) -> Any:  # noqa: C901  (one case per kind)
        """Indices into the leaves, nested as tuples and objects are."""
        match value:
            case Maybe(value=inner):
                return self.part(inner)
            case Missing(reason=reason, help=help):
                raise FrontendError(reason, help=help)
            case TupleValue() | RecordValue() | ListValue() if value in self.program.objects.passed.values():
                return self.given(next(path for path, known in self.program.objects.passed.items() if known == value))
            case TupleValue(is_list=True) | ListValue():
                return self.of_list(value)
            case DictValue(items=pairs):
                return Made(dict, tuple(key for key, _ in pairs), tuple(self.part(item) for _, item in pairs),
                            self.key(value.token))  # fmt: skip
            case TupleValue(items=items, names=names, cls=cls):
                parts = tuple(map(self.part, items))
                return parts if cls is None else Made(cls, names, parts)
            case RecordValue(cls=cls, names=names, items=items):
                self.require_once(value)
                return Made(cls, names, tuple(map(self.part, items)))
            case ObjectValue():
                return self.given(value.key) if objects.is_argument(value) else self.object(value)
            case GeneratorValue(container=container, own=False):
                return self.given(self.program.objects.paths.get(container, container))
            case Static(value=known) if isinstance(known, Enum | FunctionType | type) or is_dataclass(known):
                return Known(known, self.leaf(Static(None)))
            case ArrayValue() if steps := moves(self.program.b.emit, value):
                return self.cut(steps)
        return self.leaf(value)

    def cut(self, steps: Sequence[Step]) -> Cut:
        """A part of an argument: the array, and how to get there from it."""
        b = self.program.b
        numbers: list[Expr] = []
        found: list[tuple[tuple[bool, ...], tuple[int, ...]] | int] = []
        for step in steps:
            if not isinstance(step, ArrayValue):
                found.append(len(step))
                numbers += map(b.exact, step)
                continue
            for dim, shown in enumerate(step.window.dims):
                if isinstance(shown, Range):
                    numbers += (shown.start, b.exact(step.shape[step.axes.index(dim)]), shown.step)
                else:
                    numbers.append(shown)
            found.append((tuple(isinstance(shown, Range) for shown in step.window.dims), step.axes))
        first = steps[0]
        assert isinstance(first, ArrayValue)
        whole = self.leaf(ArrayValue.whole(first.container, b.desc(first)))
        return Cut((whole, *(self.leaf(integer(number)) for number in numbers)), tuple(found))

    def given(self, path: str) -> Given:
        """What the caller has passed, itself."""
        self.program.objects.used[path] = True
        return Given(path, self.leaf(Static(None)))

    def require_once(self, value: RecordValue) -> None:
        """An object that could be changed later, in two places: then it matters whether it is one."""
        if stands_for := objects.only_read(value):
            raise FrontendError(f"a program cannot return {stands_for}", help="return what you read of them")
        if value in self.once and not is_frozen(value.cls):
            raise IdentityMatters(value.cls)
        self.once.append(value)

    def object(self, value: ObjectValue) -> Made:
        """An object that the program has made."""
        if value.key not in self.made:
            fields = objects.fields_of(self.env, value)
            self.made[value.key] = Made(value.cls, tuple(fields), tuple(map(self.part, fields.values())), value.key)
        return self.made[value.key]

    def of_list(self, value: TupleValue | ListValue) -> Made | Listed:
        """A list: one object, wherever it is."""
        if isinstance(value, ListValue):
            return self.counted(value)
        return Made(list, (), tuple(map(self.part, value.items)), self.key(value.token))

    def key(self, token: Any) -> str:
        """Which list it is: one that is in several places of the result is one object."""
        if isinstance(token, str):
            return token
        if token is None or isinstance(token, references.Frozen | Row):
            return ""
        return self.tokens.setdefault(token, f"list {len(self.tokens)}")

    def counted(self, value: ListValue) -> Listed:
        """A list whose length is known at run time only."""
        own = value.array.dtype.numpy.type
        if not all(issubclass(own, kind) for kind in value.instead):  # an np.float64 is a float as well
            kinds = " and ".join(mixed_kinds(self._number(value)))
            raise FrontendError(
                f"a list that is returned holds {kinds}, and which is where is known at run time only",
                help=f"make all of them one type: {mixed_kinds(self._number(value))[-1]}(x)",
            )
        return Listed(value.levels, value.weak, self.leaf(value.array), self.key(value.token))

    def _number(self, value: ListValue) -> Scalar:
        """What stands for the numbers in a list."""
        return Scalar(Load("", (), value.array.dtype), value.weak, value.instead)

    def leaf(self, value: Value) -> int:
        """The index of one more."""
        self.values.append(value)
        return len(self.values) - 1


class _Results:
    """Declares result containers, and fills them at the places of the returns."""

    def __init__(self, frame: Frame) -> None:
        self.frame, self.sites = frame, frame.returns
        self.emit, self.b = frame.emit, frame.b
        self.results: list[Result] = []
        self.adopted: dict[str, str] = {}  # local arrays that become results, and the names they get
        self.count = 0

    def fresh(self) -> str:
        """The next name: ``__return``, ``__return_1``, …"""
        self.count += 1
        return "__return" if self.count == 1 else f"__return_{self.count - 1}"

    def write(self, group: list[Returned]) -> list[Any]:
        """The results of returns that agree on what they give; how those are nested."""
        self.sites = [one.site for one in group]
        columns = [list(column) for column in zip(*(one.leaves for one in group), strict=True)]
        distinct = [
            column for k, column in enumerate(columns) if not is_local(self.frame, *column) or column not in columns[:k]
        ]
        indices = [self._index(self.result(column)) for column in distinct]
        places = [indices[place_of(distinct, column)] for column in columns]
        return [renumbered(part, places) for part in group[0].parts]

    def _index(self, result: Result) -> int:
        """Where the result is; an array that another group of returns gives as well is there already."""
        if result.container in self.adopted.values() and result in self.results:
            return self.results.index(result)
        self.results.append(result)
        return len(self.results) - 1

    def which(self, groups: list[list[Returned]]) -> int:
        """A result that tells which group has returned."""
        numbers = [(one.site, Const(number, types.int64)) for number, group in enumerate(groups) for one in group]
        return self._told(numbers, types.int64)

    def flag(self, groups: list[list[Returned]], position: int) -> int:
        """A result that tells whether a field has a new object: the second part of the change at `position`."""
        returned = [one for group in groups for one in group]
        flags = [(one.site, scalar_expr(one.leaves[one.parts[position][1]])) for one in returned]
        return self._told(flags, types.bool_)

    def _told(self, values: Sequence[tuple[Site, ScalarExpr]], dtype: DType) -> int:
        """A number of Python's that each return gives."""
        name = self._declare(Array.packed(dtype, ()))
        for site, value in values:
            self._at(site, lambda value=value: self.emit.tasklet([(Memlet(name, Subset()), value)]))
        return self._index(Result("python", name))

    def result(self, values: list[Value]) -> Result:
        """One result, from its value at each return."""
        first = values[0]
        if all(value == first for value in values) and isinstance(first, Static) and isinstance(first.value, _PLAIN):
            return Result("constant", value=first.value)
        if all(is_number(value) for value in values):
            return self._scalar(values)
        arrays = [value for value in values if isinstance(value, ArrayValue)]
        if len(arrays) == len(values):
            return self._array(arrays)
        bad = next((value for value in values if not is_number(value) and not isinstance(value, ArrayValue)), first)
        raise FrontendError(
            f"a program cannot return {kind_of(bad)}",
            span=self.sites[0].span,
            notes=("compiled code makes numbers and arrays",),
            help="return numbers, arrays, None, or tuples of them",
        )

    def _scalar(self, values: list[Value]) -> Result:
        weak = {is_weak(value) for value in values}
        desc = Array.packed(dtype_of(values[0]), ())
        name = self._declare(desc)
        for site, value in zip(self.sites, values, strict=True):
            self._at(site, lambda v=value: self.emit.tasklet([(Memlet(name, Subset()), scalar_expr(v))]))
        return Result("python" if weak == {True} else "scalar", name)  # an np.float64 is a Python float as well

    def _array(self, values: list[ArrayValue]) -> Result:
        first = values[0]
        if all(value == first for value in values):
            known = self._known_array(first)
            if known is not None:
                return known
        shape = tuple(self.emit.defined(self.b.exact(size)) for size in first.shape)
        if all(value.shape == first.shape for value in values) and _over(self.emit.sdfg.symbols, shape):
            name = self._declare(Array.packed(first.dtype, shape, order=orders.order_of_result(self.b, values)))
            target = ArrayValue.whole(name, self.emit.descs[name])
            for site, value in zip(self.sites, values, strict=True):
                self._at(site, lambda v=value: stores.write(self.b, target, v))
            return Result("array", name)
        return self._of_run_time_size(values)

    def _of_run_time_size(self, values: list[ArrayValue]) -> Result:
        """An array whose sizes are symbols of its own, which each return assigns."""
        sizes = [self.emit.fresh("size") for _ in values[0].shape]
        self.emit.sdfg.assigned_symbols.update(dict.fromkeys(sizes, types.int64))
        order = orders.order_of_result(self.b, values)
        name = self._declare(Array.packed(values[0].dtype, [sym(size) for size in sizes], order=order))

        def fill(value: ArrayValue) -> None:
            shape = [self.b.exact(size) for size in value.shape]
            for symbol, size in zip(sizes, shape, strict=True):
                self.emit.block(SymbolAssign(symbol, Index(size)))
            window = Subset.whole(shape)
            target = ArrayValue(name, value.dtype, tuple(shape), window, tuple(range(len(shape))))
            stores.write(self.b, target, value)

        for site, value in zip(self.sites, values, strict=True):
            self._at(site, lambda v=value: fill(v))
        return Result("array", name)

    def _known_array(self, value: ArrayValue) -> Result | None:
        """An argument, a view of one, or a local array that can be the result itself."""
        desc = self.b.desc(value)
        root = self.b.root(value.container)
        root_desc = self.emit.descs[root]
        if value.container == root and not root_desc.transient and value.is_all_of(desc):
            return Result("argument", root)
        if not root_desc.transient:
            return self._view(value)
        return self._adopt(value) if value.container == root else None

    def _view(self, value: ArrayValue) -> Result:
        value = self._before_running(value)
        known = all(name in self.emit.sdfg.symbols for name in value.window.symbols)
        if not known or not self._in_front(value.container):
            raise FrontendError(
                "the view that is returned depends on run-time values, and is broadcast or of another dtype",
                span=self.sites[0].span,
                help="return a copy: `.copy()`",
            )
        desc = self.b.desc(value)
        container = value.container
        if not isinstance(desc, View) or not value.is_all_of(desc):
            with self.emit.inside(self.emit.sdfg.body):
                container = self.emit.view(value.as_view(desc))
        return Result("view", container)

    def _in_front(self, container: str) -> bool:
        """Declares a view that was made in a branch or loop, and those that it is of, at the front of the program."""
        desc = self.emit.descs[container]
        if not isinstance(desc, View) or self.emit.regions[container] is self.emit.sdfg.body:
            return True
        if not self._in_front(desc.of) or not _over(self.emit.sdfg.symbols, (*desc.shape, *desc.strides, desc.offset)):
            return False
        with self.emit.inside(self.emit.sdfg.body):
            self.emit.hoist(container)
        return True

    def _before_running(self, value: ArrayValue) -> ArrayValue:
        """The value over symbols that are known before the program runs."""
        known = self.emit.definitions
        dims = tuple(self._clamped(dim.subs(known)) for dim in value.window.dims)
        shape = tuple(self.b.exact(size.subs(known)) for size in value.shape)
        return replace(value, shape=shape, window=Subset(dims))

    def _clamped(self, dim: Expr | Range) -> Expr | Range:
        """A range that is never inside out: its size is what Python sees."""
        if isinstance(dim, Expr) or self.emit.ranges.proves_nonneg(dim.size):
            return dim
        return Range(dim.start, dim.start + dim.step * self.b.exact(dim.size), dim.step)

    def _adopt(self, value: ArrayValue) -> Result | None:
        """A local array becomes the result: no copy."""
        desc = self.b.desc(value)
        shape = tuple(self.emit.defined(self.b.exact(size)) for size in desc.shape) if isinstance(desc, Array) else ()
        if not isinstance(desc, Array) or not value.is_all_of(desc):
            return None
        known = {*self.emit.sdfg.symbols, *self.emit.sdfg.assigned_symbols}
        if self.emit.regions[value.container] is not self.emit.sdfg.body or not _over(known, shape):
            return None
        if desc.alias or orders.axes_of_result(self.b, value.container) is None:
            return None
        if value.container in self.adopted:
            return Result("array", self.adopted[value.container])
        self.adopted[value.container] = self.fresh()
        return Result("array", self.adopted[value.container])

    def rename(self) -> None:
        """Turns the adopted arrays into results, at the very end."""
        body = self.emit.sdfg.body
        for old in self.adopted:
            desc = body.containers[old]
            assert isinstance(desc, Array)
            shape = [self.emit.defined(self.b.exact(size)) for size in desc.shape]
            axes = orders.axes_of_result(self.b, old)
            body.containers[old] = Array.packed(desc.dtype, shape, order=axes or "C", span=desc.span)
        if self.adopted:
            substitute_in_region(body, renaming({}, self.adopted))

    def _declare(self, desc: Array) -> str:
        name = self.fresh()
        self.emit.sdfg.body.containers[name] = desc
        self.emit.descs[name], self.emit.regions[name] = desc, self.emit.sdfg.body
        return name

    def _at(self, site: Site, write: Any) -> None:
        """Writes at the place of a return: before its `Return` block, where it has one."""
        jump = site.region.blocks[-1] if site.before_last else None
        if jump is not None:
            site.region.remove(jump)
        with self.emit.inside(site.region, site.ranges):
            self.emit.statement(site.span)
            write()
        if jump is not None:
            site.region.add(jump)


def _over(names: Container[str], shape: Sequence[Expr]) -> bool:
    """Whether sizes mention these symbols only."""
    return all(name in names for size in shape for name in size.symbols)
