"""Windows of stencils: an array is read once, in its order, and a shift register has what iterations need of it.

Taps are at places of the register that do not change. A point p of the stencil's domain needs elements p + o; all of
them lie in a box, whose elements come row by row. The element o is `tap(o)` elements behind the place of p there. Once
the last tap of a point has come, all of its taps are in the register:

    elements    . . . a b c d e f g h . .      register  [a b c d e f g]  of 1 + the distance of first and last tap

Between rows of points there are elements of the box at which no point begins: they are only shifted in.
(Zohouri, High Performance Computing with FPGAs and OpenCL, 2018, section 5.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from operator import mul

from dcpy.ir.data import Allocation, Array, Space
from dcpy.ir.fpga.memory import how_to_number
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Map
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Block, Loop, Region, State
from dcpy.ir.schedules import SEQUENTIAL, UNROLLED, Pipelined
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr, ExprLike, Ranges, as_expr, const, min_of, sym
from dcpy.ir.types import DType

WIDEST = 1024  #: elements of a shift register: each is a register of its own


@dataclass(frozen=True, slots=True)
class StencilWindow:
    """A box of elements, and where in its order the taps are. All is in numbers but where it starts, and its rows."""

    start: tuple[Expr, ...]  #: of the box
    rows: Expr  #: points along the first dimension
    reach: int  #: how much further the box goes along it, if there are points
    extents: tuple[int, ...]  #: of the box along the other dimensions
    points: tuple[int, ...]  #: of the domain along these
    taps: tuple[int, ...]  #: elements behind the place of a point, for each read

    @property
    def width(self) -> int:
        """Elements from the first tap to the last one."""
        return max(self.taps) - min(self.taps) + 1

    @property
    def strides(self) -> tuple[int, ...]:
        """Strides in elements of the box, which come row by row."""
        return tuple(reversed(list(accumulate((1, *reversed(self.extents)), mul))))

    @property
    def gaps(self) -> tuple[int, ...]:
        """Elements at which no point begins, before each row of points along a dimension; none along the first."""
        sizes = zip(self.extents, self.points, self.strides[1:], strict=True)
        return (0, *((extent - points) * stride for extent, points, stride in sizes))

    @property
    def before(self) -> int:
        """Elements that come before the first row of points, if there is one."""
        return max(self.taps) - sum(self.gaps)

    @property
    def after(self) -> int:
        """Elements that come behind the last tap of the last point, if there is one."""
        last = sum((points - 1) * stride for points, stride in zip(self.points, self.strides[1:], strict=True))
        return (1 + self.reach) * self.strides[0] - last - max(self.taps) - 1

    def if_any(self, count: int) -> Expr:
        """So many, or none where there are no points: nothing is read then."""
        return min_of(const(1), self.rows) * count

    @property
    def box(self) -> tuple[Expr, ...]:
        """Number of elements that are read along each dimension."""
        return (self.rows + self.if_any(self.reach), *map(const, self.extents))


def window_of(memlets: Sequence[Memlet], node: Map, ranges: Ranges) -> StencilWindow | Refusal:
    """The window of the elements of one array that the iterations of a map read."""
    if len(memlets) < 2:
        return Refusal("it is read at one place")
    sizes = [values.size.constant for values in node.domain[1:]]
    points = tuple(size for size in sizes if size)
    if len(points) < len(sizes) or any(values.step is not ONE for values in node.domain) or node.domain[0].size is ZERO:
        names = [name for values in node.domain[1:] for name in values.symbols]
        return Refusal(f"a shift register needs rows of constant sizes: {how_to_number(names)}")
    offsets = [offset_of(memlet, node.params) for memlet in memlets]
    known = [offset for offset in offsets if offset is not None]
    if len(known) < len(offsets):
        return Refusal("it is not read at constant distances")
    first = tuple(min(offset[dim] for offset in known) for dim in range(len(node.params)))
    last = tuple(max(offset[dim] for offset in known) for dim in range(len(node.params)))
    reach, *more = (high - low for high, low in zip(last, first, strict=True))
    start = tuple(values.start + least for values, least in zip(node.domain, first, strict=True))
    extents = tuple(count + further for count, further in zip(points, more, strict=True))
    box = StencilWindow(start, node.domain[0].size_within(ranges), reach, extents, points, ())
    taps = tuple(
        sum((one - low) * stride for one, low, stride in zip(offset, first, box.strides, strict=True))
        for offset in known
    )
    window = replace(box, taps=taps)
    if window.width > WIDEST:
        return Refusal(f"its window has {window.width} elements, more than {WIDEST}")
    in_order = window.before >= 0 and window.after >= 0
    return window if in_order else Refusal("its reads do not follow the order of its elements")


def offset_of(memlet: Memlet, params: Sequence[str]) -> tuple[int, ...] | None:
    """Return the distance of an element from the point, along each dimension."""
    indices = memlet.subset.indices
    found = [(index - sym(param)).constant for index, param in zip(indices, params, strict=False)]
    numbers = tuple(number for number in found if number is not None)
    return numbers if len(numbers) == len(params) == len(indices) else None


def box_loops(
    start: Sequence[ExprLike], extents: Sequence[ExprLike], params: Sequence[str]
) -> tuple[Subset, list[tuple[str, Range]]]:
    """The elements of a box, in order."""
    ends = [as_expr(at) + count for at, count in zip(start, extents, strict=True)]
    loops = [(name, Range.of(at, end)) for name, at, end in zip(params, start, ends, strict=True)]
    return Subset.point(*(sym(name) for name in params)), loops


@dataclass(frozen=True, slots=True)
class WindowNames:
    """Fresh names for a window process."""

    register: str
    counters: tuple[str, ...]  #: of the loops over points, then of elements before, in gaps (one each), and after
    shifts: tuple[str, ...]


def window_body(window: StencilWindow, dtype: DType, source: str, queues: Sequence[str], names: WindowNames) -> Region:
    """Return the body of a window's process: its element in, the taps of a point out."""
    shape = (const(window.width),)
    desc = Array(dtype, shape, (const(1),), True, Space.LOCAL, Allocation.SHIFT_REGISTER)
    shifts = iter(names.shifts)

    def taken(counter: str, count: ExprLike, pushed: bool = False) -> Loop:
        shift = next(shifts)
        moved = Copy(_at(names.register, sym(shift) + const(1)), _at(names.register, sym(shift)))
        blocks: list[Block] = []
        if window.width > 1:
            blocks.append(Loop(shift, Range.of(0, window.width - 1), Region([State(nodes=[moved])]), UNROLLED))
        newest = window.width - 1
        blocks.append(State(nodes=[Copy(Memlet(source, Subset()), _at(names.register, newest))]))
        if pushed:
            places = [newest - (max(window.taps) - tap) for tap in window.taps]
            pushes = [
                Copy(_at(names.register, place), Memlet(queue, Subset()))
                for place, queue in zip(places, queues, strict=True)
            ]
            blocks.append(State(nodes=list(pushes)))
        return Loop(counter, Range.of(0, count), Region(blocks), Pipelined(1))

    points = (window.rows, *map(const, window.points))
    *rows, columns = names.counters[: len(points)]
    before, after, *gaps = names.counters[len(points) :]
    body = Region([taken(columns, points[-1], pushed=True)])
    for dim in range(len(points) - 1, 0, -1):
        if window.gaps[dim]:
            body.insert(0, taken(gaps[dim - 1], window.gaps[dim]))
        body = Region([Loop(rows[dim - 1], Range.of(0, points[dim - 1]), body, SEQUENTIAL)])
    if window.before:
        body.insert(0, taken(before, window.if_any(window.before)))
    if window.after:
        body.add(taken(after, window.if_any(window.after)))
    body.containers[names.register] = desc
    return body


def _at(register: str, place: Expr | int) -> Memlet:
    return Memlet(register, Subset.point(as_expr(place)))
