"""Function results: containers by kind, nested as the function returns them.

A local array that is returned becomes the result itself. An argument that is returned is the very object; a view of
one stays a view. With several ``return`` statements, all must agree, and each copies into the results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.list_values import ListValue
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    Maybe,
    Missing,
    Static,
    TupleValue,
    Value,
    dtype_of,
    is_number,
    is_weak,
    kind_of,
    scalar_expr,
)
from dcpy.frontend.lower.arrays import memory_order, stores
from dcpy.frontend.lower.frame import NoCall
from dcpy.frontend.lower.loops.carried_kinds import require_kind_kept
from dcpy.frontend.lower.objects import dataclass_objects as objects
from dcpy.frontend.lower.results.result_leaves import ResultLeaves
from dcpy.frontend.lower.results.result_nesting import is_cut, place_of, plain, renumbered
from dcpy.frontend.lower.results.return_agreement import (
    ReturnedValue,
    alike,
    is_local,
    require_apart,
    require_itself,
)
from dcpy.frontend.lower.results.returned_views import (
    arrays_in_parts,
    declared_view,
    is_known_before,
    over,
    shared_arrays,
)
from dcpy.frontend.specialize.record_arguments import (
    CallOutcome,
    ChosenPart,
    FieldEffect,
)
from dcpy.ir import types
from dcpy.ir.data import Array
from dcpy.ir.editing.substitution import renaming, substitute_in_region
from dcpy.ir.expressions.scalar import Const, Index, ScalarExpr
from dcpy.ir.memlet import Memlet
from dcpy.ir.region import SymbolAssign
from dcpy.ir.sdfg import Result
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import sym
from dcpy.ir.types import DType

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import ExitPoint, Frame

_PLAIN = (bool, int, float, complex, str, type(None))


def fit_a_call(frame: Frame) -> bool:
    """Return whether a `Call` node hands over what the function returns: numbers, arrays, constants, tuples of them."""
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


def finish(frame: Frame, *, called: bool) -> CallOutcome:
    """Write the results at every place where the function returns, and declare them.

    What the caller's objects have got comes behind what the function returns. Where the returns do not agree on what
    they give, there are results for each kind, and a number that says which. `called`: a `Call` node is to take them.
    """
    sdfg, sites = frame.emit.sdfg, frame.returns
    sdfg.results, sdfg.structure = (), None
    if not sites:
        return CallOutcome()
    changed = objects.changed_arguments(frame, sites)
    unsure = {name for name in changed for site in sites if objects.is_new(site.env, name) != Static(True)}
    groups: list[list[ReturnedValue]] = []
    for site in sites:
        assert site.value is not None
        found = ResultLeaves(frame.program, site.env)
        parts = (found.part(site.value), *(found.change(name, name in unsure) for name in changed))
        require_itself(frame, found.values)
        for value in [] if called else found.values:
            require_kind_kept(frame.b, value, FrontendError("the kind of a result depends on the path taken"))
        if frame.source.is_step:
            require_apart(frame, found.values, site.span)
        returned = ReturnedValue(site, parts, found.values)
        group = next((group for group in groups if alike(frame, group[0], returned)), None)
        groups.append([returned]) if group is None else group.append(returned)
    if called and (len(groups) > 1 or any(is_cut(part) for part in groups[0][0].parts)):
        raise NoCall
    if len(groups) == 1 and groups[0][0].parts == (0,) and all(one.leaves == [Static(None)] for one in groups[0]):
        return CallOutcome()
    writer = _ResultContainers(frame)
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
        effects.append(FieldEffect(path, field, *change))
    return CallOutcome(returned_part, tuple(effects))


def _chosen(writer: _ResultContainers, groups: list[list[ReturnedValue]], written: list[list[Any]]) -> list[Any]:
    """Return the results and changed fields, chosen by the group of returns, and whether fields are new."""
    which = writer.which(groups)
    returned, *changes = zip(*written, strict=True)
    found: list[Any] = [ChosenPart(which, returned)]
    for position, parts in enumerate(changes, start=1):
        flags = () if len(parts[0]) == 1 else (writer.flag(groups, position),)
        found.append((ChosenPart(which, tuple(part[0] for part in parts)), *flags))
    return found


class _ResultContainers:
    """Declares result containers, and fills them at the places of the returns."""

    def __init__(self, frame: Frame) -> None:
        self.frame, self.sites = frame, frame.returns
        self.emit, self.b = frame.emit, frame.b
        self.results: list[Result] = []
        self.adopted_arrays: dict[str, str] = {}  # local arrays that become results, and the names they get
        self.partial_arrays: set[str] = set()  # local arrays that are results for the sake of parts of them
        self.base_results: dict[str, Result] = {}  # the results that they are
        self.count = 0

    def fresh(self) -> str:
        """The next name: ``__return``, ``__return_1``, …"""
        self.count += 1
        return "__return" if self.count == 1 else f"__return_{self.count - 1}"

    def write(self, group: list[ReturnedValue]) -> list[Any]:
        """The results of returns that agree on what they give; how those are nested."""
        self.sites = [one.site for one in group]
        columns = [list(column) for column in zip(*(one.leaves for one in group), strict=True)]
        distinct = [
            column for k, column in enumerate(columns) if not is_local(self.frame, *column) or column not in columns[:k]
        ]
        if not self.frame.source.is_step:
            self.partial_arrays = shared_arrays(self.b, distinct) | arrays_in_parts(self.b, distinct)
        indices = [self._index(self.result(column)) for column in distinct]
        places = [indices[place_of(distinct, column)] for column in columns]
        return [renumbered(part, places) for part in group[0].parts]

    def _index(self, result: Result) -> int:
        """Return the index of the result; add it unless another group of returns gives, or shows, the same array."""
        if result.kind == "array" and result in self.results:
            return self.results.index(result)
        self.results.append(result)
        return len(self.results) - 1

    def which(self, groups: list[list[ReturnedValue]]) -> int:
        """A result with the number of the group that has returned."""
        numbers = [(one.site, Const(number, types.int64)) for number, group in enumerate(groups) for one in group]
        return self._told(numbers, types.int64)

    def flag(self, groups: list[list[ReturnedValue]], position: int) -> int:
        """A result that says whether a field has a new object: the second part of the change at `position`."""
        returned = [one for group in groups for one in group]
        flags = [(one.site, scalar_expr(one.leaves[one.parts[position][1]])) for one in returned]
        return self._told(flags, types.bool_)

    def _told(self, values: Sequence[tuple[ExitPoint, ScalarExpr]], dtype: DType) -> int:
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
            notes=("compiled code returns numbers and arrays only",),
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
        if all(value.shape == first.shape for value in values) and over(self.emit.sdfg.symbols, shape):
            name = self._declare(Array.packed(first.dtype, shape, order=memory_order.order_of_result(self.b, values)))
            target = ArrayValue.whole(name, self.emit.descs[name])
            for site, value in zip(self.sites, values, strict=True):
                self._at(site, lambda v=value: stores.write(self.b, target, v))
            return Result("array", name)
        return self._of_run_time_size(values)

    def _of_run_time_size(self, values: list[ArrayValue]) -> Result:
        """An array whose sizes are symbols of its own, which each return assigns."""
        sizes = [self.emit.fresh("size") for _ in values[0].shape]
        self.emit.sdfg.assigned_symbols.update(dict.fromkeys(sizes, types.int64))
        order = memory_order.order_of_result(self.b, values)
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
        if value.container == root and not root_desc.transient and value.is_all_of(desc) and not value.read_only:
            return Result("argument", root)
        if not root_desc.transient:
            return self._view(value)
        if root in self.partial_arrays:
            return self._part(value, root)
        return self._adopt(value) if value.container == root else None

    def _view(self, value: ArrayValue) -> Result:
        found = declared_view(self.b, value)
        if found is None:
            raise FrontendError(
                "the view that is returned depends on run-time values, and is broadcast or of another dtype",
                span=self.sites[0].span,
                help="return a copy: `.copy()`",
            )
        return found

    def _part(self, value: ArrayValue, root: str) -> Result | None:
        """Return the result that shows a part of a local array; None where it has to be a copy of that part."""
        whole = ArrayValue.whole(root, self.emit.descs[root])
        if not is_known_before(self.b, value):
            return self._adopt(value) if value == whole else None
        if root not in self.base_results:
            self.base_results[root] = (None if root in self.emit.axis_orders else self._adopt(whole)) or self._copied(
                whole
            )
            self._index(self.base_results[root])
        base = self.base_results[root]
        if value == whole and not value.read_only:
            return base
        if base.container == self.adopted_arrays.get(root):
            return declared_view(self.b, value)
        return declared_view(self.b, replace(value, container=base.container)) if value.container == root else None

    def _copied(self, whole: ArrayValue) -> Result:
        """A new array that lies as a local one does in NumPy."""
        shape = [self.emit.defined(self.b.exact(size)) for size in whole.shape]
        name = self._declare(Array.packed(whole.dtype, shape, order=memory_order.order_of_copy(self.b, whole)))
        target = ArrayValue.whole(name, self.emit.descs[name])
        for site in self.sites:
            self._at(site, lambda: stores.write(self.b, target, whole))
        return Result("array", name)

    def _adopt(self, value: ArrayValue) -> Result | None:
        """A local array becomes the result: no copy."""
        desc = self.b.desc(value)
        shape = tuple(self.emit.defined(self.b.exact(size)) for size in desc.shape) if isinstance(desc, Array) else ()
        if not isinstance(desc, Array) or not value.is_all_of(desc):
            return None
        known = {*self.emit.sdfg.symbols, *self.emit.sdfg.assigned_symbols}
        if self.emit.regions[value.container] is not self.emit.sdfg.body or not over(known, shape):
            return None
        if desc.alias or memory_order.axes_of_result(self.b, value.container) is None:
            return None
        if value.container in self.adopted_arrays:
            return Result("array", self.adopted_arrays[value.container])
        self.adopted_arrays[value.container] = self.fresh()
        return Result("array", self.adopted_arrays[value.container])

    def rename(self) -> None:
        """Turn the adopted arrays into results, at the very end."""
        body = self.emit.sdfg.body
        for old in self.adopted_arrays:
            desc = body.containers[old]
            assert isinstance(desc, Array)
            shape = [self.emit.defined(self.b.exact(size)) for size in desc.shape]
            axes = memory_order.axes_of_result(self.b, old)
            body.containers[old] = Array.packed(desc.dtype, shape, order=axes or "C", span=desc.span)
        if self.adopted_arrays:
            substitute_in_region(body, renaming({}, self.adopted_arrays))

    def _declare(self, desc: Array) -> str:
        name = self.fresh()
        self.emit.sdfg.body.containers[name] = desc
        self.emit.descs[name], self.emit.regions[name] = desc, self.emit.sdfg.body
        return name

    def _at(self, site: ExitPoint, write: Any) -> None:
        """Write at the place of a return: before its `Return` block, where it has one."""
        jump = site.region.blocks[-1] if site.before_last else None
        if jump is not None:
            site.region.remove(jump)
        with self.emit.inside(site.region, site.ranges):
            self.emit.statement(site.span)
            write()
        if jump is not None:
            site.region.add(jump)

