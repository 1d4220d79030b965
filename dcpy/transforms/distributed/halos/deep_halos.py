"""DeepHalos: neighbours' elements come once for several steps; meanwhile ranks compute them as well."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import ClassVar

from dcpy.ir.analysis.costs.nest_time import seconds
from dcpy.ir.analysis.costs.work_estimates import TypicalValues, expected
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.distributed.communication_cost import PICO
from dcpy.ir.communication import HaloUpdate
from dcpy.ir.data import Array
from dcpy.ir.distribution import Axis, Blocked
from dcpy.ir.editing.cloning import clone, clone_body
from dcpy.ir.editing.nest_edits import groups_and_rest, place_at_end
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.machine_model import COSTS, NETWORK, Network
from dcpy.ir.nodes import Map, Node
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Loop, State, While
from dcpy.ir.schedules import Vector
from dcpy.ir.symbolic import Expr, sym
from dcpy.transforms.distributed.halos.exchange_placement import place_updates, update_of
from dcpy.transforms.distributed.halos.halo_depths import HaloDepths, halo_depths_between
from dcpy.transforms.distributed.halos.halo_validity import Halo, Widths, begins_undefined, updated
from dcpy.transforms.distributed.private_arrays import is_own, own_copy, why_no_copy
from dcpy.transforms.distributed.resolved_placement import Reach, placed
from dcpy.transforms.passes import GraphPass

BLOCK = 256  #: elements of a block along one dimension, where nothing is known of sizes and ranks
GROUPS = (1, 2, 4, 8)  #: iterations that are tried
MOST_MAPS = 16  #: in the body of a loop that is written out


@dataclass(frozen=True)
class DeepHalos(GraphPass):
    """Communication-avoiding stencils: one update of a deep halo for several maps, and for several iterations.

    before   loop t = 0:T { comm.update A {before = (1,), behind = (1,)}
                            map i = 1:N - 1 home g(block 0 by b) { B[i] = A[i - 1] + A[i + 1] }
                            comm.update B {before = (1,), behind = (1,)}
                            map j = 1:N - 1 home g(block 0 by b) { A[j] = B[j - 1] + B[j + 1] } }
    after    loop t = 0:T { comm.update A {before = (2,), behind = (2,)}
                            map i = 1:N - 1 home g(block 0 by b) halo (1:1) { B[i] = A[i - 1] + A[i + 1] }
                            map j = 1:N - 1 home g(block 0 by b) { A[j] = B[j - 1] + B[j + 1] } }

    Applies to loops of maps, where halo validity proves that each map finds what it reads. The body is written out for
    as many iterations as take least by the model of the network (`steps`: for so many); the last ones, if they are
    fewer, run in a loop of their own. Results stay the same to the bit: ranks compute alike.
    (Ding and He, A Ghost Cell Expansion Method for Reducing Communications in Solving PDE Problems, 2001.)
    """

    name: ClassVar[str] = "deep-halos"

    network: Network = NETWORK
    steps: int = 0  #: iterations for each update; 0: as the model says

    def decide(self, rw: Rewriter) -> None:
        """Loop after loop, those without another one inside."""
        changed = False
        for loop in [block for block in rw.sdfg.body.walk_blocks() if isinstance(block, Loop | While)]:
            updates = [node for node in loop.body.walk_nodes() if isinstance(node, HaloUpdate)]
            if updates:
                reason = self._deepen(loop, rw)
                rw.remark(loop, not reason, reason)
                changed |= not reason
        if changed:
            place_updates(rw)

    def _deepen(self, loop: Loop | While, rw: Rewriter) -> str:
        """Change one loop; return why not."""
        if not all(isinstance(block, State) for block in loop.body.blocks):
            return "there is control flow inside"
        found = self._best(loop, rw.uses)
        if isinstance(found, Refusal):
            return str(found)
        arguments = [name for name in found[1].rooms if not is_own(name, rw.uses)]
        reasons = [f"{name!r} gets no halo: {why}" for name in arguments if (why := why_no_copy(name, rw.uses))]
        if reasons:
            return reasons[0]
        for name in arguments:
            own_copy(name, rw)
        count = found[0]
        steps = halo_depths_between(_nodes(loop), count, _fresh(loop, rw.uses), rw.uses)
        assert isinstance(steps, HaloDepths)  # other names change nothing
        _carry_out(loop, count, steps, rw)
        return ""

    def _best(self, loop: Loop | While, uses: Uses) -> tuple[int, HaloDepths] | Refusal:
        """Return the best number of iterations between two updates, and their halo depths."""
        nodes = _nodes(loop)
        updates = (node for node in nodes if isinstance(node, HaloUpdate))
        now = sum(seconds_of_update(updated(node), uses, self.network) for node in updates)
        best, least, reason = None, now, Refusal("as many updates take less by the model")
        for count in self._counts(loop, nodes):
            steps = halo_depths_between(nodes, count, _fresh(loop, uses), uses)
            if isinstance(steps, Refusal):
                reason = steps
                break
            more = sum(_seconds_beyond(node, reach, uses) for node, reach in _run(nodes, steps))
            taken = (seconds_of_update(steps.update, uses, self.network) + more) / count
            if taken < least or self.steps:
                best, least = (count, steps), taken
        return best if best is not None else reason

    def _counts(self, loop: Loop | While, nodes: list[Node]) -> Iterator[int]:
        """Yield the numbers of steps to group; loops of unknown length are not grouped."""
        maps, may = sum(isinstance(node, Map) for node in nodes), isinstance(loop, Loop) and loop.range.step.constant
        updates = sum(isinstance(node, HaloUpdate) for node in nodes)
        for count in (self.steps,) if self.steps else GROUPS:
            if (count == 1 and updates > 1) or (count > 1 and may and count * maps <= MOST_MAPS):
                yield count


def seconds_of_update(halos: Mapping[str, Halo], uses: Uses, network: Network) -> float:
    """Return the time of an update: all its messages are under way at once, and one of them is the last."""
    messages, bytes_ = 0, 0
    for name, halo in halos.items():
        desc, where = uses.desc(name), placed(name, uses)
        if not isinstance(desc, Array) or where is None or isinstance(where, Refusal):
            continue
        extents = [_extent(axis, size, uses) for axis, size in zip(where.axes, desc.shape, strict=True)]
        wider = [extent + low + high for extent, (low, high) in zip(extents, halo.widths, strict=True)]
        sides = [(low > 0) + (high > 0) for low, high in halo.widths]
        faces = sum(prod(extents) // own * (new - own) for own, new in zip(extents, wider, strict=True))
        cornered = halo.corners and halo.has_corners
        messages = max(messages, prod(side + 1 for side in sides) - 1 if cornered else sum(sides))
        bytes_ += (prod(wider) - prod(extents) if cornered else faces) * desc.dtype.itemsize
    if not messages:
        return 0.0
    return (network.latency + (messages - 1) * network.message + bytes_ * network.byte) * PICO


def _seconds_beyond(node: Node, reach: Reach, uses: Uses) -> float:
    """Return the time of neighbours' iterations, each as long as those of a rank's own, in vectors on one core."""
    if not isinstance(node, Map) or node.home is None or not reach:
        return 0.0
    pairs = zip(node.home.axes, node.domain, strict=True)
    extents = [max(_extent(axis, values.size, uses), 1) for axis, values in pairs]
    wider = [own + sum(reach.get(param, (0, 0))) for own, param in zip(extents, node.params, strict=True)]
    typical = TypicalValues(uses.sdfg, COSTS)
    one = seconds(node, {}, uses, COSTS, Vector()) / max(prod(typical.trips(values.size) for values in node.domain), 1)
    return (prod(wider) - prod(extents)) * one


def _extent(axis: Axis, size: Expr, uses: Uses) -> int:
    """Elements of a dimension that a rank has."""
    known = expected(axis.block if isinstance(axis, Blocked) and axis.block is not None else size, uses.sdfg)
    if known is not None:
        return max(known[0], 1)
    return BLOCK if axis is not None else max(TypicalValues(uses.sdfg, COSTS).value(size), 1)


# -- carrying it out -------------------------------------------------------------------------------------------------


def _nodes(loop: Loop | While) -> list[Node]:
    """All of an iteration, in order."""
    return [node for block in loop.body.blocks if isinstance(block, State) for node in block.nodes]


def _fresh(loop: Loop | While, uses: Uses) -> list[str]:
    """The arrays of which each iteration has its own."""
    return [name for name, desc in loop.body.containers.items() if begins_undefined(desc)]


def _run(nodes: list[Node], steps: HaloDepths) -> Iterator[tuple[Node, Reach]]:
    yield from zip(nodes * (len(steps.reaches) // len(nodes)), steps.reaches, strict=True)


def _halo(node: Node, reach: Reach) -> Widths:
    return tuple(reach.get(param, (0, 0)) for param in node.params) if isinstance(node, Map) and reach else ()


def _carry_out(loop: Loop | While, count: int, steps: HaloDepths, rw: Rewriter) -> None:
    span = next(node.span for node in loop.body.walk_nodes() if isinstance(node, HaloUpdate))
    halos = [_halo(node, reach) for node, reach in _run(_nodes(loop), steps)]  # copies have other parameters
    clones: list[Mapping[str, str]] = []
    if count > 1:
        assert isinstance(loop, Loop)  # others have no iterations to count
        clones = _write_out(loop, count, rw)
    for node, halo in zip(_nodes(loop), halos, strict=True):
        if isinstance(node, HaloUpdate):
            rw.erase(node)
        elif isinstance(node, Map) and node.home is not None and halo:
            rw.update(node, home=replace(node.home, halo=halo))
    for name, needed in steps.rooms.items():
        for each in (name, *(names[name] for names in clones if name in names)):
            desc = rw.uses.desc(each)
            assert isinstance(desc, Array), "it is placed"
            assert desc.distribution is not None, "on a grid"
            room = needed.joined(Halo(desc.distribution.halo or needed.widths))
            rw.redeclare(each, replace(desc, distribution=replace(desc.distribution, halo=room.widths)))
    rw.insert(State("", [update_of(steps.update, rw.uses, span)]), loop.body, 0)
    if steps.ahead:
        rw.insert_before(loop, State("", [update_of(steps.ahead, rw.uses, span)]))


def _write_out(loop: Loop, count: int, rw: Rewriter) -> list[Mapping[str, str]]:
    """Make iterations of a loop groups of iterations; those that are left over run as they did.

    Returns, for each further iteration of a group, what its own containers are called there.
    """
    own = list(loop.body.containers)
    groups, rest = groups_and_rest(loop.range, count, rw.uses.ranges_at(loop))
    if rest is not None:
        last = clone(loop, rw)
        rw.insert_after(loop, last)
        rw.update(last, range=rest)
    later = [sym(loop.param) + loop.range.step * number for number in range(1, count)]
    clones = [clone_body(loop.body, {loop.param: value}, rw) for value in later]
    names = [dict(zip(own, copied.containers, strict=True)) for copied in clones]
    for copied in clones:
        place_at_end(copied, loop.body, rw)
    rw.update(loop, range=groups)
    return [*names]
