"""Versions: where the value that a statement has read is when the statement is reversed.

A statement reads the value that stands before the *next* write of that memory, whenever that is. So the value is

* alive, where nothing writes it any more, in any iteration;
* computed again, where it is in a temporary of a loop's body with one plain writer: from versions of what that read;
* saved, before the next statement of the same body that writes the memory, itself included; where there is none, but
  the loop around writes it in another iteration, at the end of each iteration. A saved value has the trip numbers of
  the loops around the place where it is saved.

What is decided is a place in the program for each read, never a state for each iteration.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from dcpy.autodiff.activity import Activity
from dcpy.autodiff.kills import Kills
from dcpy.autodiff.obstacles import refuse
from dcpy.autodiff.reverse.code import forward_row
from dcpy.autodiff.reverse.items import ItemTree, LoopItem, Pointwise, ProgramItem
from dcpy.ir.analysis.dataflow.aliasing import in_base
from dcpy.ir.analysis.dataflow.value_ranges import ranges_at
from dcpy.ir.data import Array, Data, Scalar, View
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.expressions.scalar import Ref, ScalarExpr
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Node, Tasklet
from dcpy.ir.region import Block, Region, State
from dcpy.ir.subsets import DimSubset, Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr, Ranges, max_of, sym
from dcpy.ir.symbolic.function_terms import arguments_of, functions_in


@dataclass(frozen=True)
class SavePoint:
    """A place in the program: before an item, or at the end of the body of a loop."""

    item: ProgramItem
    is_end: bool = False

    def place(self) -> Region | Node | Block:
        """The region at whose end it is, or the element before which."""
        return self.item.loop.body if self.is_end and isinstance(self.item, LoopItem) else self.item.element

    def loops(self) -> tuple[LoopItem, ...]:
        """The loops around the place, outermost first."""
        return (*self.item.loops(), self.item) if self.is_end and isinstance(self.item, LoopItem) else self.item.loops()


@dataclass
class Tape:
    """Saved values of a box of a container, for each iteration of the loops around the place.

    A dimension of `box` is None where all of the container's is kept.
    """

    point: SavePoint
    container: str
    box: list[tuple[Expr, Expr] | None]
    name: str = ""


@dataclass
class Again:
    """A temporary of a loop's body that is computed again in the reversed body."""

    writer: Pointwise
    home: LoopItem
    name: str = ""
    inputs: dict[str, Memlet] = field(default_factory=dict)


class ReadVersions:
    """The values that reversed statements read. First each read is announced by `request`, then `read` says where."""

    def __init__(self, rw: Rewriter, program: ItemTree) -> None:
        self._rw, self._program = rw, program
        self._activity: Activity = program.activity
        self._kills = Kills(rw.uses, program)
        self.tapes: dict[tuple[SavePoint, str], Tape] = {}
        self.again: dict[str, Again] = {}
        self._homes: dict[str, LoopItem | None] = {}
        bodies = {id(item.loop.body): item for item in program.walk() if isinstance(item, LoopItem)}
        self._bodies: dict[int, LoopItem] = bodies

    # -- decisions ---------------------------------------------------------------------------------------------------

    def home(self, base: str) -> LoopItem | None:
        """The loop whose body declares a container; None for the program itself."""
        if base not in self._homes:
            region = self._rw.uses.home(base)
            self._homes[base] = self._bodies.get(id(region))
        return self._homes[base]

    def save_point(self, base: str, memlet: Memlet, reader: ProgramItem) -> SavePoint | None:
        """The place where a value that an item reads must be saved; None where it is alive later."""
        home = self.home(base)
        item, first = reader, True
        while True:
            around = item.around
            later = self._program.siblings(around)[item.position + (0 if first and not _holds(item) else 1) :]
            for other in later:
                if base in other.writes and self._kills.may_kill(memlet, reader, other, again=False):
                    return SavePoint(other)
            if around is None:
                return None
            if around is home:
                return SavePoint(around, is_end=True)
            if base in around.writes and self._kills.may_kill(memlet, reader, around, again=True):
                return SavePoint(around, is_end=True)
            item, first = around, False

    def _recomputed(self, base: str, reader: ProgramItem) -> Again | None:
        """The way to compute a temporary of a loop's body again, if there is one."""
        if base in self.again:
            return self.again[base]
        home, writers = self.home(base), self._program.writers(base)
        if home is None or len(writers) != 1:
            return None
        writer = writers[0]
        plain = isinstance(writer, Pointwise) and not writer.gathers and writer.around is home
        if not plain or not isinstance(writer, Pointwise) or base in writer.reads:
            return None
        if any(memlet.wcr for memlet in writer.outputs.values()):
            return None
        at = reader
        while at.around is not home:
            if at.around is None:
                return None
            at = at.around
        if at.position <= writer.position:
            return None
        return Again(writer, home)

    # -- announcing --------------------------------------------------------------------------------------------------

    def request(self, memlet: Memlet, reader: ProgramItem, *, ordered: bool = False) -> None:
        """Announce that the reversed item reads the value that the item has read; see `place` for `ordered`."""
        base = self._activity.base(memlet.container)
        found = self._recomputed(base, reader)
        if found is not None:
            if base not in self.again:
                self.again[base] = found
                for needed in self.inputs_again(found, base):
                    self.request(needed, found.writer)
            return
        point = self.save_point(base, memlet, reader)
        if point is None:
            return
        name, subset = self.place(memlet, ordered=ordered)
        desc = self._rw.uses.desc(name)
        box = self._box(subset, reader, point, desc)
        key = (point, name)
        if key in self.tapes:
            self.tapes[key].box = _union(self.tapes[key].box, box)
        else:
            self.tapes[key] = Tape(point, name, box)

    def inputs_again(self, found: Again, base: str) -> list[Memlet]:
        """The elements that a temporary is computed from."""
        _, names = forward_row(found.writer, self.results_of(found, base))
        return [found.writer.inputs[name] for name in names if name in found.writer.inputs]

    def results_of(self, found: Again, base: str) -> dict[str, ScalarExpr]:
        """The results of the writer of a temporary that go into it."""
        outputs = found.writer.outputs
        own = [name for name in outputs if self._activity.base(outputs[name].container) == base]
        return {name: found.writer.results[name] for name in own}

    def place(self, memlet: Memlet, *, ordered: bool = False) -> tuple[str, Subset]:
        """The container whose elements a memlet names, and which; a view of another shape stands for itself.

        If dimensions are to stay `ordered`, so does a view whose axes are not those of its base in order.
        """
        base, subset = in_base(memlet, self._rw.uses.desc)
        stays = subset is None or (ordered and not self._is_in_order(memlet.container))
        return (memlet.container, memlet.subset) if subset is None or stays else (base, subset)

    def _is_in_order(self, name: str) -> bool:
        while isinstance(desc := self._rw.uses.desc(name), View):
            axes = [axis for axis in desc.axes if axis >= 0]
            if axes != sorted(axes) or len(axes) != len(desc.axes):
                return False
            name = desc.of
        return True

    def _box(
        self, subset: Subset, reader: ProgramItem, point: SavePoint, desc: Data
    ) -> list[tuple[Expr, Expr] | None]:
        """The smallest box of elements that all points of the reader touch; None for dimensions that are not known."""
        inner = [loop for loop in reader.loops() if loop not in point.loops()]
        axes = {loop.loop.param: loop.loop.range for loop in inner}
        if isinstance(reader, Pointwise):
            axes |= dict(zip(reader.params, reader.domain, strict=True))
        known = {*self._rw.sdfg.symbols, *(loop.loop.param for loop in point.loops())}
        varying = {loop.loop.param for loop in point.loops()}
        ranges = ranges_at(point.place())
        found: list[tuple[Expr, Expr] | None] = []
        for dim, size in zip(subset.dims, desc.shape, strict=True):
            hull = _hull(dim, axes)
            if hull is not None:
                low, stop = hull
                is_known = set(low.symbols) | set(stop.symbols) <= known
                is_steady = not set((stop - low).symbols) & varying
                inside = ranges.proves_nonneg(low) and ranges.proves_le(stop, size)
                hull = hull if is_known and is_steady and inside else None
            found.append(hull)
        return found

    # -- reading -----------------------------------------------------------------------------------------------------

    def read(self, memlet: Memlet, reader: ProgramItem, *, ordered: bool = False) -> Memlet:
        """The elements, in the parameters of the program as it was, that hold the value that an item has read.

        Views stay what they are, also of a temporary that is computed again.
        """
        base = self._activity.base(memlet.container)
        name, subset = self.place(memlet, ordered=ordered)
        if base in self.again and self._recomputed(base, reader) is not None:
            return Memlet(self.again[base].name if name == base else name, subset)
        point = self.save_point(base, memlet, reader)
        if point is None:
            return Memlet(name, subset)
        tape = self.tapes[point, name]
        places: list[DimSubset] = [trip_number(loop) for loop in point.loops()]
        for dim, kept in zip(subset.dims, tape.box, strict=True):
            low = ZERO if kept is None else kept[0]
            places.append(dim - low if isinstance(dim, Expr) else Range(dim.start - low, dim.stop - low, dim.step))
        return Memlet(tape.name, Subset(tuple(places)))

    # -- saving ------------------------------------------------------------------------------------------------------

    def write_tapes(self) -> None:
        """Declare the tapes, and save the values where they are read for the last time."""
        for tape in self.tapes.values():
            self._write(tape)

    def _write(self, tape: Tape) -> None:
        rw, point = self._rw, tape.point
        desc = rw.uses.desc(tape.container)
        sizes = [trips(loop) for loop in point.loops()]
        steady = {*rw.sdfg.symbols, *(name for name in rw.sdfg.assigned_symbols if self._is_outermost(name))}
        for low, stop in self._bounds(tape, desc):
            known = largest(stop - low, point.loops())
            size = stop - low if known is None else known
            ranges = Ranges({name: (ZERO, None) for name in rw.sdfg.sizes})
            sizes.append(size if ranges.proves_nonneg(size) else max_of(size, 0))
        for size in sizes:
            if not set(size.symbols) <= steady:
                refuse(f"how much of {tape.container!r} must be kept depends on a loop ({size})", point.item.element,
                       "write loops whose lengths do not depend on what they compute")  # fmt: skip
        shape = tuple(sizes)
        own: Data = Array.packed(desc.dtype, shape, transient=True) if shape else Scalar(desc.dtype, transient=True)
        tape.name = rw.declare_fresh(f"{tape.container}_tape", own)
        node = self._saving(tape, desc)
        element = point.item.element
        if point.is_end:
            assert isinstance(point.item, LoopItem)
            rw.insert(State(nodes=[node]), point.item.loop.body)
        elif isinstance(element, Node):
            rw.add_node_before(element, node)
        else:
            rw.insert_before(element, State(nodes=[node]))

    def _is_outermost(self, name: str) -> bool:
        found = self._rw.uses.definers(name)
        return len(found) == 1 and getattr(found[0], "region", None) is self._rw.sdfg.body

    def _bounds(self, tape: Tape, desc: Data) -> list[tuple[Expr, Expr]]:
        return [(ZERO, size) if kept is None else kept for kept, size in zip(tape.box, desc.shape, strict=True)]

    def _saving(self, tape: Tape, desc: Data) -> Node:
        names = [self._rw.fresh_name("k") for _ in desc.shape]
        bounds = self._bounds(tape, desc)
        places = [low + sym(name) for name, (low, _) in zip(names, bounds, strict=True)]
        numbers = [trip_number(loop) for loop in tape.point.loops()]
        source = Memlet(tape.container, Subset(tuple(places)))
        target = Memlet(tape.name, Subset((*numbers, *map(sym, names))))
        return mapped(names, [Range(ZERO, stop - low) for low, stop in bounds], copied(source, target, desc))


def _holds(item: ProgramItem) -> bool:
    return isinstance(item, LoopItem)


def copied(source: Memlet, target: Memlet, desc: Data) -> Tasklet:
    """A tasklet that moves one element."""
    return Tasklet({"value": source}, {"out": target}, (("out", Ref("value", desc.dtype)),))


def mapped(params: Iterable[str], domain: Iterable[Range], *nodes: Node) -> Node:
    """Nodes for all points of a box; a single one as it is where there are no parameters."""
    names = tuple(params)
    if not names:
        return nodes[0]
    return Map(names, tuple(domain), Region([State(nodes=list(nodes))]))


# -- boxes and trip numbers ------------------------------------------------------------------------------------------


def trips(item: LoopItem) -> Expr:
    """The number of iterations of a loop, at least 0; of one whose bounds depend on loops around it the largest."""
    size = largest(_limit(item.loop.range.size), item.loops())
    if size is None:
        refuse(f"how often {item.loop.title} runs depends on loops around it in no simple way", item.element,
               "write bounds that are sums of loop variables")  # fmt: skip
    return size if Ranges().proves_nonneg(size) else max_of(size, 0)


def _limit(size: Expr) -> Expr:
    """The number that a size is at most, where it is a minimum of one; else itself."""
    for part in functions_in(size, "min"):
        numbers = [arg for arg in arguments_of(part) if arg.constant is not None]
        if numbers and size in (part, max_of(0, part)):
            return min(numbers, key=lambda number: number.constant or 0)
    return size


def largest(size: Expr, around: Iterable[LoopItem]) -> Expr | None:
    """A size in a nest of loops without their parameters, at least as large as in any iteration; None if not known."""
    for outer in reversed(tuple(around)):
        name = outer.loop.param
        if name not in size.symbols:
            continue
        if size.linear_in(name) is None:
            return None
        span = outer.loop.range
        size = max_of(size.subs({name: span.start}), size.subs({name: span.last}))
    return size


def trip_number(item: LoopItem) -> Expr:
    """The number of an iteration, from 0, by the parameter of its loop."""
    values = item.loop.range
    ahead = sym(item.loop.param) - values.start
    step = values.step.constant
    assert step is not None
    if step in (1, -1):
        return ahead * step
    return ahead // step if step > 0 else (-ahead) // -step


def _hull(dim: DimSubset, axes: dict[str, Range]) -> tuple[Expr, Expr] | None:
    """The smallest and one more than the largest index along a dimension, for all values of some parameters."""
    if isinstance(dim, Range) and dim.step is not ONE:
        return None
    ends = (dim, dim + 1) if isinstance(dim, Expr) else (dim.start, dim.stop)
    for name in [name for name in axes if any(name in end.symbols for end in ends)]:
        values = axes[name]
        step = values.step.constant
        forms = [end.linear_in(name) for end in ends]
        if step is None or any(form is None or form[0].constant is None for form in forms):
            return None
        if any(other in (*values.start.symbols, *values.stop.symbols) for other in axes):
            return None
        low, high = (values.start, values.last) if step > 0 else (values.last, values.start)
        places = [(low, high) if form is None or (form[0].constant or 0) >= 0 else (high, low) for form in forms]
        ends = (ends[0].subs({name: places[0][0]}), ends[1].subs({name: places[1][1]}))
    return ends


def _union(
    left: list[tuple[Expr, Expr] | None], right: list[tuple[Expr, Expr] | None]
) -> list[tuple[Expr, Expr] | None]:
    found: list[tuple[Expr, Expr] | None] = []
    for one, other in zip(left, right, strict=True):
        if one is None or other is None:
            found.append(None)
            continue
        below, above = (other[0] - one[0]).constant, (other[1] - one[1]).constant
        if below is None or above is None:
            found.append(None)
            continue
        found.append((one[0] + min(below, 0), one[1] + max(above, 0)))
    return found
