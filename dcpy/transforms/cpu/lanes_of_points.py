"""SPMD lanes: the variables of several points lie next to each other, and an iteration computes all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dcpy.ir.data import Array, Scalar
from dcpy.ir.editing.cloning import clone_body
from dcpy.ir.editing.nest_edits import expand_map, reorder_axes, split_axis
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.editing.substitution import Substitution
from dcpy.ir.expressions.scalar import Const, Load, Ref, ScalarExpr, cast, op
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.region import Block, Branch, Break, Loop, Region, State, While
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import Expr, sym
from dcpy.ir.tree import is_inside, nodes_of
from dcpy.ir.types import DType, bool_, int32, int64
from dcpy.transforms.cpu.if_conversion import Lane, Parts, key_of, needed, written
from dcpy.transforms.cpu.tiles_of_points import followed_axis


@dataclass
class LoopPoints:
    """A map, the loop at each of its points, and the blocks before and after the loop.

    Memlets list the scalars of a point and the outside elements that the loop writes, and those that the loop or the
    blocks after it only read. `unsure`: lanes cannot always decide a condition of the loop.
    """

    node: Map
    loop: Loop | While
    before: Sequence[Block]
    behind: Sequence[Block]
    unsure: bool
    carried: dict[Memlet, None] = field(default_factory=dict)
    given: dict[Memlet, None] = field(default_factory=dict)
    stored: dict[Memlet, None] = field(default_factory=dict)
    fetched: dict[Memlet, None] = field(default_factory=dict)


def put_in_lanes(points: LoopPoints, lanes: int, rw: Rewriter) -> str:
    """Tile the map, and run the points of a tile in lockstep; return the tiled parameter."""
    node = points.node
    along = followed_axis(node, rw.uses) or node.params[-1]
    reorder_axes(node, (*(param for param in node.params if param != along), along), rw)
    tile = split_axis(node, along, lanes, rw)
    _LaneTile(points, expand_map(node, len(node.params) - 1, rw), sym(tile), lanes, rw).build()
    return along


class _LaneTile:
    """A tile of points: arrays of their variables, ``name[lane]``, and maps over the lanes.

    `first` is a map over the points of the tile; it is reduced to the blocks before the loop.
    """

    def __init__(self, points: LoopPoints, first: Map, tile: Expr, lanes: int, rw: Rewriter) -> None:
        self.points, self.first, self.tile, self.lanes, self.rw = points, first, tile, lanes, rw
        (self.along,) = first.params
        assert first.state is not None
        assert first.state.region is not None
        self.body = first.state.region
        fetched = (m for m in points.fetched if self.along in m.subset.symbols or m in points.stored)
        self.loaded = list(dict.fromkeys([*points.given, *points.carried, *fetched]))
        own = dict.fromkeys([*self.loaded, *points.stored])
        widths = [rw.uses.desc(memlet.container).dtype.real.itemsize for memlet in own]
        self.flag = int64 if 8 in widths else int32
        self.variables = {memlet: self._variable(memlet) for memlet in own}
        self.active = self._array("active", self.flag)
        self.unsure = self._array("unsure", self.flag) if points.unsure else ""
        self.wrote = {memlet: self._array("wrote", self.flag) for memlet in points.stored}
        self.left = rw.declare_fresh("left", Scalar(int64, transient=True), self.body)

    def build(self) -> None:
        """Build the tile: zeros, the blocks before the loop, the loop in lockstep, the blocks after it."""
        rw, first, span = self.rw, self.first, self.points.node.span
        assert first.state is not None
        lane = rw.fresh_name(self.along)
        alone = clone_body(first.body, {self.along: sym(lane)}, rw) if self.points.unsure else None
        loop = self._loop()
        last = Map((lane,), first.domain, Region(), span=span)
        rw.erase(self.points.loop)
        rw.add_node_before(first, self._cleared())
        rw.insert_after(first.state, loop, State(nodes=[last], span=span))
        rw.move_blocks(self.points.behind, last.body)
        rw.substitute_symbols({self.along: sym(lane)}, within=last.body)
        self._load()
        self._store(last)
        if alone is not None:
            blocks, rest = list(last.body.blocks), Region()
            lost = self._is_set(self.unsure, sym(lane) - self.tile)
            rw.insert(Branch([(lost, alone)], rest, span=span), last.body, 0)
            rw.move_blocks(blocks, rest)
        rw.undeclare_unused(list(first.body.containers))

    # -- variables ---------------------------------------------------------------------------------------------------

    def _array(self, stem: str, dtype: DType) -> str:
        desc = Array.packed(dtype, (self.lanes,), transient=True)
        return self.rw.declare_fresh(f"{stem}_lanes", desc, self.body)

    def _variable(self, memlet: Memlet) -> tuple[str, ...]:
        """Declare an array for each part of a number; truth values are as wide as numbers, so that both vectorize."""
        dtype, name = self._dtype(memlet.container), memlet.container
        if dtype.kind == "c":
            return self._array(f"{name}_real", dtype.real), self._array(f"{name}_imag", dtype.real)
        return (self._array(name, self.flag if dtype == bool_ else dtype),)

    def _is_set(self, flags: str, lane: Expr) -> ScalarExpr:
        return op("ne", Load(flags, (lane,), self.flag), Const(0, self.flag))

    def _assign(self, state: State, inputs: dict[str, Memlet], outputs: Sequence[Memlet], parts: Parts) -> None:
        names = [f"out_{number}" for number in range(len(outputs))]
        code = tuple(zip(names, parts, strict=True))
        self.rw.add_node(Tasklet(inputs, dict(zip(names, outputs, strict=True)), code), state)

    # -- before the loop ---------------------------------------------------------------------------------------------

    def _cleared(self) -> Map:
        """Set all lanes to zero and inactive, also lanes without a point."""
        lane = self.rw.fresh_name("lane")
        names = [name for names in self.variables.values() for name in names]
        names += [self.active, *self.wrote.values(), *([self.unsure] if self.unsure else [])]
        outputs = {name: Memlet(name, Subset.point(sym(lane))) for name in names}
        code = tuple((name, _zero(self._dtype(name))) for name in names)
        return Map((lane,), (Range.of(0, self.lanes),), Region([State(nodes=[Tasklet({}, outputs, code)])]))

    def _load(self) -> None:
        """Load the variables of the points into their lanes, and activate these."""
        known = {memlet.container for node in self.first.body.walk_nodes() for memlet in node.writes()}
        loads = State(span=self.first.span)
        self.rw.insert(loads, self.first.body)
        at = Subset.point(sym(self.along) - self.tile)
        for memlet in self.loaded:
            if memlet not in self.variables:
                continue  # not used
            if memlet.container in self.first.body.containers and memlet.container not in known:
                continue  # a variable that has no value yet
            value = Ref("value", self._dtype(memlet.container))
            parts: Parts = (value,)
            if value.dtype.kind == "c":
                parts = op("real", value), op("imag", value)
            elif value.dtype == bool_:
                parts = (cast(value, self.flag),)
            self._assign(loads, {"value": memlet}, [Memlet(name, at) for name in self.variables[memlet]], parts)
        self._assign(loads, {}, [Memlet(self.active, at)], (Const(1, self.flag),))

    # -- the loop ----------------------------------------------------------------------------------------------------

    def _loop(self) -> Loop | While:
        """The loop over iterations of all lanes; it ends when the last lane has left."""
        loop, left = self.points.loop, Memlet(self.left, Subset())
        zero = Tasklet({}, {"out": left}, (("out", Const(0, int64)),))
        step = State(nodes=[zero, self._step()], span=loop.span)
        none = op("eq", Load(self.left, (), int64), Const(0, int64))
        ending = Branch([(none, Region([Break(span=loop.span)]))], span=loop.span)
        body = Region([step, ending])
        if isinstance(loop, Loop):
            return Loop(loop.param, loop.range, body, span=loop.span)
        return While(Const(True, bool_), body, span=loop.span)

    def _step(self) -> Map:
        """One iteration in each lane."""
        name = self.rw.fresh_name("lane")
        at, points = Subset.point(sym(name)), self.points
        inputs: dict[str, Memlet] = {}

        def read(array: str) -> ScalarExpr:
            inputs[array] = Memlet(array, at)
            return Ref(array, self._dtype(array))

        def is_set(array: str) -> ScalarExpr:
            return op("ne", read(array), Const(0, self.flag))

        def fetch(memlet: Memlet) -> Parts:
            """Fetch a value that is the same in all lanes."""
            connector = next((known for known, other in inputs.items() if other == memlet), f"value_{len(inputs)}")
            inputs[connector] = memlet
            value = Ref(connector, self._dtype(memlet.container))
            return (op("real", value), op("imag", value)) if value.dtype.kind == "c" else (value,)

        def variable(memlet: Memlet) -> Parts:
            if self._dtype(memlet.container) == bool_:
                return (is_set(*self.variables[memlet]),)
            return tuple(map(read, self.variables[memlet]))

        values = {key_of(memlet): variable(memlet) for memlet in self.variables}
        values |= {written(key_of(memlet)): (is_set(array),) for memlet, array in self.wrote.items()}
        lane = Lane(values, is_set(self.active), fetch)
        if isinstance(points.loop, While):
            lane.test(points.loop.condition)
        lane.run(points.loop.body.blocks)
        found: dict[str, ScalarExpr] = {}
        if lane.unsure is not None:
            found[self.unsure] = op("or", is_set(self.unsure), lane.unsure)
            lane.leave(lane.unsure)
        found[self.active] = lane.active
        for memlet in (*points.carried, *points.stored):
            found |= zip(self.variables[memlet], lane.result(key_of(memlet)), strict=True)
        for memlet, array in self.wrote.items():
            (found[array],) = lane.result(written(key_of(memlet)))
        return self._over_lanes(name, inputs, lane, found)

    def _over_lanes(self, name: str, inputs: dict[str, Memlet], lane: Lane, found: dict[str, ScalarExpr]) -> Map:
        """The map over lanes; unused variables are removed from the tile."""
        at = Subset.point(sym(name))
        asked = {self.active, self.unsure, *self.wrote.values(), *(n for m in self._kept() for n in self.variables[m])}
        while True:  # what an iteration reads, the one before has left
            used = needed(lane.code, [lane.active, *(found[array] for array in found if array in asked)])
            if asked >= (more := used & found.keys()):
                break
            asked |= more
        for memlet, arrays in list(self.variables.items()):
            if not any(array in asked or array in used for array in arrays):
                del self.variables[memlet]
                for array in arrays:
                    self.rw.undeclare(array)
        found = {array: cast(value, self._dtype(array)) for array, value in found.items() if array in asked}
        found = {array: value for array, value in found.items() if value != Ref(array, self._dtype(array))}
        outputs = {f"{array}_next": Memlet(array, at) for array in found}
        outputs["left_next"] = Memlet(self.left, Subset(), wcr="add")
        code = [(f"{array}_next", value) for array, value in found.items()]
        code.append(("left_next", cast(lane.active, int64)))
        inputs = {connector: memlet for connector, memlet in inputs.items() if connector in used}
        node = Tasklet(inputs, outputs, (*(each for each in lane.code if each[0] in used), *code))
        return Map((name,), (Range.of(0, self.lanes),), Region([State(nodes=[node])]), span=self.points.loop.span)

    def _dtype(self, name: str) -> DType:
        return self.rw.uses.desc(name).dtype

    def _kept(self) -> list[Memlet]:
        """The variables that code after the loop reads."""
        nodes = (node for block in self.points.behind for node in nodes_of(block))
        read = {memlet.container for node in nodes for memlet in node.reads()}
        return [*(memlet for memlet in self.variables if memlet.container in read), *self.points.stored]

    # -- behind the loop ---------------------------------------------------------------------------------------------

    def _store(self, last: Map) -> None:
        """Restore the scalars of the points, and store the elements that the loop has written."""
        rw, at = self.rw, sym(last.params[0]) - self.tile
        loads = State(span=last.span)
        rw.insert(loads, last.body, 0)
        for name in list(self.first.body.containers):
            users = [element for element in rw.uses.accessors(name) if is_inside(element, last)]
            if not users:
                continue
            own = rw.declare_fresh(name, rw.uses.desc(name), last.body)
            for element in users:
                rw.substitute(element, Substitution(containers={name: own}))
            memlet = Memlet(name, Subset())
            if memlet in self.variables:
                self._move(loads, memlet, Memlet(own, Subset()), at)
        for memlet, flags in self.wrote.items():
            stores = State(span=last.span)
            target = memlet.subs({self.along: sym(last.params[0])})
            rw.insert_after(loads, Branch([(self._is_set(flags, at), Region([stores]))], span=last.span))
            self._move(stores, memlet, target, at)

    def _move(self, state: State, memlet: Memlet, target: Memlet, at: Expr) -> None:
        """Store a variable of a lane."""
        dtype = self._dtype(memlet.container)
        inputs = {f"part_{n}": Memlet(name, Subset.point(at)) for n, name in enumerate(self.variables[memlet])}
        parts = [Ref(name, self._dtype(part.container)) for name, part in inputs.items()]
        value = op("complex", *parts) if dtype.kind == "c" else cast(parts[0], dtype)
        self._assign(state, inputs, [target], (value,))


def _zero(dtype: DType) -> Const:
    return Const(0.0 if dtype.kind == "f" else 0, dtype)
