"""SpecializeSolvers: a solver runs on a grid where that takes less than each rank solving it alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log2, prod
from typing import ClassVar, TypeGuard

from dcpy.ir.analysis.costs.work_estimates import TypicalValues
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.distributed.communication_cost import PICO, traffic_of_copy
from dcpy.ir.distribution import Distribution
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.library.expansions import expansions_of
from dcpy.ir.machine_model import COSTS, NETWORK, Network
from dcpy.ir.nodes import LibraryNode, Node
from dcpy.ir.refusal import Refusal
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.symbolic import as_expr
from dcpy.transforms.api import Match
from dcpy.transforms.distributed.accesses import outermost_nodes
from dcpy.transforms.distributed.grids.distribute_solver import BLOCK, DistributeSolver, why_not_on_grid
from dcpy.transforms.distributed.grids.grid_operations import NEW, TwoAxes, as_square, grid_of_two_axes
from dcpy.transforms.distributed.grids.grid_solvers import SOLVERS, blocks_of, in_blocks, is_solver
from dcpy.transforms.distributed.grids.strategies import Number, number_of
from dcpy.transforms.distributed.resolved_placement import placed
from dcpy.transforms.passes import GraphPass

Extents = Mapping[str, Sequence[int]]


@dataclass(frozen=True, slots=True)
class SolverSeconds:
    """Expected time of a solver: of gathered matrices on each rank, and on a grid."""

    alone: float
    together: float

    def __str__(self) -> str:
        return f"{self.together:.2g} s on a grid, {self.alone:.2g} s on each rank alone"


@dataclass(frozen=True)
class SpecializeSolvers(GraphPass):
    """Decide for each solver: its matrices go to blocks on a grid (`distribute-solver`), or to all ranks as wholes.

    before   lapack.cholesky (a <- A[0:N, 0:N]) -> (l -> L[0:N, 0:N], info -> info[])      # A, L: rows in blocks
    after    copy A -> A_part;  lapack.cholesky (a <- A_part) -> (l -> L_part, ...);  copy L_part -> L

    Solvers of matrices that each rank has as wholes are looked at only if it is said how many `ranks` there are.
    `missing` says why no library solves on grids; then all of them are gathered, and a remark says so. Results are the
    same but for rounding.
    """

    name: ClassVar[str] = "specialize-solvers"

    network: Network = NETWORK
    ranks: int = 0  #: of a typical run; 0: they are not known
    missing: str = ""  #: why no ScaLAPACK can be called

    def decide(self, rw: Rewriter) -> None:
        """Apply `distribute-solver` where that pays."""
        for node in _solvers(rw.uses, self.ranks):
            reason = self.why_gathered(node, rw.uses)
            found = None if reason else self.seconds(node, rw.uses)
            if found is None or found.alone <= found.together:
                rw.remark(node, False, f"each rank solves it alone: {reason or found}")
                continue
            step, grid = DistributeSolver(), grid_of_two_axes(rw.sdfg)
            assert isinstance(grid, TwoAxes)  # as `why_gathered` has seen
            rw.remark(node, True, f"the ranks of {grid.name} solve it together: {found}")
            step.apply(Match(rw.sdfg, rw.uses, {"solver": node}), grid, rw)

    def why_gathered(self, node: LibraryNode, uses: Uses) -> str:
        """Return why a solver cannot run on a grid, apart from its time; "" where it can."""
        refused = why_not_on_grid(node, uses) or grid_of_two_axes(uses.sdfg)
        return str(refused) if isinstance(refused, Refusal) else self.missing

    def gathered(self, uses: Uses) -> Iterator[tuple[LibraryNode, str]]:
        """The solvers that each rank computes for another reason than what it takes, and why.

        Those of matrices that each rank has as wholes, only if a grid would be expected to take less.
        """
        for node in _solvers(uses, self.ranks):
            reason = self.why_gathered(node, uses)
            if reason and _is_distributed(node, uses):
                yield node, f"its matrices are gathered, and each rank computes all of it: {reason}"
            elif reason and not why_not_on_grid(node, uses) and isinstance(grid_of_two_axes(uses.sdfg), TwoAxes):
                found = self.seconds(node, uses)
                if found.together < found.alone:
                    yield node, f"each rank computes all of it: {reason}; expected are {found}"

    def seconds(self, node: LibraryNode, uses: Uses) -> SolverSeconds:
        """Seconds in a typical run, as the plan was made for; else one of numbers that stand for all."""
        grids = uses.sdfg.grids.items()
        if not self.ranks:
            extents = {name: tuple(number_of(size, uses) for size in grid.sizes) for name, grid in grids}
            return seconds_of_solver(node, uses, extents, self.network)
        typical = TypicalValues(uses.sdfg, COSTS)
        shapes = {1: (self.ranks,), 2: as_square(self.ranks)}
        extents = {name: shapes[len(grid.sizes)] for name, grid in grids if len(grid.sizes) in shapes}
        extents.setdefault(NEW, shapes[2])
        return seconds_of_solver(node, uses, extents, self.network, lambda size, _: max(typical.value(size), 1))


def missing_for_solvers(sdfg: Sdfg) -> str:
    """Return why no library can solve on grids; "" where one can, or nothing is to be solved."""
    if not any(map(is_solver, sdfg.body.walk_nodes())):
        return ""
    libraries = [one for one in expansions_of(next(iter(SOLVERS.values())).kind) if one.environment]
    reasons = [one.refusal("cpu") for one in libraries]
    return "" if "" in reasons else "; ".join(f"{one.name}: {why}" for one, why in zip(libraries, reasons, strict=True))


def _solvers(uses: Uses, ranks: int) -> list[LibraryNode]:
    """Nodes of LAPACK that are in no map, and of distributed operands unless there are `ranks`."""
    nodes = [node for _, node in outermost_nodes(uses.sdfg) if _is_of_lapack(node)]
    return [node for node in nodes if ranks > 1 or _is_distributed(node, uses)]


def _is_of_lapack(node: Node) -> TypeGuard[LibraryNode]:
    return node.kind.startswith("lapack.")


def _is_distributed(node: LibraryNode, uses: Uses) -> bool:
    return any(placed(memlet.container, uses) is not None for memlet in (*node.reads(), *node.writes()))


def seconds_of_solver(
    node: LibraryNode, uses: Uses, extents: Extents, network: Network, number: Number = number_of
) -> SolverSeconds:
    """The times of a solver that can run on a grid, with what is sent before and after it.

    `extents`: how many ranks the axes of grids have; a grid that is to be declared has as many as the largest one.
    """
    grid = grid_of_two_axes(uses.sdfg)
    assert isinstance(grid, TwoAxes)  # as the caller has seen
    square = as_square(max(map(prod, extents.values()), default=1))
    extents = {grid.name: square, **extents}
    work = _steps(node, uses, number) * network.step * PICO
    down, along = extents[grid.name]
    alone, together = work, work / (down * along) + _messages(node, uses, (down, along), network, number)
    for name, memlet in blocks_of(node).items():
        desc, there = uses.desc(memlet.container), placed(memlet.container, uses)
        where = there if isinstance(there, Distribution) else None
        shape = [number(size, uses) for size in memlet.subset.shape]
        part = in_blocks(grid.name, 0, 1, as_expr(BLOCK), len(shape))
        for wanted, is_alone in ((None, True), (part, False)):
            ends = (where, wanted) if name in node.inputs else (wanted, where)
            seconds = traffic_of_copy(*ends, shape, desc.dtype.itemsize, extents, network).seconds
            alone, together = alone + seconds * is_alone, together + seconds * (not is_alone)
    return SolverSeconds(alone, together)


def _steps(node: LibraryNode, uses: Uses, number: Number) -> float:
    """Products and sums, as many as LAPACK takes."""
    sizes = [[number(size, uses) for size in memlet.subset.shape] for memlet in blocks_of(node).values()]
    n = float(sizes[0][0])
    if node.kind == "lapack.cholesky":
        return n**3 / 6
    right = n if node.kind == "lapack.inverse" else float(prod(sizes[1][1:])) if len(sizes) > 1 else 0.0
    return n**3 / 3 + n**2 * right


def _messages(
    node: LibraryNode, uses: Uses, ranks: tuple[int, int], network: Network, number: Number
) -> float:
    """Seconds of what is sent: panels along rows and columns; for a pivot, all ranks of a column ask each other."""
    n = number(next(iter(blocks_of(node).values())).subset.shape[0], uses)
    down, along = ranks
    rounds = -(-n // BLOCK) * 2 * (log2(down) + log2(along))
    if node.kind != "lapack.cholesky":
        rounds += 2 * n * log2(down)
    bytes_ = 8 * n**2 / 2 * (log2(along) / down + log2(down) / along)
    return PICO * (rounds * network.latency + bytes_ * network.byte)
