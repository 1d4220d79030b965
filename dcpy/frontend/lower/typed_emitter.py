"""Typed emitter: emission with typed values, which the parts of lowering ask for."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dcpy.base.errors import DcpyError, FrontendError
from dcpy.frontend.abstract_values.guessed_axes import GuessedAxes
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    Scalar,
    Value,
    as_integer,
    is_cheap,
    is_number,
    kind_of,
    scalar_expr,
)
from dcpy.frontend.lower.emitter import Emitter
from dcpy.frontend.lower.lowering_signals import PathsMatter, WillRaise
from dcpy.frontend.specialize.record_arguments import container_stem
from dcpy.ir import data, types
from dcpy.ir.data import Array, Data, Order, strides_of
from dcpy.ir.expressions.scalar import Const, Index, Load, ScalarExpr
from dcpy.ir.library.library_kinds import LIBRARY_KINDS
from dcpy.ir.memlet import Memlet
from dcpy.ir.region import Block, Region
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import ZERO, Expr, ExprLike, as_exprs, max_of
from dcpy.ir.types import DType


@dataclass(frozen=True, slots=True)
class MemoizedResult:
    """`result` was computed by a function of `source`, in the blocks of `region` up to `last`."""

    function: object
    source: ArrayValue
    result: Any
    region: Region
    last: Block


@dataclass(frozen=True, slots=True)
class InvalidatedAlias:
    """Reason why a container is not written any more, and the join of paths that made it a copy.

    `renewed`: a loop whose iterations make new arrays, so that it is a copy only where the loop did not run.
    """

    reason: str
    merge: object
    renewed: bool


class TypedEmitter(ABC):
    """Emission with typed values: what the parts of lowering ask for. `emit` is the pen below it.

    What is abstract is done by those parts themselves, for one another: `OpBuilder` brings them together.
    """

    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.read_only: dict[str, str] = {}  # containers that are never written, and why
        self.result_name = ""  # how the user calls the next result
        self.invalidated_aliases: dict[str, InvalidatedAlias] = {}  # containers that may not be written any more
        self.split_joins: dict[
            object, bool
        ] = {}  # places where paths keep apart what names stand for (`path_splitting`)
        self.selector_origins: dict[str, object] = {}  # selectors of values by path, and where the paths meet
        self.sizes_by_path: dict[str, object] = {}  # symbols of sizes (and the arrays that have them): where paths meet
        self.aliased_copies: dict[
            str, dict[str, object]
        ] = {}  # containers with a copy that shows what is one array in Python
        self.copied_lists: set[str] = set()  # keys of lists that are one list in Python with what copies them
        self.copies: Callable[[str], Sequence[tuple[str, object]]] = lambda container: ()  # see `sharing.copies`
        self.live_copies: Callable[[str], Sequence[tuple[str, object]]] = lambda container: ()  # those in use
        self.clock, self.stored = 0, dict[str, int]()  # when the program last stored to a container
        self.combined_writes: dict[str, str] = {}  # containers whose writes are combined, and how
        self.started_requests: dict[str, Any] = {}  # what `frontend.comm` knows of the requests in a container
        self.memoized_results: list[MemoizedResult] = []  # how much masks select, and where

    # -- errors and checks -------------------------------------------------------------------------------------------

    def error(self, message: str, *, help: str = "", notes: tuple[str, ...] = ()) -> FrontendError:
        """An error at the current expression (the evaluator adds the place)."""
        return FrontendError(message, help=help, notes=notes)

    def check(self, condition: ScalarExpr, exception: str, message: str, values: Sequence[ScalarExpr] = ()) -> None:
        """Raise a Python exception at run time unless `condition` (bool) holds; ``{0}`` … stand for `values`."""
        self.emit.check(condition, exception, message, values)

    def raise_here(self, error: WillRaise) -> None:
        """Raise an exception at run time, wherever this is reached."""
        values = [Index(self.exact(value)) for value in error.values]
        self.check(Const(False, types.bool_), error.exception, error.template, values)

    def exact(self, size: Expr) -> Expr:
        """A size as NumPy shows it: 0 for a window that is inside out."""
        return size if self.emit.holds(size) else max_of(size, 0)

    # -- values ------------------------------------------------------------------------------------------------------

    @abstractmethod
    def integer(self, value: Value, what: str = "this value") -> Expr:
        """The symbolic form of any integer; one known at run time only becomes a symbol."""

    @abstractmethod
    def array(self, value: Value) -> ArrayValue:
        """Return the value as ``np.asarray`` does: numbers as 0-d arrays, nested tuples and lists as arrays."""

    @abstractmethod
    def cast(self, value: Value, dtype: DType) -> Value:
        """``astype``: the same value where the dtype is right already (and strong)."""

    @abstractmethod
    def ufunc(self, function: np.ufunc, *operands: Value, dtype: DType | None = None) -> Value:
        """A call of a ufunc: promoted by NumPy's own rules, broadcast, one map."""

    def hold(self, value: Value) -> Value:
        """The value, computed now: an expression that costs something goes into a container of its own."""
        if not isinstance(value, Scalar) or is_cheap(value.expr):
            return value
        return self.keep(value)

    def keep(self, value: Scalar, name: str = "tmp") -> Scalar:
        """The scalar's value now, in a container of its own."""
        out, result = self.scalar_container(value.dtype, name)
        self.emit.tasklet([(Memlet(out.container, Subset()), value.expr)])
        return replace(value, expr=result.expr)

    def numbers(self, *values: Value) -> bool:
        """Return whether all values are numbers or arrays."""
        return all(is_number(value) or isinstance(value, ArrayValue) for value in values)

    def known_integer(self, value: Value) -> Expr | None:
        """The symbolic form of an integer that needs no code."""
        return as_integer(value)

    def describe(self, value: Value) -> str:
        """The value in words, for messages."""
        return kind_of(value)

    # -- arrays ------------------------------------------------------------------------------------------------------

    def empty(
        self,
        shape: Sequence[ExprLike],
        dtype: DType,
        *,
        order: Order = "C",
        name: str = "tmp",
        of_arrays: bool = True,
    ) -> ArrayValue:
        """A new array with undefined contents. `of_arrays`: sizes are those of arrays, or of parts of them."""
        if of_arrays:
            self.refuse_constants(as_exprs(shape), dtype)
        else:
            self.require_addressable(as_exprs(shape), dtype)
        desc = Array.packed(dtype, as_exprs(shape), order=order, transient=True, span=self.emit.span)
        container = self.emit.declare(self._name(name), desc)
        if isinstance(order, GuessedAxes):
            self.emit.guess_order(container, order)
        return ArrayValue.whole(container, desc, fresh=True)

    @abstractmethod
    def operator(self, symbol: str, left: Value, right: Value) -> Value:
        """Python's binary operator, ``+`` to ``!=``, on arrays and numbers."""

    @abstractmethod
    def require_addressable(self, shape: Sequence[Expr], dtype: DType) -> None:
        """Check that an array of this shape has bytes that a process can have (`arithmetic.array_sizes`)."""

    @abstractmethod
    def refuse_constants(self, shape: Sequence[Expr], dtype: DType) -> None:
        """Check the same of the sizes that are numbers, at no cost."""

    def _name(self, default: str) -> str:
        name, self.result_name = self.result_name, ""
        return container_stem(name) or default

    @abstractmethod
    def generate(
        self, shape: Sequence[ExprLike], dtype: DType, fn: Callable[..., ScalarExpr], *, order: Order = "C",
        name: str = "tmp",
    ) -> ArrayValue:  # fmt: skip
        """A new array with element ``[i, j]`` = ``fn(i, j)``; `fn` gets int64 expressions and returns `dtype`."""

    def full(
        self, shape: Sequence[ExprLike], dtype: DType, value: Value, *, order: Order = "C", name: str = "tmp"
    ) -> ArrayValue:
        """A new array with one value everywhere."""
        number = scalar_expr(self.hold(self.cast(value, dtype)))
        self.require_addressable(as_exprs(shape), dtype)
        return self.generate(shape, dtype, lambda *_: number, order=order, name=name)

    def copy(self, value: ArrayValue, *, order: Order = "C", name: str = "tmp") -> ArrayValue:
        """A new array with the same elements."""
        shape = [self.exact(size) for size in value.shape]
        out = self.empty(shape, value.dtype, order=order, name=name, of_arrays=self.is_stored(value))
        self.store(out, value)
        return out

    def is_stored(self, value: ArrayValue) -> bool:
        """Return whether each element of an array has a place of its own: no view repeats it."""
        desc = self.desc(value)
        if isinstance(desc, Array) and desc.transient:  # it was made without gaps
            return True
        return not [stride for stride in strides_of(desc) if stride is ZERO]

    def scalar_container(self, dtype: DType, name: str = "tmp") -> tuple[ArrayValue, Scalar]:
        """A new scalar container, to write (as a 0-d array) and to read."""
        desc = data.Scalar(dtype, transient=True, span=self.emit.span)
        container = self.emit.declare(self._name(name), desc)
        return ArrayValue.whole(container, desc), Scalar(Load(container, (), dtype))

    @abstractmethod
    def subscript(self, value: Value, keys: Sequence[Value]) -> Value:
        """``value[keys]``: a view, an element, or what integer arrays gather."""

    @abstractmethod
    def reshape(self, value: ArrayValue, shape: Sequence[Expr]) -> ArrayValue:
        """The same elements in another shape: a view of contiguous data, else a copy, as in NumPy."""

    @abstractmethod
    def store(self, target: ArrayValue, value: Value) -> None:
        """``target[...] = value``, broadcast and cast; right also where both overlap."""

    @abstractmethod
    def reduce(
        self, op: str, x: ArrayValue, axes: Sequence[int], *, dtype: DType | None = None, keepdims: bool = False
    ) -> Value:
        """``op`` ("add", "mul", "min", "max", "and", "or") over some axes, accumulated in `dtype`."""

    # -- library nodes -----------------------------------------------------------------------------------------------

    def reduction(
        self, kind: str, x: ArrayValue, over: Sequence[int], dtype: DType, keepdims: bool, order: Order = "C",
        **fields: Any,
    ) -> Value:  # fmt: skip
        """A library node with an operand ``x`` and a result ``out`` that lacks the axes `over` (or has size 1)."""
        fields["axes"] = tuple(over)
        kept = [size for axis, size in enumerate(x.shape) if axis not in over]
        result: Value
        if kept:
            out = self.empty(kept, dtype, order=order, of_arrays=True)
            self.library(kind, {"x": x}, {"out": out}, **fields)
            result = out
        else:
            out, result = self.scalar_container(dtype)
            self.library(kind, {"x": x}, {"out": out}, **fields)
        if not keepdims:
            return result
        for axis in sorted(over):
            out = out.expanded(axis)
        return out

    def library(
        self, kind: str, inputs: Mapping[str, ArrayValue], outputs: Mapping[str, ArrayValue], **fields: Any
    ) -> None:
        """Emit a library node by kind; the values become its memlets, those of one name and value the same one."""
        memlets_out = {name: self.operand(value) for name, value in outputs.items()}
        memlets_in = {
            name: memlets_out[name] if outputs.get(name) == value else self.operand(value)
            for name, value in inputs.items()
        }
        self.emit.node(LIBRARY_KINDS[kind](inputs=memlets_in, outputs=memlets_out, **fields))

    def operand(self, value: ArrayValue) -> Memlet:
        """A memlet whose kept dimensions are the value's, in order; through a view where no subset says it."""
        if value.is_plain:
            return Memlet(value.container, value.window)
        desc = value.as_view(self.desc(value))
        name = self.emit.view(desc)
        return Memlet(name, Subset.whole(desc.shape))

    # -- what may be written -----------------------------------------------------------------------------------------

    def invalidate_alias(self, container: str, reason: str, merge: object = None, *, renewed: bool = False) -> None:
        """Stores to this container, which may not be the one that Python would write, are refused from now on."""
        if container not in self.invalidated_aliases:
            self.invalidated_aliases[container] = InvalidatedAlias(reason, merge, renewed)
            self.emit.on_undo(lambda: self.invalidated_aliases.pop(container, None))

    def split_alias(self, one: str, other: str, merge: object = None) -> None:
        """Record that two containers are one array in Python: neither is written as long as both can be seen."""
        for left, right in ((one, other), (other, one)):
            known = self.aliased_copies.setdefault(left, {})
            if right not in known:
                known[right] = merge
                self.emit.on_undo(functools.partial(known.pop, right, None))

    def copied_view(self, copy: ArrayValue, source: ArrayValue, reason: str) -> None:
        """Record a copy that is, or may be, a view in Python: neither it nor, while seen, its source takes writes."""
        self.invalidate_alias(self.root(copy.container), reason)
        self.split_alias(self.root(source.container), self.root(copy.container))

    def copied_again(self, copy: ArrayValue, array: ArrayValue) -> None:
        """Record that a copy of a part of a list's array is a copy of what the list has copies of, too."""
        for other, merge in self.copies(self.root(array.container)):
            self.split_alias(self.root(copy.container), other, merge)

    def by_path(self, merge: object, error: DcpyError) -> Exception:
        """Return the exception for paths that do not agree; once all is tried, `error`."""
        return error if merge is None or merge in self.split_joins else PathsMatter(merge, error)

    def combine(self, container: str, resolution: str) -> None:
        """Stores to this container (a view of a tasklet's) are combined with what is there from now on."""
        self.combined_writes[container] = resolution
        self.emit.on_undo(lambda: self.combined_writes.pop(container, None))

    def forbid_writes(self, container: str, reason: str) -> None:
        """Stores to this container are refused from now on, for the reason given."""
        if container not in self.read_only:
            self.read_only[container] = reason
            self.emit.on_undo(lambda: self.read_only.pop(container, None))

    # -- memory ------------------------------------------------------------------------------------------------------

    def contiguous(self, value: ArrayValue) -> bool:
        """Return whether the elements are known to lie in C order without gaps."""
        desc = value.as_view(self.desc(value))
        wanted = data.packed_strides(value.shape)
        return all(
            size.constant in (0, 1) or stride is want
            for size, stride, want in zip(desc.shape, desc.strides, wanted, strict=True)
        )

    def desc(self, value: ArrayValue | str) -> Data:
        """The descriptor of a value's container."""
        return self.emit.descs[value if isinstance(value, str) else value.container]

    def root(self, container: str) -> str:
        """The container that owns the memory: views are followed."""
        while (shown := self.emit.shown_by(container)) is not None:
            container = shown
        return container

    def may_overlap(self, left: ArrayValue, right: ArrayValue) -> bool:
        """Return whether two values may share memory: one container, or arguments of one alias group."""
        return self.share_memory(left.container, right.container)

    def share_memory(self, left: str, right: str) -> bool:
        """Return what `may_overlap` says, for containers."""
        a, b = self.root(left), self.root(right)
        return a == b or b in self.overlapped(a)

    def overlapped(self, root: str) -> list[str]:
        """The other arguments that may share memory with this one: those of its alias group."""
        alias = self._alias(root)
        return [other for other in self.emit.descs if other != root and self._alias(other) == alias] if alias else []

    def _alias(self, container: str) -> str:
        desc = self.emit.descs.get(container)
        return desc.alias if isinstance(desc, Array) else ""
