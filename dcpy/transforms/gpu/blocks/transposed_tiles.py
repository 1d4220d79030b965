"""TransposedTiles: what a kernel reads along columns comes through shared memory, in tiles that are read along rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from dcpy.ir.analysis.accesses.strides import step_of
from dcpy.ir.analysis.dataflow.aliasing import memory_of
from dcpy.ir.analysis.device_side import kernels
from dcpy.ir.data import Allocation, Array, Space
from dcpy.ir.editing.nest_edits import expand_map, reorder_axes, set_axes, tiles_and_tile
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.expressions.scalar import Ref
from dcpy.ir.gpu.costs import GPU_COSTS
from dcpy.ir.machine_model import Costs
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Region, State
from dcpy.ir.schedules import BLOCK, SEQUENTIAL, ThreadBlock
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr, as_expr, sym
from dcpy.ir.types import DType
from dcpy.transforms.gpu.blocks.map_to_grid import bytes_along
from dcpy.transforms.passes import GraphPass

LARGEST = 40 * 1024  #: bytes of the tiles of a block: chips give 48 kB to each without being asked


@dataclass(frozen=True)
class Tiles:
    """`row`: the parameter along which threads lie side by side; `column`: the one along which `reads` go on by one."""

    row: str
    column: str
    reads: tuple[tuple[Tasklet, Memlet], ...]


@dataclass(frozen=True)
class TransposedTiles(GraphPass):
    """Transposition through shared memory: threads that lie along rows copy tiles whose rows are the columns of others.

    before   map i = 0:N, j = 0:M @grid { B[i, j] = A[i, j] + C[j, i] }
    after    map i_tile = 0:N:32, j_tile = 0:M:32 @grid {
               data C_tile: f64[32, 33] @shared
               map r = 0:8, c = i_tile:min(N, i_tile + 32) @block {
                 map d = j_tile + r:min(M, j_tile + 32):8 { C_tile[d - j_tile, c - i_tile] = C[d, c] } }
               map r = 0:8, j = j_tile:min(M, j_tile + 32) @block {
                 map i = i_tile + r:min(N, i_tile + 32):8 { B[i, j] = A[i, j] + C_tile[j - j_tile, i - i_tile] } } }

    Applies to kernels that read, once for each of their points, an array along the one parameter in steps of one
    element, and write along another one. The kernel must not write what is copied. Rows of a tile have one element
    more than is used: neighbours in a column are in different banks. (Ruetsch and Micikevicius, Optimizing matrix
    transpose in CUDA, 2009.)
    """

    name: ClassVar[str] = "transposed-tiles"
    optional: ClassVar[bool] = True
    costs: Costs = GPU_COSTS

    def decide(self, rw: Rewriter) -> None:
        """Kernel by kernel; those that have a map of threads stay as they are."""
        for kernel in kernels(rw.sdfg):
            if any(
                isinstance(node, Map) and isinstance(node.schedule, ThreadBlock) for node in kernel.body.walk_nodes()
            ):
                continue
            plan = self._plan(kernel, rw)
            if isinstance(plan, Refusal):
                rw.remark(kernel, False, f"no tiles in shared memory: {plan}")
            elif plan is not None:
                self._apply(kernel, plan, rw)

    def _plan(self, kernel: Map, rw: Rewriter) -> Tiles | Refusal | None:
        """Return the tiles to copy; None where neighbours in memory go to neighbouring threads without that."""
        if len(kernel.params) < 2 or any(set(kernel.params) & set(dim.symbols) for dim in kernel.domain):
            return None
        scores = {param: bytes_along(param, kernel.body, rw) for param in kernel.params}
        usual = max(reversed(kernel.params), key=scores.__getitem__)
        refused: Refusal | None = None
        for row in dict.fromkeys((usual, *reversed(kernel.params))):
            found = self._along(row, kernel, rw)
            if not isinstance(found, Refusal):
                return found
            refused = refused or found
        would_help = any(_column(memlet, usual, kernel, rw) for _, memlet in _accesses(kernel, rw, reads=True))
        return refused if would_help else None

    def _along(self, row: str, kernel: Map, rw: Rewriter) -> Tiles | Refusal | None:
        """Return the tiles that adjacent threads run along a parameter read along another one; None without any."""
        reads: list[tuple[Tasklet, Memlet]] = []
        columns: dict[str, None] = {}
        written = {memory_of(memlet.container, rw.uses.desc) for _, memlet in _accesses(kernel, rw, reads=False)}
        for node, memlet in _accesses(kernel, rw, reads=False):
            if step_of(memlet, row, rw.uses) is not ONE:
                return Refusal(f"{memlet} is not written along {row!r}", (node,))
        refused: Refusal | None = None
        for node, memlet in _accesses(kernel, rw, reads=True):
            if step_of(memlet, row, rw.uses) in (ZERO, ONE):
                continue
            column = _column(memlet, row, kernel, rw)
            if column is None:
                refused = refused or Refusal(f"{memlet} is not contiguous along any parameter", (node,))
                continue
            columns[column] = None
            reads.append((node, memlet))
            if node.state is None or node.state.region is not kernel.body:
                refused = refused or Refusal(f"{memlet} is not read once for each point", (node,))
            if memory_of(memlet.container, rw.uses.desc) in written:
                refused = refused or Refusal(f"the kernel writes what it reads, {memlet}", (node,))
        if refused is not None or not reads:
            return refused
        if len(columns) > 1:
            return Refusal(f"arrays are contiguous along {' and '.join(columns)}")
        plan = Tiles(row, next(iter(columns)), tuple(reads))
        return self._too_small(plan, kernel) or self._too_large(plan, rw) or plan

    def _too_small(self, plan: Tiles, kernel: Map) -> Refusal | None:
        for param, dim in zip(kernel.params, kernel.domain, strict=True):
            few = dim.size.constant is not None and 2 * dim.size.constant <= self.costs.warp
            if param in (plan.row, plan.column) and (few or dim.step is not ONE):
                return Refusal(f"{param!r} has {'few values' if few else f'steps of {dim.step}'}", (kernel,))
        return None

    def _too_large(self, plan: Tiles, rw: Rewriter) -> Refusal | None:
        places = dict.fromkeys(memlet for _, memlet in plan.reads)
        size = sum(self.costs.warp * (self.costs.warp + 1) * _dtype(memlet, rw).itemsize for memlet in places)
        return Refusal(f"tiles of {len(places)} arrays take {size} bytes") if size > LARGEST else None

    def _apply(self, kernel: Map, plan: Tiles, rw: Rewriter) -> None:
        size, turns = self.costs.warp, self.costs.block // self.costs.warp
        others = [param for param in kernel.params if param not in (plan.row, plan.column)]
        reorder_axes(kernel, (*others, plan.column, plan.row), rw)
        ranges, known = dict(zip(kernel.params, kernel.domain, strict=True)), rw.uses.ranges_at(kernel)
        starts = {param: rw.fresh_name(f"{param}_tile") for param in (plan.column, plan.row)}
        halves = {param: tiles_and_tile(ranges[param], size, start, known) for param, start in starts.items()}
        block = expand_map(kernel, 0, rw)
        thread = expand_map(block, 0, rw)
        set_axes(kernel, {**{param: ranges[param] for param in others},
                          **{starts[param]: tiles for param, (tiles, _) in halves.items()}}, rw)  # fmt: skip
        turn = rw.fresh_name("turn")
        column, row = halves[plan.column][1], halves[plan.row][1]
        set_axes(block, {turn: Range(ZERO, as_expr(turns)), plan.row: row}, rw)
        set_axes(thread, {plan.column: _in_turns(column, turn, turns)}, rw)
        rw.update(block, schedule=BLOCK)
        rw.update(thread, schedule=SEQUENTIAL)
        for place in dict.fromkeys(memlet for _, memlet in plan.reads):
            desc = replace(Array.packed(_dtype(place, rw), (as_expr(size), as_expr(size + 1)), transient=True),
                           space=Space.SHARED, allocation=Allocation.STACK)  # fmt: skip
            tile = rw.declare_fresh(f"{place.container}_tile", desc, kernel.body)
            inside = Subset.point(sym(plan.row) - sym(starts[plan.row]), sym(plan.column) - sym(starts[plan.column]))
            copied = Memlet(tile, inside)
            for node in dict.fromkeys(node for node, memlet in plan.reads if memlet == place):
                rw.replace_memlets(node, partial(_instead, place, copied))
            self._copy(kernel, place, copied, (plan.column, column), (plan.row, row), turns, rw)
        rw.remark(kernel, True, f"{_named(plan)} in tiles of {size} x {size}, by {turns} x {size} threads")

    def _copy(
        self, kernel: Map, source: Memlet, tile: Memlet, column: tuple[str, Range], row: tuple[str, Range],
        turns: int, rw: Rewriter,
    ) -> None:  # fmt: skip
        """Let adjacent threads, which run along the column, copy the tile before all else."""
        c, d, turn = rw.fresh_name(column[0]), rw.fresh_name(row[0]), rw.fresh_name("turn")
        renamed = {column[0]: sym(c), row[0]: sym(d)}
        one, other = (replace(memlet, subset=memlet.subset.subs(renamed)) for memlet in (source, tile))
        tasklet = Tasklet({"a": one}, {"out": other}, (("out", Ref("a", _dtype(source, rw))),), span=kernel.span)
        body = Region([State(nodes=[tasklet])])
        mine = Map((d,), (_in_turns(row[1], turn, turns),), body, SEQUENTIAL, span=kernel.span)
        domain = (Range(ZERO, as_expr(turns)), column[1])
        threads = Map((turn, c), domain, Region([State(nodes=[mine])]), BLOCK, span=kernel.span)
        rw.insert(State(nodes=[threads], span=kernel.span), kernel.body, 0)


def _accesses(kernel: Map, rw: Rewriter, *, reads: bool) -> Iterator[tuple[Tasklet, Memlet]]:
    """Accesses to arrays that outlive a point of the kernel."""
    for node in kernel.body.walk_nodes():
        for memlet in node.reads() if reads else node.writes():
            if isinstance(node, Tasklet) and _is_outside(memlet, kernel, rw):
                yield node, memlet


def _is_outside(memlet: Memlet, kernel: Map, rw: Rewriter) -> bool:
    root = rw.uses.root(memlet.container)
    inside = any(root in region.containers for region in kernel.body.walk_regions())
    return bool(rw.uses.desc(root).shape) and not inside


def _column(memlet: Memlet, row: str, kernel: Map, rw: Rewriter) -> str | None:
    """The parameter along which an access goes on by one element, if that and the row each lead along one axis."""
    for param in kernel.params:
        if param == row or step_of(memlet, param, rw.uses) is not ONE:
            continue
        used = [{row, param} & set(dim.symbols) for dim in memlet.subset.dims if isinstance(dim, Expr)]
        if sorted(map(len, used))[-2:] == [1, 1] and set().union(*used) == {row, param}:
            return param
    return None


def _in_turns(values: Range, turn: str, turns: int) -> Range:
    """Every so many of the values, from the one of this turn on."""
    return Range(values.start + sym(turn), values.stop, as_expr(turns))


def _instead(place: Memlet, tile: Memlet, memlet: Memlet) -> Memlet:
    return tile if memlet == place else memlet


def _dtype(memlet: Memlet, rw: Rewriter) -> DType:
    return rw.uses.desc(memlet.container).dtype


def _named(plan: Tiles) -> str:
    return " and ".join(dict.fromkeys(memlet.container for _, memlet in plan.reads))
