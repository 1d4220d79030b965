"""Data descriptors: what a container is, never where its bytes come from.

All are frozen values; ``sdfg.redeclare`` replaces one. A container with ``transient=True`` belongs to the region that
declares it; the others are arguments and are declared in the SDFG's outermost region.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import lru_cache

from dcpy.base.source import SrcSpan
from dcpy.ir.distribution import Distribution
from dcpy.ir.fpga.memory import Bank, Partition
from dcpy.ir.subsets import DimSubset, Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr, ExprLike, as_expr, as_exprs
from dcpy.ir.types import DType


class Space(Enum):
    """Memory spaces: they differ in the processors that can address them. Arguments have one, too: that of the caller.

    In the textual form it is ``@global``; that of the host is left out.
    """

    HOST = "host"
    PINNED = "pinned"  #: of the host, at a fixed place, which a device reads and writes too
    GLOBAL = "global"  #: of a device, seen by all its threads
    SHARED = "shared"  #: on the chip of a device, seen by a block of threads
    LOCAL = "local"  #: on the chip of a device, seen by one process


class Allocation(Enum):
    """Allocation of a transient. Passes decide; `UNDECIDED` is not allowed in codegen form."""

    UNDECIDED = "undecided"
    REGISTER = "register"
    STACK = "stack"
    HEAP = "heap"
    BRAM = "bram"  #: blocks of memory on the chip of an FPGA, each with two ports
    REGISTERS = "registers"  #: of an FPGA: each element of an array is one
    SHIFT_REGISTER = "shift_register"  #: registers in a row: all move on by one, taps are at fixed places


class Lifetime(Enum):
    """Lifetime of a transient: one execution of its region, one call, or from the first call to unloading."""

    SCOPE = "scope"
    CALL = "call"
    PERSISTENT = "persistent"


@dataclass(frozen=True, slots=True)
class Scalar:
    """One element. As an argument it is passed by value and never written."""

    dtype: DType
    transient: bool = False
    space: Space = Space.HOST
    allocation: Allocation = Allocation.UNDECIDED
    span: SrcSpan | None = field(default=None, compare=False, repr=False)

    @property
    def shape(self) -> tuple[Expr, ...]:
        return ()

    @property
    def strides(self) -> tuple[Expr, ...]:
        return ()

    @property
    def storage(self) -> tuple[object, ...]:
        """Storage: the memory and the allocation."""
        return self.space, self.allocation

    def subs(self, values: Mapping[str, ExprLike]) -> Scalar:
        return self


#: of the elements in memory: ``C``, ``F``, or the axes from the slowest to the fastest
Order = str | Sequence[int]


@dataclass(frozen=True, slots=True)
class Array:
    """A strided n-dimensional buffer. `strides` are in elements, not bytes; element 0 is at the buffer's start.

    Arguments with the same non-empty `alias` may overlap in memory; all analyses treat them as one container of
    which nothing is known. On an FPGA `bank` says in which memory it is, and `partition` how memory on the chip is cut.
    A `distribution` says on which ranks of a grid the elements are; none: on each, all of them.
    """

    dtype: DType
    shape: tuple[Expr, ...]
    strides: tuple[Expr, ...]
    transient: bool = False
    space: Space = Space.HOST
    allocation: Allocation = Allocation.UNDECIDED
    lifetime: Lifetime = Lifetime.SCOPE
    alias: str = ""
    bank: Bank | None = None
    partition: tuple[Partition, ...] = ()
    span: SrcSpan | None = field(default=None, compare=False, repr=False)
    distribution: Distribution | None = None

    @classmethod
    def packed(
        cls,
        dtype: DType,
        shape: Sequence[ExprLike],
        *,
        order: Order = "C",
        transient: bool = False,
        alias: str = "",
        span: SrcSpan | None = None,
    ) -> Array:
        """An array without padding, in C or Fortran order, or that of its axes from the slowest to the fastest."""
        sizes = as_exprs(shape)
        return cls(dtype, sizes, packed_strides(sizes, order), transient, alias=alias, span=span)

    @property
    def is_packed(self) -> bool:
        """Return whether the elements lie in C order without gaps."""
        return self.strides == packed_strides(self.shape)

    @property
    def axes(self) -> tuple[int, ...] | None:
        """The axes from the slowest to the fastest where the elements lie without gaps; None where they do not."""
        return packed_axes(self.shape, self.strides)

    @property
    def storage(self) -> tuple[object, ...]:
        """Storage: the memory, the allocation, and, if the array is on several ranks, its distribution."""
        places = (self.space, self.allocation)
        return places if self.distribution is None else (*places, self.distribution)

    def subs(self, values: Mapping[str, ExprLike]) -> Array:
        return replace(
            self,
            shape=tuple(size.subs(values) for size in self.shape),
            strides=tuple(stride.subs(values) for stride in self.strides),
            distribution=None if self.distribution is None else self.distribution.subs(values),
        )


@dataclass(frozen=True, slots=True)
class View:
    """Another way to see the elements of the container `of`: a slice, a transpose, a reshape.

    Element ``[i, ...]`` is at ``offset + sum(i * stride)`` elements (of this dtype) from the start of `of`'s buffer.
    Where the view is a slice, `window` is the subset of `of` that it shows and ``axes[k]`` the dimension of `of` that
    dimension k runs along (-1: a new axis, or a broadcast one of stride 0); then offset and strides follow from
    them. A reshape or reinterpretation has no window.
    """

    of: str
    dtype: DType
    shape: tuple[Expr, ...]
    strides: tuple[Expr, ...]
    offset: Expr = ZERO
    window: Subset | None = None
    axes: tuple[int, ...] = ()
    span: SrcSpan | None = field(default=None, compare=False, repr=False)

    transient = True  # a view is never an argument

    @classmethod
    def slice(
        cls,
        of: str,
        desc: Data,
        window: Subset,
        *,
        axes: Sequence[int] | None = None,
        sizes: Mapping[int, Expr] | None = None,
        span: SrcSpan | None = None,
    ) -> View:
        """The view of `window` of the container `of`, whose descriptor is `desc`.

        `axes` permutes the kept dimensions or inserts new ones (-1); default: the kept ones in order. `sizes` gives
        the extent of new axes where it is not 1 (broadcasting; such a view is only read).
        """
        kept = [axis for axis, dim in enumerate(window.dims) if isinstance(dim, Range)]
        order = tuple(kept if axes is None else axes)
        offset, base = ZERO, strides_of(desc)
        if isinstance(desc, View):
            offset = desc.offset
        for dim, stride in zip(window.dims, base, strict=True):
            offset = offset + (dim.start if isinstance(dim, Range) else dim) * stride
        shape, strides = [], []
        for position, axis in enumerate(order):
            shown: DimSubset | None = window.dims[axis] if axis >= 0 else None
            shape.append(shown.size if isinstance(shown, Range) else (sizes or {}).get(position, ONE))
            strides.append(base[axis] * shown.step if isinstance(shown, Range) else ZERO)
        return cls(of, desc.dtype, tuple(shape), tuple(strides), offset, window, order, span)

    @classmethod
    def reshape(cls, of: str, desc: Data, shape: Sequence[ExprLike], *, span: SrcSpan | None = None) -> View:
        """The packed container `of` seen in another shape of as many elements."""
        sizes = as_exprs(shape)
        offset = desc.offset if isinstance(desc, View) else ZERO
        return cls(of, desc.dtype, sizes, packed_strides(sizes), offset, span=span)

    def base_subset(self, subset: Subset) -> Subset | None:
        """Return the subset of `of` that a subset of the view shows; None for a reshape, which has no box to name."""
        if self.window is None:
            return None
        inner: dict[int, Expr | Range] = {
            axis: dim for axis, dim in zip(self.axes, subset.dims, strict=True) if axis >= 0
        }
        kept = [axis for axis, dim in enumerate(self.window.dims) if isinstance(dim, Range)]
        if any(axis not in inner for axis in kept):
            return None
        return self.window.compose(Subset(tuple(inner[axis] for axis in kept)))

    def subs(self, values: Mapping[str, ExprLike]) -> View:
        return replace(
            self,
            shape=tuple(size.subs(values) for size in self.shape),
            strides=tuple(stride.subs(values) for stride in self.strides),
            offset=self.offset.subs(values),
            window=None if self.window is None else self.window.subs(values),
        )


@dataclass(frozen=True, slots=True)
class Stream:
    """First-in, first-out queues, one per point of `shape`. `capacity` 0 means unbounded.

    What goes through a queue is an element, or with `token` a packed block of that shape: pushed whole, popped whole.
    """

    dtype: DType
    shape: tuple[Expr, ...] = ()
    capacity: Expr = ZERO
    transient: bool = True
    token: tuple[int, ...] = ()
    span: SrcSpan | None = field(default=None, compare=False, repr=False)

    @property
    def strides(self) -> tuple[Expr, ...]:
        return packed_strides(self.shape)

    def subs(self, values: Mapping[str, ExprLike]) -> Stream:
        shape = tuple(size.subs(values) for size in self.shape)
        return replace(self, shape=shape, capacity=self.capacity.subs(values))


Data = Scalar | Array | View | Stream

#: Containers that older versions had, and what to write instead.
GONE = {
    "reference": "references are gone: copy with a branch, or make an array with one more dimension",
    "structure": "structures are gone: declare each field as an argument of its own",
}


def packed_strides(shape: Sequence[Expr], order: Order = "C") -> tuple[Expr, ...]:
    """Strides in elements of an array without gaps: last index fastest in C order, first in Fortran order."""
    return _packed_strides(tuple(shape), order if isinstance(order, str) else tuple(order))


@lru_cache(maxsize=4096)
def _packed_strides(shape: tuple[Expr, ...], order: Order) -> tuple[Expr, ...]:
    if isinstance(order, str):
        order = range(len(shape)) if order == "C" else range(len(shape))[::-1]
    strides = [ONE] * len(shape)
    step = ONE
    for axis in reversed(order):
        strides[axis] = step
        step = step * shape[axis]
    return tuple(strides)


@lru_cache(maxsize=4096)
def packed_axes(shape: tuple[Expr, ...], strides: tuple[Expr, ...]) -> tuple[int, ...] | None:
    """The order of axes, slowest first, that `packed_strides` gives these strides for; None where there is none."""
    every = tuple(range(len(shape)))
    rest, found, step = [*every], list[int](), ONE
    if tuple(strides) == packed_strides(shape):
        return every
    while rest:
        fitting = [axis for axis in reversed(rest) if strides[axis] is step]
        if not fitting:
            return None
        axis = next((axis for axis in fitting if shape[axis] is ONE), fitting[0])
        rest.remove(axis)
        found.append(axis)
        step = step * shape[axis]
    return tuple(reversed(found))


def strides_of(desc: Data) -> tuple[Expr, ...]:
    """Strides in elements; () for a scalar."""
    return tuple([as_expr(stride) for stride in desc.strides])


def is_scalar(desc: Data) -> bool:
    """Return whether it is one element, by value."""
    return isinstance(desc, Scalar) or (isinstance(desc, Array) and desc.transient and not desc.shape)
