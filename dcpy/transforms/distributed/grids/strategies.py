"""Strategies of library nodes: where the blocks of an operation run, by what moving its operands takes.

An operation over labels (a product, a reduction) may run where its result lives, or where one of its operands does,
along the axes of the grid that another one adds to that. Labels that no result has may be dealt out too: each rank then
has a part of the result, which is combined. Times are those of a model with sizes that stand for all sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeGuard

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.distributed.ownership import shifted
from dcpy.ir.distribution import Axis, Blocked, Distribution, Partial
from dcpy.ir.field_roles import Role
from dcpy.ir.machine_model import NETWORK, Network
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, LibraryNode, Node
from dcpy.ir.refusal import Refusal
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import Expr
from dcpy.transforms.distributed.accesses import NodeAccess, anchors_of, labels_of
from dcpy.transforms.distributed.resolved_placement import Home, placed

SIZE, RANKS = 4096, 8  # what sizes of arrays, and of axes of grids, are taken to be where nothing is known of a run
PICO = 1e-12
Number = Callable[[Expr, Uses], int]  # that stands for a size


@dataclass(frozen=True, slots=True)
class Argument:
    """An operand of an operation: its labels, the number of elements along each, and where it lives."""

    name: str
    memlet: Memlet
    is_write: bool
    labels: tuple[str, ...]
    sizes: tuple[int, ...]
    where: Distribution | None
    axes: Mapping[str, Axis]  #: of the labels that are dealt out
    is_elsewhere: bool = False  #: on another grid

    @property
    def elsewhere(self) -> Argument:
        """The operand as another grid sees it."""
        return replace(self, axes={}, is_elsewhere=True)


@dataclass(frozen=True, slots=True)
class Strategy:
    """The labels that are dealt out over a grid, and what that takes in seconds."""

    grid: str
    home: Home
    seconds: float

    def placement_of(self, argument: Argument, operation: str) -> Distribution | None:
        """Return the distribution of an operand with just what each rank needs or makes; None: everywhere."""
        axes = tuple(self.home.get(label) for label in argument.labels)
        missing = [axis.axis for label, axis in self.home.items() if axis is not None and label not in argument.labels]
        rest = tuple(Partial(axis, operation) for axis in sorted(missing)) if argument.is_write else ()
        made = Distribution(self.grid, axes, rest)
        return None if made.has_copies_everywhere else made


def runs_over_labels(node: Node) -> TypeGuard[LibraryNode]:
    """Return whether a node is an operation whose operands have labels, and no copy."""
    return not isinstance(node, Copy) and node.index_labels() is not None


def number_of(size: Expr, uses: Uses) -> int:
    """A number that stands for a size."""
    ranks = {name for grid in uses.sdfg.grids.values() for name in grid.symbols}
    values = {name: RANKS if name in ranks else SIZE if name in uses.sdfg.sizes else 1 for name in size.symbols}
    return max(size.evaluate(values), 1)


def arguments_of(node: LibraryNode, uses: Uses, number: Number = number_of) -> list[Argument] | None:
    """The operands of a node that has labels, factors apart; None where that does not describe it."""
    letters = labels_of(node)
    if letters is None:
        return None
    found = []
    for operand in node.operands():
        labels, memlet = letters.get(operand.name, ()), operand.memlet
        where = placed(memlet.container, uses)
        if isinstance(where, Refusal) or memlet.wcr or memlet.dynamic or len(labels) != len(memlet.subset.shape):
            return None
        sizes = tuple(number(size, uses) for size in memlet.subset.shape)
        axes: dict[str, Axis] = {}
        if where is not None:
            anchors = anchors_of(NodeAccess(memlet, False, True, labels), ())
            for anchor, axis in zip(anchors, where.axes, strict=True):
                if axis is not None and anchor is not None:
                    axes[anchor.label] = shifted(axis, anchor.low)
        if labels or operand.role is not Role.READ:
            found.append(Argument(operand.name, memlet, operand.role is not Role.READ, labels, sizes, where, axes))
    return found


def strategies_of(
    node: LibraryNode,
    arguments: list[Argument],
    uses: Uses,
    *,
    splits: bool,
    number: Number = number_of,
    network: Network = NETWORK,
) -> list[Strategy]:
    """Return the strategies for a node, the cheapest first; with `splits`, also by parts that are combined."""
    grids = dict.fromkeys(argument.where.grid for argument in arguments if argument.where is not None)
    kept = {label for argument in arguments if argument.is_write for label in argument.labels}
    found: dict[tuple[object, ...], Strategy] = {}
    for grid in grids:
        ranks = [number(size, uses) for size in uses.sdfg.grids[grid].sizes]
        here = [each if each.where is None or each.where.grid == grid else each.elsewhere for each in arguments]
        for home in _homes([each for each in here if each.where and each.where.grid == grid]):
            if not splits:
                home = {label: axis for label, axis in home.items() if label in kept}
            if any(label not in kept and not isinstance(axis, Blocked) for label, axis in home.items()):
                continue
            key = (grid, tuple(sorted((label, str(axis)) for label, axis in home.items())))
            found.setdefault(key, Strategy(grid, home, _seconds(home, here, ranks, network)))
    return sorted(found.values(), key=lambda strategy: strategy.seconds)  # of equal ones, that of the first operand


def _homes(arguments: list[Argument]) -> Iterator[dict[str, Axis]]:
    """Yield the homes of operands, results first; alone, and with the axes that the others add."""
    ordered = sorted(arguments, key=lambda argument: not argument.is_write)
    for first in ordered:
        yield dict(first.axes)
        home = dict(first.axes)
        for other in ordered:
            for label, axis in other.axes.items():
                taken = {known.axis for known in home.values() if known is not None}
                if label not in home and axis is not None and axis.axis not in taken:
                    home[label] = axis
        yield home


def _seconds(home: Home, arguments: list[Argument], ranks: list[int], network: Network) -> float:
    sizes = {label: size for each in arguments for label, size in zip(each.labels, each.sizes, strict=True)}
    used = math.prod(ranks[axis.axis] for axis in home.values() if axis is not None)
    total = network.step * PICO * math.prod(sizes.values()) / used
    for argument in arguments:
        move = _made if argument.is_write else _fetched
        total += move(argument, home, ranks, network)
    return total


def _fetched(argument: Argument, home: Home, ranks: list[int], network: Network) -> float:
    """Seconds to have the elements of an operand where they are needed."""
    where = argument.where
    if where is None:
        return 0.0
    moved = {label for label, axis in argument.axes.items() if home.get(label) != axis}
    if not moved and not where.rest and not argument.is_elsewhere:
        return 0.0
    along = [_axis(argument.axes[label]) for label in moved]  # of its own grid, which may have more axes
    there = math.prod(ranks[axis] if axis < len(ranks) else RANKS for axis in along)
    sent = 8 * _share(argument, home, ranks) * (1 - 1 / max(there, 2))
    return PICO * (network.latency * sum(map(math.log2, ranks)) + network.byte * sent)


def _made(argument: Argument, home: Home, ranks: list[int], network: Network) -> float:
    """Seconds to have a result where it lives: combined, and sent to its owners."""
    axes = {label: axis for label, axis in home.items() if label in argument.labels}
    combined = [_axis(axis) for label, axis in home.items() if label not in argument.labels]
    lives = dict(argument.axes)
    stays = not argument.is_elsewhere and (argument.where is None or not argument.where.rest)
    if not combined and axes == lives and stays:
        return 0.0
    part = PICO * network.byte * 8 * _share(argument, home, ranks)
    start = PICO * network.latency * sum(map(math.log2, ranks))
    if not combined:
        return start + part * math.prod(ranks[_axis(axis)] for label, axis in axes.items() if label not in lives)
    scattered = all(axis in {_axis(known) for known in lives.values()} for axis in combined)
    return 2 * start + part * (1 if scattered else 2)


def _share(argument: Argument, home: Home, ranks: list[int]) -> float:
    """Return how many elements of an operand one rank works with."""
    count = float(math.prod(argument.sizes))
    for label in argument.labels:
        axis = home.get(label)
        count /= 1 if axis is None else ranks[axis.axis]
    return count


def _axis(axis: Axis) -> int:
    assert axis is not None  # only what is dealt out is listed
    return axis.axis


def covers(memlet: Memlet) -> bool:
    """Return whether the ranges of a memlet count one by one, so that a part of it is a range again."""
    return all(not isinstance(dim, Range) or dim.step.constant == 1 for dim in memlet.subset.dims)
