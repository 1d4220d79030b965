"""Abstract values: what a Python name stands for while a function is lowered.

Values are frozen and are bound, never changed: ``b = a.T`` binds `b` to another view of the container of `a`, and
only a store emits a write. What is known stays known: a Python object (`Static`), an integer over symbols (`SymInt`),
an element not read yet (`Scalar`), a window of a container (`ArrayValue`). Nothing here emits code.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from dcpy.base.source import SrcSpan
from dcpy.frontend.abstract_values.dynamic_arrays import Resized, SlidingWindow, Varying
from dcpy.frontend.abstract_values.kinds_by_path import NONE, Kinds
from dcpy.frontend.abstract_values.list_values import IteratorUse, ListLike
from dcpy.frontend.abstract_values.stream_values import StreamValue
from dcpy.ir import types
from dcpy.ir.data import Data, View
from dcpy.ir.expressions.scalar import Const, Index, Load, Op, ScalarExpr, as_symbolic
from dcpy.ir.schedules import UNDECIDED, Schedule
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr, ExprLike, as_expr
from dcpy.ir.symbolic.intervals import wrapped
from dcpy.ir.types import DType

if TYPE_CHECKING:
    from dcpy.frontend.desugar.core import Define

_PLAIN = (bool, int, float, complex, str, type(None), np.generic)
_WEAK_DTYPES = {bool: types.bool_, int: types.int64, float: types.float64, complex: types.complex128}


@dataclass(frozen=True, slots=True, eq=False)
class Static:
    """A Python object known at compile time: a number, a string, None, a module, a dtype, a function of Python's."""

    value: Any

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Static) or type(self.value) is not type(other.value):
            return False
        return self.value is other.value or (isinstance(self.value, _PLAIN) and repr(self.value) == repr(other.value))

    def __hash__(self) -> int:
        return hash(repr(self.value)) if isinstance(self.value, _PLAIN) else hash(type(self.value))


@dataclass(frozen=True, slots=True)
class SymInt:
    """An integer over symbols: a size, a loop variable, ``i + 1``. `weak`: a Python int, else an ``np.int64``."""

    expr: Expr
    weak: bool = True

    @property
    def dtype(self) -> DType:
        """The dtype of an integer."""
        return types.int64


@dataclass(frozen=True, slots=True)
class Scalar:
    """A run-time scalar: an expression over elements of containers, evaluated where the value is used.

    `weak` means a Python bool, int, float or complex, which do not promote NumPy's dtypes (NEP 50). A name is always
    bound to a `Scalar` that just loads the name's own container, so that later stores cannot change it. `other_kinds`:
    its kinds on other paths through the program, which what it is used for must not depend on.
    """

    expr: ScalarExpr
    weak: bool = False
    other_kinds: Kinds = NONE

    @property
    def dtype(self) -> DType:
        """The dtype of the expression."""
        return self.expr.dtype


@dataclass(frozen=True, slots=True)
class ArrayValue:
    """A window of a container: what a slice, ``.T`` or ``[:, None]`` of an array is.

    ``axes[k]`` is the dimension of the container that dimension k of the value runs along, or -1 for an inserted or
    broadcast one. A size in `shape` that turns out negative at run time means 0 (the window is inside out).
    `fresh`: computed just now, and no name has it yet. `read_only`: NumPy's flag says that it takes no writes.
    """

    container: str
    dtype: DType
    shape: tuple[Expr, ...]
    window: Subset
    axes: tuple[int, ...]
    fresh: bool = field(default=False, compare=False)
    read_only: bool = field(default=False, compare=False)

    @classmethod
    def whole(cls, container: str, desc: Data, *, fresh: bool = False) -> ArrayValue:
        """All of a container."""
        shape = tuple(desc.shape)
        return cls(container, desc.dtype, shape, Subset.whole(shape), tuple(range(len(shape))), fresh)

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def is_plain(self) -> bool:
        """Return whether a subset says all: the kept dimensions of the window, in order."""
        return self.axes == tuple(k for k, dim in enumerate(self.window.dims) if isinstance(dim, Range))

    def is_all_of(self, desc: Data) -> bool:
        """Return whether the value is the whole container, as it is."""
        return self.is_plain and self.window == Subset.whole(desc.shape)

    def subset(self, inner: Sequence[Expr | Range]) -> Subset:
        """The subset of the container that `inner`, one index or range per dimension of the value, names.

        Only for values whose dimensions are in the container's order where `inner` has ranges.
        """
        at = {axis: part for axis, part in zip(self.axes, inner, strict=True) if axis >= 0}
        kept = [k for k, dim in enumerate(self.window.dims) if isinstance(dim, Range)]
        return self.window.compose(Subset(tuple(at.get(axis, ZERO) for axis in kept)))

    def load(self, indices: Sequence[ExprLike]) -> Load:
        """The element at `indices`, which must be in range."""
        return Load(self.container, self.subset([as_expr(i) for i in indices]).indices, self.dtype)

    def transposed(self, order: Sequence[int]) -> ArrayValue:
        """The view with dimensions permuted: dimension k is `order[k]` of this one."""
        return replace(
            self, shape=tuple(self.shape[k] for k in order), axes=tuple(self.axes[k] for k in order), fresh=False
        )

    def expanded(self, position: int) -> ArrayValue:
        """The view with a dimension of size 1 inserted."""
        shape, axes = list(self.shape), list(self.axes)
        shape.insert(position, ONE)
        axes.insert(position, -1)
        return replace(self, shape=tuple(shape), axes=tuple(axes), fresh=False)

    def broadcast(self, shape: Sequence[Expr]) -> ArrayValue:
        """The read-only view of a larger shape; sizes of 1 are repeated (the caller checked that they fit)."""
        missing = len(shape) - self.rank
        window, axes = list(self.window.dims), [-1] * missing
        for size, wanted, axis in zip(self.shape, shape[missing:], self.axes, strict=True):
            repeated = axis >= 0 and size is ONE and wanted is not ONE
            if repeated:
                dim = window[axis]
                window[axis] = dim.start if isinstance(dim, Range) else dim
            axes.append(-1 if repeated else axis)
        return ArrayValue(self.container, self.dtype, tuple(shape), Subset(tuple(window)), tuple(axes),
                          read_only=self.read_only)  # fmt: skip

    def as_view(self, desc: Data) -> View:
        """The descriptor of a `View` container that shows the value; `desc` is that of the container."""
        sizes = {k: size for k, (axis, size) in enumerate(zip(self.axes, self.shape, strict=True)) if axis < 0}
        return View.slice(self.container, desc, self.window, axes=self.axes, sizes=sizes)


@dataclass(frozen=True, slots=True)
class TupleValue:
    """A tuple (or list) of known length; `names` are those of a named tuple's items, `cls` is its class.

    `token`: which list it is, as soon as a name has it: names with one token show one list of Python's.
    """

    items: tuple[Value, ...]
    is_list: bool = False
    names: tuple[str, ...] = ()
    cls: type | None = None
    token: object = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class RecordValue:
    """A dataclass object no field of which is ever assigned: it is what its fields are."""

    cls: type
    names: tuple[str, ...]
    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class ObjectValue:
    """A dataclass object that may change: a reference. Its fields are names of the frame, ``key.field``."""

    key: str
    cls: type


@dataclass(frozen=True, slots=True)
class DictValue:
    """A dictionary with keys known at compile time.

    `token`: which one it is (see `TupleValue`). `site`: the place that makes it, which can make a `HashMap` instead.
    """

    items: tuple[tuple[Any, Value], ...]
    token: object = field(default=None, compare=False, repr=False)
    site: object = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SliceValue:
    """``start:stop:step`` inside a subscript, or ``slice(...)``."""

    start: Value
    stop: Value
    step: Value


@dataclass(frozen=True, slots=True)
class RangeValue:
    """``range(start, stop, step)``; the step is a number or a symbol of known sign. `never_unrolled`: a loop over it is
    one.
    """

    start: Expr
    stop: Expr
    step: Expr = ONE
    never_unrolled: bool = False

    @property
    def range(self) -> Range:
        """The values as a range of a loop."""
        return Range(self.start, self.stop, self.step)


@dataclass(frozen=True, slots=True)
class MapValue:
    """``dcpy.map[0:M, 0:N]``: an iterable whose points may run in any order; `schedule`: how the user wants it."""

    ranges: tuple[Range, ...]
    schedule: Schedule = UNDECIDED


@dataclass(frozen=True, slots=True)
class IteratorValue:
    """``zip(...)``, ``enumerate(...)``, ``reversed(...)``: `kind` and what it iterates over.

    ``progression`` is a range whose step has a sign that is not known: positions, the first integer, the step.
    ``points`` are those of a map, one after the other, each a tuple. A ``cursor`` knows how far it is (`cursors`).
    """

    kind: str
    parts: tuple[Value, ...]
    start: Expr = ZERO
    use: IteratorUse | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class FunctionValue:
    """A nested function or a lambda, with the names it can see."""

    definition: Define
    scope: Any  # the frame in which it was defined
    defaults: tuple[Value, ...] = ()
    keyword_defaults: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GeneratorValue:
    """An ``np.random.Generator``: the container of its state, which draws read and write; `own`: of the program."""

    container: str
    own: bool = False


@dataclass(frozen=True, slots=True)
class TextValue:
    """An f-string with values known at run time only: strings, and values with their conversion and format."""

    parts: tuple[str | tuple[Value, int, Any], ...]


@dataclass(frozen=True, slots=True)
class PartialValue:
    """``functools.partial(function, *args, **keywords)`` that a program makes."""

    function: Value
    args: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]


@dataclass(frozen=True, slots=True)
class Method:
    """``a.sum``, before it is called."""

    owner: Value
    name: str


@dataclass(frozen=True, slots=True)
class BoundMethod:
    """A method of the user's class with its object, before it is called."""

    owner: Value
    function: Any


@dataclass(frozen=True, slots=True)
class Missing:
    """Value of a name that has no usable value: reading it is an error that says `reason`.

    `unset`: nothing has been assigned on this path. Where it meets a path with a value, the name has it `Maybe`.
    `merge`: where the paths meet that do not agree (`lower.control.path_splitting`).
    """

    reason: str
    span: SrcSpan | None = field(default=None, compare=False)
    help: str = ""
    unset: bool = False
    merge: object = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Maybe:
    """A value that a name has only if `condition` holds at run time: the path that binds it was taken."""

    value: Value
    condition: ScalarExpr


@dataclass(frozen=True, slots=True)
class VariantValue:
    """One of several values: the scalar container `which` holds the number of the one that the path taken has bound.

    Only names stand for such values. What uses them is written once per option (`lower.control.path_splitting`).
    """

    which: str
    options: tuple[tuple[int, Value], ...]


Value = (
    Static | SymInt | Scalar | ArrayValue | TupleValue | RecordValue | DictValue | SliceValue | RangeValue | MapValue
    | IteratorValue | FunctionValue | GeneratorValue | Method | Missing | Maybe | Varying | ObjectValue | BoundMethod
    | TextValue | PartialValue | ListLike | VariantValue | StreamValue
)  # fmt: skip
VALUES = get_args(Value)


def with_parts(value: Value, change: Callable[[Value], Value]) -> Value:
    """A tuple, dictionary, slice, iterator or partial call with its parts changed.

    The very same value where no part changes.
    """
    match value:
        case TupleValue(items=items) | RecordValue(items=items):
            parts = tuple(map(change, items))
            return value if all(map(operator.is_, parts, items)) else replace(value, items=parts)
        case DictValue(items=pairs):
            found = tuple((key, change(item)) for key, item in pairs)
            same = all(item is old for (_, item), (_, old) in zip(found, pairs, strict=True))
            return value if same else replace(value, items=found)
        case IteratorValue(parts=inner):
            parts = tuple(map(change, inner))
            return value if all(map(operator.is_, parts, inner)) else replace(value, parts=parts)
        case SliceValue(start=start, stop=stop, step=step):
            bounds = (start, stop, step)
            parts = tuple(map(change, bounds))
            return value if all(map(operator.is_, parts, bounds)) else SliceValue(*parts)
        case PartialValue(function=function, args=args, keywords=keywords):
            old = (*args, *(item for _, item in keywords))
            parts = tuple(map(change, old))
            if all(map(operator.is_, parts, old)):
                return value
            named = zip((key for key, _ in keywords), parts[len(args) :], strict=True)
            return PartialValue(function, parts[: len(args)], tuple(named))
    return value


def parts_of(value: Value) -> list[Value]:
    """The items of a tuple, list or dictionary; anything else is its own only part."""
    match value:
        case TupleValue(items=items) | RecordValue(items=items):
            return list(items)
        case DictValue(items=pairs):
            return [item for _, item in pairs]
    return [value]


def integer(expr: Expr, *, weak: bool = True) -> Value:
    """A Python int (or ``np.int64``, which wraps around): known where `expr` is a number."""
    expr = expr if weak else wrapped(expr)
    number = expr.constant
    if number is None:
        return SymInt(expr, weak)
    return Static(number if weak else np.int64(number))


def as_integer(value: Value) -> Expr | None:
    """The symbolic form of an integer that is known or symbolic, bools included; None for others."""
    match value:
        case SymInt(expr=expr):
            return expr
        case Static(value=bool() | int() | np.integer() | np.bool_() as number):
            return as_expr(int(number))
        case Scalar(expr=Op() | Index() as expr) if expr.dtype == types.int64:
            return as_symbolic(expr)
    return None


def is_number(value: Value) -> bool:
    """Return whether the value is a scalar number, known or not."""
    match value:
        case Static(value=number):
            return isinstance(number, bool | int | float | complex | np.number | np.bool_)
    return isinstance(value, SymInt | Scalar)


def is_weak(value: Value) -> bool:
    """Return whether the value is a number of Python's own, which does not promote."""
    match value:
        case Static(value=number):
            return type(number) in _WEAK_DTYPES
        case SymInt(weak=weak) | Scalar(weak=weak):
            return weak
    return False


def dtype_of(value: Value) -> DType:
    """The element type of a number or array (a Python number's own: bool, int64, float64, complex128)."""
    match value:
        case Static(value=number):
            weak = _WEAK_DTYPES.get(type(number))
            return weak if weak is not None else types.from_numpy(number.dtype)
        case SymInt() | Scalar() | ArrayValue():
            return value.dtype
    raise TypeError(f"{type(value).__name__} has no element type")


def scalar_expr(value: Value) -> ScalarExpr:
    """The expression of a number, of its own dtype."""
    match value:
        case Static(value=number):
            return Const(number.item() if isinstance(number, np.generic) else number, dtype_of(value))
        case SymInt(expr=expr):
            return Index(expr)
        case Scalar(expr=expr):
            return expr
    raise TypeError(f"{type(value).__name__} is not a number")


def is_cheap(expr: ScalarExpr) -> bool:
    """Return whether computing the expression again costs nothing: a number, a symbol, one element."""
    return isinstance(expr, Const | Index) or (isinstance(expr, Load) and not expr.indices)


def shape_of(value: Value) -> tuple[Expr, ...]:
    """The shape of an array, () of a number."""
    return value.shape if isinstance(value, ArrayValue) else ()


def _kind_of_object(value: object) -> str:
    return "a set" if isinstance(value, set | frozenset) else f"a {type(value).__name__}"


def kind_of(value: Value) -> str:  # noqa: C901  (one case per kind)
    """Return a description of the value in words, for messages."""
    if isinstance(value, VariantValue):
        return " or ".join(dict.fromkeys(kind_of(option) for _, option in value.options))
    match value:
        case ArrayValue(dtype=dtype, shape=shape):
            return f"an array {dtype.annotation(shape)}"
        case Resized(slot=like) | SlidingWindow(like=like):
            return kind_of(like)
        case Static(value=None):
            return "None"
        case Static(value=object_):
            return f"{object_!r}" if isinstance(object_, _PLAIN) else _kind_of_object(object_)
        case Scalar(dtype=dtype):
            return f"a scalar {dtype.numpy_name}"
        case TupleValue(cls=cls) | RecordValue(cls=cls) | ObjectValue(cls=cls) if cls is not None:
            return f"an object of {cls.__name__}"
        case TupleValue(items=items, is_list=is_list):
            kind = "list" if is_list else "tuple"
            return f"a {kind} of {len(items)}" if items else f"an empty {kind}"
        case Method(name=name):
            return f"a method {name!r}"
        case BoundMethod(function=function):
            return f"a method {function.__name__!r}"
    return {"SliceValue": "a slice", "RangeValue": "a range", "MapValue": "a dcpy.map", "DictValue": "a dictionary",
            "TextValue": "a text with run-time values", "PartialValue": "a function",
            "IteratorValue": "an iterator", "SymInt": "an integer", "FunctionValue": "a function",
            "GeneratorValue": "a random generator", "StreamValue": "a stream",
            "GrownText": "a text with run-time values",
            "ListRef": "a list", "ListValue": "a list", "YieldingValue": "a generator",
            "LazyGenerator": "a generator expression"}.get(type(value).__name__, "nothing")  # fmt: skip
