"""TimeTiling: a tile of a grid computes several time steps at once, with a halo (overlapped time tiling)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.data import Array
from dcpy.ir.editing.nest_edits import set_axes, split_axis
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Map
from dcpy.ir.region import Loop, Region, State
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr, as_expr, ceil_div, max_of, sym
from dcpy.ir.tree import holder_of
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.loops.halos import Tile, clipped
from dcpy.transforms.loops.strip_mining import broken_out_of
from dcpy.transforms.loops.sweeps import Sweep, Sweeps, sweeps_of
from dcpy.transforms.memory.local_buffers import BufferBox, redirect


@dataclass(frozen=True)
class TimeTiling(Transformation[Sweeps]):
    """Overlapped tiling in time (ghost zones): tiles of a grid make several steps in buffers of their own.

    before   loop t = 0:T { map i = 1:N - 1 { B[i] = f(A[i - 1], A[i + 1]) }
                            map j = 1:N - 1 { A[j] = B[j] } }
    after    loop t_tile = 0:T:8 { map I = 0:N:64 { a, b = A[I - 8:I + 72], B[I - 8:I + 72], as far as they exist
                                                    loop t = t_tile:min(T, t_tile + 8) { both maps on a, b: the tile,
                                                      and what later steps need around it }
                                                    A[I:I + 64], B[I:I + 64] = a[8:72], b[8:72] } }

    Tiles are independent: each band of steps reads one copy of the grids and writes another one. Applies to a loop
    in steps of one whose body consists of maps that access elements at constant distances from those that they
    write. Each element is computed by the same operations. For updates in place, point after point, use
    loop-skewing. (Krishnamoorthy et al., Effective automatic
    parallelization of stencil computations, PLDI 2007; Meng and Skadron, Ghost zones, ICS 2009.)
    """

    name: ClassVar[str] = "time-tiling"
    loop = capture(Loop)
    pattern = one(loop)
    settles = False

    steps: int = 8  #: time steps of a tile
    sizes: tuple[int, ...] = (64,)  #: elements of a tile along the first dimensions that maps go along

    def plan(self, m: Match) -> Sweeps | Refusal:
        """The sweeps of a step. Refuses bodies of more than maps, and accesses at symbolic distances."""
        loop = m[self.loop]
        if self.steps < 1 or not self.sizes or min(self.sizes) < 1:
            return Refusal(f"{self.steps} steps in tiles of {self.sizes} elements")
        if loop.range.step is not ONE:
            return Refusal("the loop does not go in steps of one")
        return broken_out_of(loop) or sweeps_of(loop, len(self.sizes), m.uses)

    def apply(self, m: Match, plan: Sweeps, rw: Rewriter) -> tuple[Loop, Map, Loop]:
        """Return the loop over bands of steps, the map over tiles, and the loop over time, which is the original."""
        loop = m[self.loop]
        time = loop.range
        copies = {grid.array: _both_copies(grid.array, rw) for grid in plan.grids if not grid.is_own}
        bands = rw.uses.ranges_at(loop).simplify(max_of(ZERO, ceil_div(time.size, as_expr(self.steps))))
        _enter_and_leave(loop, copies, bands % 2, rw)
        band = sym(split_axis(loop, loop.param, self.steps, rw))
        outer = holder_of(loop)
        assert isinstance(outer, Loop)
        tile, tiles = _over_tiles(loop, plan, self.steps, self.sizes, rw)
        slot = (band - time.start) // self.steps % 2
        ranges = rw.uses.ranges_at(tiles.body)
        load, store = State(), State()
        for grid in plan.grids:
            desc = rw.uses.desc(grid.array)
            assert isinstance(desc, Array)
            box = tile.box(grid, desc.shape)
            buffer = _move_into_buffer(box, desc, tiles, rw)
            if not grid.is_own:
                both = copies[grid.array]
                around, inside = clipped(box, desc.shape, ranges), tile.inside(grid, desc.shape, ranges)
                load.add(_copy(both, slot, around, buffer, box))
                store.add(_copy(both, 1 - slot, inside, buffer, box, back=True))
        for number, sweep in enumerate(plan.sweeps):
            _cut(number, sweep, tile, loop, rw)
        rw.insert_before(loop, load)
        rw.insert_after(loop, store)
        return outer, tiles, loop


def _both_copies(name: str, rw: Rewriter) -> str:
    """An array of two copies of a grid: a band of steps reads one, and writes the other."""
    desc = rw.uses.desc(name)
    assert isinstance(desc, Array)
    both = Array.packed(desc.dtype, (2, *desc.shape), transient=True, span=desc.span)
    return rw.declare_fresh(f"{name}_bands", both, rw.uses.home(name))


def _enter_and_leave(loop: Loop, copies: Mapping[str, str], last: Expr, rw: Rewriter) -> None:
    """Copy the grids before the first band, and back after the `last` one."""
    before, after = State(span=loop.span), State(span=loop.span)
    for name, both in copies.items():
        desc = rw.uses.desc(name)
        whole = Subset.whole(desc.shape)
        before.add(Copy(Memlet(name, whole), Memlet(both, Subset((ZERO, *whole.dims)))))
        after.add(Copy(Memlet(both, Subset((last, *whole.dims))), Memlet(name, whole)))
    rw.insert_before(loop, before)
    rw.insert_after(loop, after)


def _over_tiles(loop: Loop, sweeps: Sweeps, steps: int, sizes: Sequence[int], rw: Rewriter) -> tuple[Tile, Map]:
    """A map over the tiles of the grid, around the loop."""
    names = [rw.fresh_name(f"tile{axis}") for axis in range(len(sizes))]
    domain = [Range(ZERO, extent, as_expr(size)) for extent, size in zip(sweeps.sizes, sizes, strict=True)]
    tiles = Map(tuple(names), tuple(domain), Region(), span=loop.span)
    rw.insert_before(loop, State(nodes=[tiles], span=loop.span))
    rw.move_blocks([loop], tiles.body)
    return Tile(sweeps, steps, tuple(sizes), tuple(map(sym, names))), tiles


def _move_into_buffer(box: BufferBox, desc: Array, tiles: Map, rw: Rewriter) -> str:
    """Declare a buffer for a tile with its halo, and redirect all accesses in the tile to it."""
    buffer = rw.declare_fresh(f"{box.array}_tile", Array.packed(desc.dtype, box.shape, transient=True), tiles.body)
    redirect(box, buffer, tiles, rw)
    rw.undeclare_unused([box.array] if desc.transient else [])
    return buffer


def _copy(both: str, slot: Expr, part: Subset, buffer: str, box: BufferBox, *, back: bool = False) -> Copy:
    """Copy a part of a grid into its buffer, or `back`."""
    memory = Memlet(both, Subset((slot, *part.dims)))
    local = Memlet(buffer, box.local(part))
    return Copy(local, memory) if back else Copy(memory, local)


def _cut(number: int, sweep: Sweep, tile: Tile, loop: Loop, rw: Rewriter) -> None:
    """Restrict a sweep to the iterations that a tile needs."""
    node, left = sweep.node, loop.range.stop - 1 - sym(loop.param)
    ranges = rw.uses.ranges_at(node)
    domain = dict(zip(node.params, node.domain, strict=True))
    guards: dict[str, Range] = {}
    for axis, course in enumerate(sweep.courses):
        values = domain[course.param] if course.param else Range(course.origin, course.origin + 1)
        cut = tile.iterations(number, axis, values, left, ranges)
        if course.param:
            domain[course.param] = cut
        else:
            guards[rw.fresh_name("at")] = cut
    set_axes(node, guards | domain, rw)
