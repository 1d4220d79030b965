"""LoopsIntoTiles: a loop around maps runs inside tiles of their points, which stay in the first-level cache."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from dcpy.ir.analysis.memory import memory_of
from dcpy.ir.analysis.touched import touched_by
from dcpy.ir.analysis.uses import Uses
from dcpy.ir.data import Array, Lifetime
from dcpy.ir.editing.nest_edits import reorder_axes, split_axis
from dcpy.ir.editing.remarks import described
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.machine import COSTS, Costs
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Map, Node, Tasklet
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Block, Loop, Region, State
from dcpy.ir.schedules import UNDECIDED, Sequential, Undecided
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, Expr, sym
from dcpy.ir.tree import is_inside
from dcpy.transforms.fusion.inlining import inline
from dcpy.transforms.fusion.recompute_fusion import recomputation
from dcpy.transforms.loops.carried_values import carry_in_registers
from dcpy.transforms.loops.finished_points import finish_of, leave_when_finished
from dcpy.transforms.loops.owned_points import Met, Points, points_of
from dcpy.transforms.loops.points_outside import points_outside
from dcpy.transforms.maps.map_of_copy import elementwise
from dcpy.transforms.maps.vectorization import step_of
from dcpy.transforms.passes import GraphPass


@dataclass(frozen=True)
class LoopsIntoTiles(GraphPass):
    """Loop interchange, fusion and strip-mining: tiles of points go around a loop, and the points of a tile inside it.

    before   loop t = 0:T { map i = 0:N { u[i] = f(A[i], t) };  map j = 0:N { A[j] += u[j] } }
    after    map I = 0:N:256 { loop t = 0:T { map i = I:min(I + 256, N) { u = f(A[i], t);  A[i] += u } } }

    Applies where all maps of a loop, of tasklets alone, have the same points, and each element that the loop writes is
    one point's own (`owned_points`). A team is asked once, not in each iteration; what a tile carries from iteration
    to iteration is in the first-level cache; a temporary of an iteration is a scalar. Tiles are cut along the
    parameter that memory follows in steps of one. Where it follows none, the loop may be what walks through memory:
    tiles are then as long as a vector, and each line of memory is used as long as it is in the cache. A temporary in
    which points meet is computed again by each that reads it, at most `reads` elements. Points of complex numbers that
    change no more once a flag is false (`finished_points`) are not in tiles: each is left when it is finished.
    (Allen and Kennedy, Optimizing Compilers for Modern Architectures, 2001.)
    """

    name: ClassVar[str] = "loops-into-tiles"
    reads: int = 4  #: elements of a temporary that a point computes again, at most
    costs: Costs = COSTS

    def decide(self, rw: Rewriter) -> None:
        """Loop by loop, outer ones first. Nothing is said of loops without maps."""
        for loop in list(_loops(rw.sdfg.body)):
            if not isinstance(loop.schedule, Sequential) or not any(isinstance(n, Map) for n in loop.body.walk_nodes()):
                continue
            refusal = _why_not_plain(loop, rw.uses) or self._try(loop, rw)
            if refusal is not None:
                rw.remark(loop, False, f"iterations outside: {refusal}")

    def _try(self, loop: Loop, rw: Rewriter) -> Refusal | None:
        copies = {_as_map(node, rw): node for node in _nodes(loop) if isinstance(node, Copy)}
        gone: dict[Map, None] = {}
        points = points_of(loop, rw.uses, counts=_is_map)
        while isinstance(points, Met) and (more := self._recomputed(points.containers, loop, rw.uses, gone)):
            gone |= more
            points = points_of(loop, rw.uses, counts=_is_map, gone=gone)
        refusal = points if isinstance(points, Refusal) else _why_not_in_tiles(loop, points, gone, rw.uses)
        if refusal is not None:
            for made, copy in copies.items():
                rw.replace(made, copy)
            return refusal
        for producer in gone:
            plan = recomputation(producer, self.reads, rw.uses)
            if not isinstance(plan, Refusal):
                inline(producer, plan, rw)
                rw.remark(loop, True, f"{plan.tmp!r} is computed again by each point that reads it")
        points = points_of(loop, rw.uses, counts=_is_map)
        if isinstance(points, Refusal):
            return points
        self._cut(loop, points, rw)
        return None

    def _recomputed(self, names: tuple[str, ...], loop: Loop, uses: Uses, gone: dict[Map, None]) -> dict[Map, None]:
        """Maps that compute temporaries of an iteration, in which points meet, and whose work their readers can do."""
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

    def _cut(self, loop: Loop, points: Points, rw: Rewriter) -> None:
        complex_numbers = any(_touches_complex(kernel, rw.uses) for kernel in points.kernels)
        groups = _groups(loop, points.kernels, rw.uses)
        outer = points_outside(loop, points, UNDECIDED, rw)
        finish = finish_of(loop, rw.uses)
        if complex_numbers and not isinstance(finish, Refusal):
            leave_when_finished(loop, finish, rw)
            carry_in_registers(loop, outer, rw)
            rw.remark(outer, True, f"the loop over {loop.param} runs at each point until {finish.name!r} is false")
            return
        along, walks = _axis(outer, loop, rw.uses)
        reorder_axes(outer, (*(param for param in outer.params if param != along), along), rw)
        size = self.costs.tile if walks else self.costs.lanes
        tile = split_axis(outer, along, size, rw)
        (*domain, within) = outer.domain
        rw.update(outer, params=outer.params[:-1], domain=tuple(domain))
        maps = [_over_tile(group, along, within, rw) for group in groups]
        for node in maps[1:]:
            other = rw.fresh_name(along)
            rw.update(node, params=(other,))
            rw.substitute_symbols({along: sym(other)}, within=node.body)
        for name in list(loop.body.containers):
            touchers = rw.uses.touchers(name)
            users = [node for node in maps if any(is_inside(toucher, node) for toucher in touchers)]
            if all(is_inside(toucher, users[0]) for toucher in touchers if users):
                if users:
                    rw.move_container(name, users[0].body)
            elif any(is_inside(writer, node) for writer in rw.uses.writers(name) for node in users):
                _spread(name, size, sym(tile), users, loop, rw)
        how = "" if walks else ", which memory does not follow"
        rw.remark(outer, True, f"the loop over {loop.param} runs in tiles of {size} along {along}{how}")


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
    """Whether it is a map of tasklets alone, which has no schedule yet."""
    if not isinstance(element, Map) or not isinstance(element.schedule, Undecided):
        return False
    blocks = element.body.blocks
    return all(isinstance(block, State) and all(isinstance(n, Tasklet) for n in block.nodes) for block in blocks)


def _why_not_plain(loop: Loop, uses: Uses) -> Refusal | None:
    """Why a loop is no row of maps, and of copies that are like maps."""
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


def _why_not_in_tiles(loop: Loop, points: Points, gone: Collection[Map], uses: Uses) -> Refusal | None:
    """Why what an iteration declares, beside what is `gone` by then, cannot be scalars of its points."""
    for name in loop.body.containers:
        desc = uses.desc(name)
        if any(is_inside(writer, node) for writer in uses.writers(name) for node in gone):
            continue
        if isinstance(desc, Array) and desc.lifetime is not Lifetime.SCOPE:
            return Refusal(f"{name!r} outlives an iteration")
        if isinstance(desc, Array) and len(set(points.owned.get(name, ()))) < len(desc.shape):
            return Refusal(f"each point would have an array {name!r} of its own")
    return None


def _axis(node: Map, loop: Loop, uses: Uses) -> tuple[str, bool]:
    """The parameter that tiles are cut along: that which most accesses follow in steps of one; and whether any does.

    The last one, where none does.
    """
    memlets = [memlet for inner in loop.body.walk_nodes() for memlet in (*inner.reads(), *inner.writes())]
    scores = {param: sum(_score(memlet, param, uses) for memlet in memlets) for param in node.params}
    best = max(scores.values())
    return next(param for param in reversed(node.params) if scores[param] == best), best > 0


def _score(memlet: Memlet, param: str, uses: Uses) -> int:
    if param not in memlet.subset.symbols:
        return 0
    return 1 if step_of(memlet, param, uses) is ONE else -1


def _groups(loop: Loop, kernels: Sequence[Map], uses: Uses) -> list[list[Block]]:
    """The blocks of neighbouring maps, which become one. What touches complex numbers stays alone.

    C++ compilers make no vectors of what chooses between complex numbers, nor of other things in one loop with it.
    """
    groups: list[list[Block]] = []
    nodes = _nodes(loop)
    last = None
    for kernel in kernels:
        pair = (kernel,) if last is None else (last, kernel)
        apart = last is None or nodes.index(kernel) != nodes.index(last) + 1
        if apart or any(_touches_complex(node, uses) for node in pair):
            groups.append([])
        groups[-1] += kernel.body.blocks
        last = kernel
    return groups


def _touches_complex(node: Node, uses: Uses) -> bool:
    return any(uses.desc(name).dtype.kind == "c" for name in touched_by(node, uses))


def _over_tile(blocks: Sequence[Block], along: str, within: Range, rw: Rewriter) -> Map:
    """A map over the points of a tile, which runs these blocks as one state."""
    node = Map((along,), (within,), Region(), span=blocks[0].span)
    rw.insert_before(blocks[0], State(nodes=[node], span=node.span))
    rw.move_blocks(blocks, node.body)
    first, *others = node.body.blocks
    for other in others:
        assert isinstance(first, State)
        assert isinstance(other, State)
        rw.append_state(first, other)
    return node


def _spread(name: str, size: int, tile: Expr, maps: Sequence[Map], loop: Loop, rw: Rewriter) -> None:
    """Makes a scalar of each point, which several maps touch, a small array with an element for each of a tile."""
    dtype = rw.uses.desc(name).dtype
    for node in maps:
        at = Subset.point(sym(node.params[0]) - tile)
        for inner in node.body.walk_nodes():
            rw.replace_memlets(inner, partial(_moved, name, at))
    rw.privatize(name, loop.body, Array.packed(dtype, (size,), transient=True))


def _moved(name: str, at: Subset, memlet: Memlet) -> Memlet:
    return replace(memlet, subset=at) if memlet.container == name else memlet
