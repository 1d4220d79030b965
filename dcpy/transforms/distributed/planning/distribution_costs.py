"""Costs of distributions, as tables over a few arrays each.

Who computes is decided by what is written (`distribute-map`); what is sent, by what `insert-communication` would put
around the node. So each table is of what one node writes and one array that it touches: no table has more variables
than a node has results, and one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod

import numpy as np

from dcpy.ir.analysis.costs.work_estimates import TypicalValues, work_of
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.distributed.communication_cost import PICO, CopyTraffic, traffic_of_copy
from dcpy.ir.data import Array
from dcpy.ir.distribution import Distribution
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.field_roles import Runs
from dcpy.ir.machine_model import COSTS, Network
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, LibraryNode, Map, Node
from dcpy.ir.refusal import Refusal
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import Expr
from dcpy.ir.tree import owners_around
from dcpy.transforms.distributed.accesses import NodeAccess, node_accesses, outermost_nodes
from dcpy.transforms.distributed.communication.insert_communication import stagings_of
from dcpy.transforms.distributed.grids.distribute_solver import why_not_on_grid
from dcpy.transforms.distributed.grids.grid_operations import grid_of_two_axes
from dcpy.transforms.distributed.grids.grid_solvers import is_solver
from dcpy.transforms.distributed.grids.specialize_solvers import seconds_of_solver
from dcpy.transforms.distributed.grids.strategies import arguments_of, runs_over_labels, strategies_of
from dcpy.transforms.distributed.owner_computes.distribute_map import home_by_results
from dcpy.transforms.distributed.planning.bucket_elimination import CostTable
from dcpy.transforms.distributed.resolved_placement import Home, home_of, placed

Candidates = Mapping[str, Sequence[Distribution | None]]


@dataclass(slots=True)
class Model:
    """A program, a grid with its extents in a typical run, and what arrays may be chosen for."""

    rw: Rewriter
    extents: Mapping[str, Sequence[int]]
    candidates: Candidates
    network: Network
    solves: bool = True  #: whether a library solves on grids
    typical: TypicalValues = field(init=False)

    def __post_init__(self) -> None:
        self.typical = TypicalValues(self.rw.sdfg, COSTS)
        for grid, counts in self.extents.items():
            for size, count in zip(self.rw.sdfg.grids[grid].sizes, counts, strict=True):
                if size.name is not None:
                    self.typical[size.name] = count

    def factors(self) -> Iterator[CostTable]:
        """The tables of all nodes. Arrays live where they did when all of it was asked for."""
        for _, node in outermost_nodes(self.rw.sdfg):
            yield from self._of_node(node)

    def suppose(self, name: str, where: Distribution | None) -> None:
        """Make an array live somewhere."""
        desc = self.rw.uses.desc(name)
        assert isinstance(desc, Array)
        if desc.distribution != where:
            self.rw.redeclare(name, replace(desc, distribution=where))

    # -- nodes ---------------------------------------------------------------------------------------------------------

    def _of_node(self, node: Node) -> Iterator[CostTable]:
        """Yield the costs of a node: of its place, and of the messages for it."""
        if isinstance(node, Copy):
            yield self._of_copy(node, self.rw.uses)
        elif runs_over_labels(node) or (is_solver(node) and self._may_be_together(node)):
            yield self._of_operation(node, self.rw.uses)
        else:
            yield from self._of_accesses(node)

    def _of_accesses(self, node: Node) -> Iterator[CostTable]:
        """Costs of a map, or of a node that each rank runs: its writes decide where; each array costs for itself."""
        groups: dict[str, list[NodeAccess]] = {}
        for access in node_accesses(node, self.rw.uses):
            groups.setdefault(self.rw.uses.root(access.container), []).append(access)
        chosen = [name for name in groups if name in self.candidates]
        deciding = tuple(name for name in chosen if any(access.is_write for access in groups[name]))
        trips, alone = self._trips(node), self._seconds(node)
        counts = tuple(len(self.candidates[name]) for name in deciding)
        own = np.zeros(counts)
        tables = {name: np.zeros((*counts, len(self.candidates[name]))) for name in chosen if name not in deciding}
        for index in np.ndindex(counts):
            for name, k in zip(deciding, index, strict=True):
                self.suppose(name, self.candidates[name][k])
            grid, home = self._home(node)
            own[index] = alone / self._shared(grid, home)
            own[index] += sum(self._moving(node, groups[name], grid, home, alone) for name in deciding)
            for name, table in tables.items():
                for k, where in enumerate(self.candidates[name]):
                    self.suppose(name, where)
                    table[(*index, k)] = self._moving(node, groups[name], grid, home, alone)
                self.suppose(name, None)
        for name in deciding:
            self.suppose(name, None)
        yield CostTable(deciding, trips * own)
        for name, table in tables.items():
            yield CostTable((*deciding, name), trips * table)

    def _home(self, node: Node) -> tuple[str, Home]:
        """Return the grid and the home where a node would run."""
        uses = self.rw.uses
        if not isinstance(node, Map):
            grid, home, _ = home_of(node, uses)
            return grid, home
        found = home_by_results(node, uses)
        if isinstance(found, Refusal):
            return "", {}
        pairs = zip(node.params, found.axes, strict=True)
        return found.grid, {param: axis for param, axis in pairs if axis is not None}

    def _shared(self, grid: str, home: Home) -> int:
        return prod(self.extents[grid][axis.axis] for axis in home.values() if axis is not None)

    def _moving(self, node: Node, accesses: Sequence[NodeAccess], grid: str, home: Home, alone: float) -> float:
        """Seconds of what is sent for the touches of one array; where they rule the home out, each rank does all."""
        found = self.sent(node, accesses, grid, home)
        if found is None:
            again = self.sent(node, accesses, "", {}) or ()
            return alone + sum(each.seconds for each in again)
        return sum(each.seconds for each in found)

    def sent(self, node: Node, accesses: Sequence[NodeAccess], grid: str, home: Home) -> tuple[CopyTraffic, ...] | None:
        """Return the traffic before and after a node for its touches of one array; None where it cannot run there."""
        stagings = stagings_of(node, accesses, grid, home, self.rw.uses)
        if isinstance(stagings, Refusal):
            return None
        found: list[CopyTraffic] = []
        for where, staging in stagings:
            if staging.fill:
                found.append(self._traffic(where, staging.desc.distribution, staging.box, staging.desc.dtype.itemsize))
            if staging.copied_back is not None:
                found.append(
                    self._traffic(staging.desc.distribution, where, staging.copied_back, staging.desc.dtype.itemsize)
                )
        return tuple(found)

    def _of_copy(self, node: Copy, uses: Uses) -> CostTable:
        """The costs of a copy between containers, by how the elements that it takes are distributed on both sides."""
        roots = tuple(dict.fromkeys(uses.root(side.container) for side in (node.src, node.dst)))
        chosen = tuple(name for name in roots if name in self.candidates)
        shape = [self.typical.trips(size) for size in node.src.subset.shape]
        itemsize, trips = uses.desc(node.src.container).dtype.itemsize, self._trips(node)
        table = np.zeros(tuple(len(self.candidates[name]) for name in chosen))
        for index in np.ndindex(table.shape):
            for name, k in zip(chosen, index, strict=True):
                self.suppose(name, self.candidates[name][k])
            source, target = (_selected(placed(side.container, uses), side) for side in (node.src, node.dst))
            sent = traffic_of_copy(source, target, shape, itemsize, self.extents, self.network)
            table[index] = trips * sent.seconds
        for name in chosen:
            self.suppose(name, None)
        return CostTable(chosen, table)

    def _of_operation(self, node: LibraryNode, uses: Uses) -> CostTable:
        """The costs of a product or a reduction, as specialized; where labels say nothing of it, each rank does all."""
        roots = dict.fromkeys(uses.root(operand.memlet.container) for operand in node.operands())
        chosen = tuple(name for name in roots if name in self.candidates)
        table, trips = np.zeros(tuple(len(self.candidates[name]) for name in chosen)), self._trips(node)
        for index in np.ndindex(table.shape):
            for name, k in zip(chosen, index, strict=True):
                self.suppose(name, self.candidates[name][k])
            table[index] = trips * (self._seconds_over_labels(node, uses) if node.index_labels() is not None
                                    else self._seconds_of_solver(node, uses))  # fmt: skip
        for name in chosen:
            self.suppose(name, None)
        return CostTable(chosen, table)

    def _seconds_over_labels(self, node: LibraryNode, uses: Uses) -> float:
        arguments = arguments_of(node, uses, self._number)
        if arguments is None:
            operands = dict.fromkeys(operand.memlet for operand in node.operands())
            return self._seconds(node) + sum(self._gathered(memlet, uses) for memlet in operands)
        splits = bool(node.combination)
        found = strategies_of(node, arguments, uses, splits=splits, number=self._number, network=self.network)
        return found[0].seconds if found else self._seconds(node)

    def _may_be_together(self, node: LibraryNode) -> bool:
        """Return whether it is a solver that can run on a grid."""
        refused = why_not_on_grid(node, self.rw.uses) or grid_of_two_axes(self.rw.sdfg)
        return not isinstance(refused, Refusal)

    def _seconds_of_solver(self, node: LibraryNode, uses: Uses) -> float:
        """Seconds of a solver, as `specialize-solvers` decides."""
        found = seconds_of_solver(node, uses, self.extents, self.network, self._number)
        return min(found.alone, found.together) if self.solves else found.alone

    def _gathered(self, memlet: Memlet, uses: Uses) -> float:
        """Seconds until each rank has all of an operand."""
        root = uses.root(memlet.container)
        where, desc = placed(root, uses), uses.desc(root)
        if not isinstance(where, Distribution):
            return 0.0
        return self._traffic(where, None, Subset.whole(desc.shape), desc.dtype.itemsize).seconds

    def _number(self, size: Expr, uses: Uses) -> int:
        return max(self.typical.value(size), 1)

    def _traffic(
        self, source: Distribution | None, target: Distribution | None, box: Subset, itemsize: int
    ) -> CopyTraffic:
        shape = [self.typical.trips(dim.size) if isinstance(dim, Range) else 1 for dim in box.dims]
        source, target = (None if _is_everywhere(each) else each for each in (source, target))
        return traffic_of_copy(source, target, shape, itemsize, self.extents, self.network)

    # -- how often, how long -------------------------------------------------------------------------------------------

    def _trips(self, node: Node) -> int:
        """Return how often a node runs."""
        trips = 1
        for owner in owners_around(node):
            if owner.runs is Runs.AGAIN:
                trips *= COSTS.typical_size
            for param, values in owner.iteration_space():
                trips *= max(self.typical.starting(param, values), 1)
        return trips

    def _seconds(self, node: Node) -> float:
        """Seconds of a node that one rank runs alone."""
        if isinstance(node, Map):
            sizes, units = work_of(node, self.rw.sdfg, COSTS)
            return prod(self.typical.trips(size) for size in sizes) * units * self.network.unit * PICO
        if runs_over_labels(node):
            labels = node.index_labels() or {}
            sizes_of = {
                label: self.typical.trips(size)
                for operand in node.operands()
                for label, size in zip(labels.get(operand.name, ()), operand.memlet.subset.shape, strict=False)
            }
            return self.network.step * PICO * prod(sizes_of.values())
        moved = sum(
            self.typical.trips(memlet.subset.volume) * self.rw.uses.desc(memlet.container).dtype.itemsize
            for memlet in (*node.reads(), *node.writes())
        )
        return moved * self.network.local_byte * PICO


def _selected(where: Distribution | Refusal | None, side: Memlet) -> Distribution | None:
    """The distribution of the dimensions that a memlet keeps; all of it on each rank, where that is not known."""
    if where is None or isinstance(where, Refusal):
        return None
    axes = tuple(axis for axis, dim in zip(where.axes, side.subset.dims, strict=True) if isinstance(dim, Range))
    return Distribution(where.grid, axes, where.rest)


def _is_everywhere(where: Distribution | None) -> bool:
    return where is None or where.has_copies_everywhere
