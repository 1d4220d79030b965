"""LoopsIntoTiles: interchange and tiling. Loops around maps run inside tiles of points in the first-level cache."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from dcpy.ir.analysis.accesses.access_relations import names_in
from dcpy.ir.analysis.dataflow.aliasing import memory_of
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Array, Lifetime
from dcpy.ir.editing.nest_edits import unwrap, wrap_in_loop
from dcpy.ir.editing.remarks import described
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.machine_model import COSTS, Costs
from dcpy.ir.nodes import Copy, Map, Node, Tasklet
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Block, Loop, Region, State
from dcpy.ir.schedules import UNDECIDED, Sequential, Undecided
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE
from dcpy.ir.tree import is_inside, owners_around
from dcpy.transforms.cpu.tiles_of_points import PointNest, cut, has_complex, nest_of, take_own
from dcpy.transforms.fusion.inlining import inline
from dcpy.transforms.fusion.recompute_fusion import recomputation
from dcpy.transforms.loops.carried_values import carry_in_registers
from dcpy.transforms.loops.finished_points import finish_of, leave_when_finished
from dcpy.transforms.loops.owned_points import CommonPoints, Met, points_of, points_of_row
from dcpy.transforms.maps.map_of_copy import elementwise
from dcpy.transforms.passes import GraphPass


@dataclass(frozen=True)
class LoopsIntoTiles(GraphPass):
    """Loop interchange, fusion and strip-mining: tiles of points run around a loop, the points of a tile inside it.

    before   loop t = 0:T { map i = 0:N { u[i] = f(A[i], t) };  map j = 0:N { A[j] += u[j] } }
    after    map I = 0:N:256 { loop t = 0:T { map i = I:min(I + 256, N) { u = f(A[i], t);  A[i] += u } } }

    Applies if all maps of a loop consist of tasklets over the same points, and each element that the loop writes
    belongs to one point (`owned_points`). Threads start once, not in each iteration; values that a tile carries between
    iterations stay in the first-level cache; temporaries of an iteration become scalars. Tiles are cut along the
    parameter with stride one. If there is none, the loop may be contiguous in memory: then tiles are as long as a
    vector, and each cache line is used while it is cached. A temporary that connects points is recomputed by each
    reader, at most `reads` elements. Points of complex numbers with an early exit (`finished_points`) are not tiled:
    each point ends when it is finished.

    before   loop k = 1:K { map i = 0:N { c[i, k] = g(c[i, k - 1], A[i, k]) } };  map j = 0:N { d[j] = c[j, K - 1] }
             loop l = K:0:-1 { map m = 0:N { d[m] = B[m, l] = h(c[m, l - 1], d[m]) } }
    after    map I = 0:N:8 { c[K, 8];  d[8];  loop k { map i = I:I + 8 { c[k, i - I] = ... } };  map j ..;  loop l .. }

    Loops and maps before and after a tiled loop join it if they have the same points and each element still belongs to
    one point. Arrays that only they use become arrays of the tile, with its points contiguous in memory: so sweeps back
    and forth over rows use vectors. A later map that reads such an array, over one dimension more, becomes a loop over
    that dimension.
    (Allen and Kennedy, Optimizing Compilers for Modern Architectures, 2001.)
    """

    name: ClassVar[str] = "loops-into-tiles"
    optional: ClassVar[bool] = True
    reads: int = 4  #: elements of a temporary that a point computes again, at most
    costs: Costs = COSTS

    def decide(self, rw: Rewriter) -> None:
        """Decide for each loop, outer ones first; loops without maps, and loops that joined others, get no report."""
        tiled: list[_Tiled] = []
        for loop in list(_loops(rw.sdfg.body)):
            if not isinstance(loop.schedule, Sequential) or not any(isinstance(n, Map) for n in loop.body.walk_nodes()):
                continue
            if any(isinstance(owner, Map) for owner in owners_around(loop)):
                continue
            found = self._try(loop, rw)
            if isinstance(found, Refusal):
                rw.remark(loop, False, f"not in tiles: {found}")
            elif not _left_when_finished(found, rw):
                tiled.append(found)
        take_own([one.nest for one in tiled], rw)
        for one in tiled:
            along, size, walks = cut(one.nest, self.costs, rw)
            how = "" if walks else ", which memory does not follow"
            more = f", with {one.beside} blocks beside it" if one.beside else ""
            about = f"the loop over {one.loop.param} runs in tiles of {size} along {along}{how}{more}"
            rw.remark(one.nest.outer, True, about)

    def _try(self, loop: Loop, rw: Rewriter) -> _Tiled | Refusal:
        part = self._part(loop, rw)
        if isinstance(part, Refusal):
            return part
        row = _Row([loop], part)
        if not any(has_complex(node, rw.uses) for node in loop.body.walk_nodes()):
            for step in (1, -1):
                while self._joined(row, step, rw):
                    pass
        for producer in row.part.gone:
            plan = recomputation(producer, self.reads, rw.uses)
            if not isinstance(plan, Refusal):
                inline(producer, plan, rw)
                rw.remark(loop, True, f"{plan.tmp!r} is recomputed at each point that reads it")
        if row.is_single:
            points = points_of(loop, rw.uses, counts=_is_map)
        else:
            points = points_of_row(row.blocks, rw.uses, _is_map)
        if isinstance(points, Refusal):
            return points
        return _Tiled(loop, nest_of(row.blocks, points, rw), len(row.blocks) - 1)

    def _part(self, loop: Loop, rw: Rewriter) -> _RemovedMaps | Refusal:
        """Prepare a loop if its points are independent: copies become maps, and some maps will be recomputed."""
        refusal = _why_not_plain(loop, rw.uses)
        if refusal is not None:
            return refusal
        start = rw.mark()
        part = _RemovedMaps({_as_map(node, rw): node for node in _nodes(loop) if isinstance(node, Copy)})
        points = points_of(loop, rw.uses, counts=_is_map)
        while isinstance(points, Met) and (more := self._recomputed(points.containers, loop, rw.uses, part.gone)):
            part.gone |= more
            points = points_of(loop, rw.uses, counts=_is_map, gone=part.gone)
        refusal = points if isinstance(points, Refusal) else _why_not_in_tiles(loop, points, part.gone, rw.uses)
        if refusal is not None:
            part.take_back(rw, start)
        return refusal or part

    def _joined(self, row: _Row, step: int, rw: Rewriter) -> bool:
        """Let the block after the row (`step` 1) or before it (-1) join; return whether it did."""
        beside, start = row.beside(step), rw.mark()
        if isinstance(beside, Loop) and isinstance(beside.schedule, Sequential):
            part = self._part(beside, rw)
            if isinstance(part, Refusal):
                return False
            if row.takes(beside, part, step, rw.uses):
                return True
            part.take_back(rw, start)
        if isinstance(beside, State):
            stretch = _stretch(beside, step, row.domain, rw)
            if stretch is not None:
                if row.takes(stretch.state, stretch.part, step, rw.uses):
                    return True
                stretch.take_back(rw, start)
            return any(self._joined_as_sweep(row, beside, param, rw) for param in _sweeps_behind(row, step, rw.uses))
        return False

    def _joined_as_sweep(self, row: _Row, state: State, param: str, rw: Rewriter) -> bool:
        """Let the first map of the state after the row join, as a loop over one parameter; return whether it did."""
        node = state.nodes[0]
        assert isinstance(node, Map)
        params, domain, start = node.params, node.domain, rw.mark()
        rest = None if len(state.nodes) == 1 else State(span=state.span)
        if rest is not None:
            rw.insert_after(state, rest)
            rw.move_nodes(state.nodes[1:], rest)
        at = params.index(param)
        rw.update(node, params=params[:at] + params[at + 1 :], domain=domain[:at] + domain[at + 1 :])
        loop = wrap_in_loop(state, param, domain[at], rw)
        if row.takes(loop, _RemovedMaps(), 1, rw.uses):
            return True
        unwrap(loop, rw)
        rw.update(node, params=params, domain=domain)
        if rest is not None:
            rw.append_state(state, rest)
        rw.undone(start)
        return False

    def _recomputed(self, names: tuple[str, ...], loop: Loop, uses: Uses, gone: dict[Map, None]) -> dict[Map, None]:
        """Maps that compute temporaries shared by points, which the readers can recompute."""
        found: dict[Map, None] = {}
        for name in names:
            if not is_inside(uses.home(name), loop):
                continue
            for node in _nodes(loop):
                if isinstance(node, Map) and node not in gone:
                    plan = recomputation(node, self.reads, uses)
                    if not isinstance(plan, Refusal) and plan.tmp == name:
                        found[node] = None
        return found


@dataclass(frozen=True)
class _Tiled:
    """A loop, the nest that it joined, and the number of blocks beside it there."""

    loop: Loop
    nest: PointNest
    beside: int


def _left_when_finished(one: _Tiled, rw: Rewriter) -> bool:
    """Return whether each point of the nest has an early exit: then it needs no tiles."""
    loop, outer = one.loop, one.nest.outer
    if not any(has_complex(node, rw.uses) for node in outer.body.walk_nodes()):
        return False
    finish = finish_of(loop, rw.uses)
    if isinstance(finish, Refusal):
        return False
    leave_when_finished(loop, finish, rw)
    carry_in_registers(loop, outer, rw)
    rw.remark(outer, True, f"the loop over {loop.param} runs at each point until {finish.name!r} is false")
    return True


@dataclass
class _RemovedMaps:
    """Maps that were copies, and maps that their readers will recompute."""

    copies: dict[Map, Copy] = field(default_factory=dict)
    gone: dict[Map, None] = field(default_factory=dict)

    def take_back(self, rw: Rewriter, since: tuple[int, int]) -> None:
        """Turn maps made since a mark back into copies."""
        for made, copy in self.copies.items():
            rw.replace(made, copy)
        rw.undone(since)


@dataclass
class _Row:
    """Adjacent blocks whose maps have the same points."""

    blocks: list[Block]
    part: _RemovedMaps

    @property
    def is_single(self) -> bool:
        return len(self.blocks) == 1

    @property
    def domain(self) -> tuple[Range, ...]:
        """The domain of a map in the row."""
        nodes = (node for block in self.blocks for node in (block.body.walk_nodes() if isinstance(block, Loop) else ()))
        return next(tuple(node.domain) for node in nodes if isinstance(node, Map) and node not in self.part.gone)

    def beside(self, step: int) -> Block | None:
        """The block after the row, or before it."""
        edge = self.blocks[-1 if step > 0 else 0]
        assert edge.region is not None
        index = edge.region.index(edge) + step
        return edge.region.blocks[index] if 0 <= index < len(edge.region.blocks) else None

    def takes(self, block: Block, part: _RemovedMaps, step: int, uses: Uses) -> bool:
        """Add a block and its prepared form to the row if points stay independent; return whether they do."""
        blocks = [*self.blocks, block] if step > 0 else [block, *self.blocks]
        gone = {**self.part.gone, **part.gone}
        if isinstance(points_of_row(blocks, uses, _is_map, gone), Refusal):
            return False
        self.blocks, self.part = blocks, _RemovedMaps({**self.part.copies, **part.copies}, gone)
        return True


@dataclass
class _Stretch:
    """A state of maps, and the `rest` of the original state, after or before it."""

    state: State
    rest: State | None
    part: _RemovedMaps
    step: int

    def take_back(self, rw: Rewriter, since: tuple[int, int]) -> None:
        """Merge the split states again."""
        for made, copy in self.part.copies.items():
            rw.replace(made, copy)
        if self.rest is not None:
            rw.append_state(*((self.state, self.rest) if self.step > 0 else (self.rest, self.state)))
        rw.undone(since)


def _stretch(state: State, step: int, domain: Sequence[Range], rw: Rewriter) -> _Stretch | None:
    """Split the first (`step` 1) or last (-1) maps with equally many points off a state."""
    part, taken = _RemovedMaps(), 0
    for node in state.nodes[::step]:
        one, start = _RemovedMaps(), rw.mark()
        if isinstance(node, Copy) and _why_no_map(node, rw.uses) is None:
            one.copies[_as_map(node, rw)] = node
        (made,) = one.copies or (node,)
        if not isinstance(made, Map) or not _is_map(made) or not _is_as_large(made, domain):
            one.take_back(rw, start)
            break
        part.copies |= one.copies
        taken += 1
    if taken == 0 or taken == len(state.nodes):
        return _Stretch(state, None, part, step) if taken else None
    other = State(span=state.span)
    rw.insert_after(state, other)
    rw.move_nodes(state.nodes[taken:] if step > 0 else state.nodes[-taken:], other)
    return _Stretch(state, other, part, step) if step > 0 else _Stretch(other, state, part, step)


def _sweeps_behind(row: _Row, step: int, uses: Uses) -> Iterator[str]:
    """Parameters over which the first map after the row may become a loop, so that its points match the row's.

    The map reads a temporary that the row fills, which then stays in the tile.
    """
    state = row.beside(step)
    node = state.nodes[0] if step > 0 and isinstance(state, State) and state.nodes else None
    if not isinstance(node, Map) or not _is_map(node) or len(node.params) != len(row.domain) + 1:
        return
    filled = {name for block in row.blocks for name in names_in(block, uses)[1] if uses.is_private(uses.root(name))}
    if filled.isdisjoint(names_in(node, uses)[0]):
        return
    for at, (param, values) in enumerate(zip(node.params, node.domain, strict=True)):
        others = (*node.domain[:at], *node.domain[at + 1 :])
        if values.step is ONE and set(node.params).isdisjoint(values.symbols) and _are_as_large(others, row.domain):
            yield param


def _is_as_large(node: Map, domain: Sequence[Range]) -> bool:
    """Return whether a map has equally many points in each dimension, in steps of one."""
    return _are_as_large(node.domain, domain)


def _are_as_large(mine: Sequence[Range], its: Sequence[Range]) -> bool:
    return len(mine) == len(its) and all(
        one.step is ONE and other.step is ONE and one.stop - one.start == other.stop - other.start
        for one, other in zip(mine, its, strict=True)
    )


def _loops(region: Region) -> Iterator[Loop]:
    """The loops of a region that are in no map, outer ones first."""
    for block in region.blocks:
        if isinstance(block, Loop):
            yield block
        if not isinstance(block, State):
            for inner in block.regions():
                yield from _loops(inner)


def _nodes(loop: Loop) -> list[Node]:
    return [node for block in loop.body.blocks if isinstance(block, State) for node in block.nodes]


def _is_map(element: object) -> bool:
    """Return whether a node is a map of tasklets alone, without a schedule."""
    if not isinstance(element, Map) or not isinstance(element.schedule, Undecided):
        return False
    blocks = element.body.blocks
    return all(isinstance(block, State) and all(isinstance(n, Tasklet) for n in block.nodes) for block in blocks)


def _why_not_plain(loop: Loop, uses: Uses) -> Refusal | None:
    """The reason that a loop is more than maps and elementwise copies; None if it is not."""
    if loop.range.size.constant in (0, 1):
        return Refusal("it runs once at most")
    for block in loop.body.blocks:
        if not isinstance(block, State):
            return Refusal(f"there is a {described(block)} inside", (block,))
        for node in block.nodes:
            if isinstance(node, Map) and not _is_map(node):
                return Refusal(f"{described(node)} does more than tasklets", (node,))
            if isinstance(node, Copy) and (refusal := _why_no_map(node, uses)):
                return refusal
            if isinstance(node, Tasklet) and not all(is_inside(uses.home(name), loop) for name in _written(node)):
                return Refusal(f"{described(node)} writes what is not of an iteration", (node,))
    return None


def _written(node: Node) -> list[str]:
    return [memlet.container for memlet in node.writes()]


def _why_no_map(copy: Copy, uses: Uses) -> Refusal | None:
    if not copy.dst.subset.shape:
        return Refusal("it copies one element", (copy,))
    if copy.src.wcr or copy.dst.wcr:
        return Refusal("a copy combines values", (copy,))
    one, other = (memory_of(memlet.container, uses.desc) for memlet in (copy.src, copy.dst))
    return Refusal(f"{copy.dst.container!r} may be copied onto itself", (copy,)) if one == other else None


def _as_map(copy: Copy, rw: Rewriter) -> Map:
    made = elementwise(copy.src, copy.dst, copy, rw, UNDECIDED)
    rw.replace(copy, made)
    return made


def _why_not_in_tiles(loop: Loop, points: CommonPoints, gone: Collection[Map], uses: Uses) -> Refusal | None:
    """The reason that containers of an iteration, apart from `gone` ones, cannot be scalars of points."""
    for name in loop.body.containers:
        desc = uses.desc(name)
        if any(is_inside(writer, node) for writer in uses.writers(name) for node in gone):
            continue
        if isinstance(desc, Array) and desc.lifetime is not Lifetime.SCOPE:
            return Refusal(f"{name!r} outlives an iteration")
        if isinstance(desc, Array) and len(set(points.owned.get(name, ()))) < len(desc.shape):
            return Refusal(f"each point would have an array {name!r} of its own")
    return None
