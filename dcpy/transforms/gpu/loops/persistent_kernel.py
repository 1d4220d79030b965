"""PersistentKernel: a loop of small kernels becomes one kernel of one block, with barriers instead of launches."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir import types
from dcpy.ir.analysis.dataflow.effect_analysis import effects_of
from dcpy.ir.analysis.dataflow.name_resolution import symbols_assigned_in
from dcpy.ir.analysis.device_side import is_kernel, run_by_host
from dcpy.ir.data import Allocation, Array, Scalar, Space, packed_strides
from dcpy.ir.editing.nest_edits import alone_in_state
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.effects import Effect
from dcpy.ir.expressions.scalar import Const, Index, ScalarExpr, op
from dcpy.ir.field_roles import Role
from dcpy.ir.nodes import Map
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Block, Loop, Region, State
from dcpy.ir.schedules import BLOCK, GRID
from dcpy.ir.schedules import ThreadBlock as OfBlock
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, ZERO, Expr, product_of
from dcpy.ir.tree import TreeNode, is_inside, owners_around, subtree
from dcpy.transforms.gpu.loops.unswitching import (
    InvariantConditions,
    invariant_conditions_in,
    is_fallback_loop,
    unswitched,
)
from dcpy.transforms.loops.loop_versioning import all_hold, least_values
from dcpy.transforms.loops.owned_points import kernels_in
from dcpy.transforms.passes import GraphPass

SHARED = 32 * 1024  #: bytes of shared memory for temporaries, beside what kernels have of their own


@dataclass(frozen=True)
class PersistentKernel(GraphPass):
    """Residency: a loop whose kernels are small is run by the threads of one block, which meet where launches were.

    before   loop t = 0:T { map i = 1:N @grid { B[i] = A[i - 1] };  map j = 1:N @grid { A[j] = B[j] } }
    after    if N <= 4096 { map one = 0:1 @grid { loop t = 0:T {
               map i = 1:N @block { B[i] = A[i - 1] };  map j = 1:N @block { A[j] = B[j] } } } }
             else { loop t = 0:T { ... } }

    Applies to a loop of the host that has only kernels in it, and loops and branches on counters, where no kernel may
    raise an exception. A kernel is small where it has at most `points` iterations, inner ones too: if that is proved,
    the loop becomes a kernel; if it can be asked before the loop, there are two versions. Barriers follow from what is
    touched. Temporaries of constant size are in shared memory, as far as that goes; others where they were.
    """

    name: ClassVar[str] = "persistent-kernel"
    optional: ClassVar[bool] = True
    points: int = 4096
    most: int = 16  #: kernels in a loop

    def decide(self, rw: Rewriter) -> None:
        """Loop by loop, outer ones first. Of what has two versions, the one for large sizes stays as it is."""
        done: list[Loop] = []
        for element in list(run_by_host(rw.sdfg.body)):
            is_open = not any(is_inside(element, loop) for loop in done)
            if isinstance(element, Loop) and is_open and self._try(element, rw):
                done.append(element)

    def _try(self, loop: Loop, rw: Rewriter) -> bool:
        invariant = invariant_conditions_in(loop, rw.uses)
        if is_fallback_loop(loop, invariant):
            return False
        found = kernels_in(loop.body, rw.uses, invariant.blocks)
        small = found if isinstance(found, Refusal) else self._conditions(found, loop, rw)
        if isinstance(small, Refusal):
            rw.remark(loop, False, f"not in a single block: {small}")
            return False
        if invariant.conditions:  # of large sizes, a version without checks: graphs have none
            loop = unswitched(loop, invariant, rw)
        if small:
            loop = unswitched(loop, InvariantConditions((), tuple(small)), rw)
        _make_resident(loop, SHARED, rw)
        return True

    def _conditions(self, kernels: Collection[Map], loop: Loop, rw: Rewriter) -> list[ScalarExpr] | Refusal:
        """Return the conditions before a loop, beside what is proved, under which each of its kernels is small."""
        if not 0 < len(kernels) <= self.most:
            return Refusal(f"there are {len(kernels)} kernels inside")
        conditions: dict[ScalarExpr, None] = {}
        changed = frozenset(symbols_assigned_in(loop.body))
        for kernel in kernels:
            if effects_of(kernel) & Effect.MAY_RAISE:
                return Refusal("something inside may raise an exception", (kernel,))
            if any(dim.step.constant is None or dim.step.constant < 1 for dim in kernel.domain):
                return Refusal(f"the steps of {kernel.domain} are not constant", (kernel,))
            room = self.points - iterations(kernel)
            if rw.uses.ranges_at(kernel).proves_nonneg(room):
                continue
            assert kernel.state is not None
            values = least_values(op("ge", Index(room), Const(0, types.int64)), kernel.state, loop, changed, rw.uses)
            if not values:
                return Refusal(f"its number of iterations has no bound: {iterations(kernel)}", (kernel,))
            conditions[all_hold([values], rw.sdfg.sizes)] = None
        for region in loop.body.walk_regions():
            for name in region.containers:
                if not any(map(is_kernel, owners_around(region))) and largest(name, loop, rw) is None:
                    return Refusal(f"the size of {name!r} differs between iterations")
        return list(conditions)


def iterations(kernel: Map) -> Expr:
    """Return how often a kernel's body runs, or that of a map in it: an estimate, larger rather than smaller."""
    starts: dict[str, Expr] = {}
    own = _iterations(kernel, starts)
    deepest, found = 0, ONE
    for node in kernel.body.walk_nodes():
        if isinstance(node, Map):
            size = ONE
            for owner in (node, *(o for o in owners_around(node) if isinstance(o, Map) and is_inside(o, kernel.body))):
                size = size * _iterations(owner, starts)
            degree = max((sum(power for _, power in monomial) for monomial, _ in size.terms), default=0)
            if degree > deepest:
                deepest, found = degree, size
    return own * found


def _iterations(node: Map, starts: dict[str, Expr]) -> Expr:
    """Iterations of one map; what threads share out in steps counts once, dimensions of constant size do not count."""
    extents = []
    for param, dim in zip(node.params, node.domain, strict=True):
        starts[param] = dim.start.subs(starts)
        extent = dim.stop.subs(starts) - starts[param]
        extents.append(ONE if extent.constant is not None and not is_kernel(node) else extent)
    return product_of(*extents)


def largest(name: str, loop: Loop, rw: Rewriter) -> Scalar | Array | None:
    """A container of an iteration, as large as it is in any iteration; None where that is not known."""
    desc = rw.uses.desc(name)
    if not isinstance(desc, Scalar | Array) or rw.uses.views_of(name):
        return None
    defined = {symbol for element in subtree(loop) for symbol in element.all_of(Role.DEFINED)}
    shape = list(desc.shape)
    for owner in owners_around(rw.uses.home(name)):
        if isinstance(owner, Loop) and (owner is loop or is_inside(owner, loop)):
            shape = [_at_most(size, owner) for size in shape]
    if any(not defined.isdisjoint(size.symbols) for size in shape):
        return None
    sizes = tuple(shape)
    if isinstance(desc, Scalar) or sizes == desc.shape:
        return desc
    return replace(desc, shape=sizes, strides=packed_strides(sizes))


def _at_most(size: Expr, loop: Loop) -> Expr:
    """A size in the iteration of a loop in which it is largest, if it is linear in the counter."""
    form, step = size.linear_in(loop.param), loop.range.step.constant
    if form is None or form[0].constant is None or step not in (1, -1):
        return size
    first, last = loop.range.start, loop.range.stop - loop.range.step
    return form[0] * (last if form[0].constant * step > 0 else first) + form[1]


def _make_resident(loop: Loop, room: int, rw: Rewriter) -> None:
    region = loop.region
    assert region is not None
    found = [node for node in loop.body.walk_nodes() if isinstance(node, Map) and is_kernel(node)]
    outer = Map((rw.fresh_name("one"),), (Range(ZERO, ONE),), Region(), GRID, span=loop.span)
    rw.insert_before(loop, State(nodes=[outer], span=loop.span))
    rw.move_blocks([loop], outer.body)
    _place_containers(loop, outer, region, room, rw)
    for kernel in found:
        if any(isinstance(node, Map) and isinstance(node.schedule, OfBlock) for node in kernel.body.walk_nodes()):
            _in_turn(kernel, outer, rw)
        else:
            rw.update(kernel, schedule=BLOCK)
    rw.remark(outer, True, f"one block runs the loop over {loop.param}")


def _place_containers(loop: Loop, outer: Map, region: Region, room: int, rw: Rewriter) -> None:
    """TreeNode the containers that the host declared in the loop: numbers are each thread's own, others are shared."""
    for inside in list(loop.body.walk_regions()):
        if _in_kernel(inside, outer):
            continue
        for name, desc in list(inside.containers.items()):
            if isinstance(desc, Scalar) and not any(_in_kernel(element, outer) for element in rw.uses.writers(name)):
                rw.redeclare(name, replace(desc, allocation=Allocation.REGISTER))
                continue
            whole = largest(name, loop, rw)
            assert whole is not None  # the plan saw to it
            count = product_of(*whole.shape).constant
            size = None if count is None or not desc.shape else count * desc.dtype.itemsize
            if size is not None and size <= room:
                room -= size
                shared = replace(whole, space=Space.SHARED, allocation=Allocation.STACK)
                rw.move_container(name, outer.body, shared)
            else:
                rw.move_container(name, region, whole)


def _in_kernel(place: TreeNode, outer: Map) -> bool:
    """Return whether a place is in one of the kernels that the loop had."""
    return any(is_kernel(owner) and owner is not outer for owner in owners_around(place))


def _in_turn(kernel: Map, outer: Map, rw: Rewriter) -> None:
    """The points of a kernel whose threads work on one point together come one after the other."""
    state = alone_in_state(kernel, rw)
    body = kernel.body
    rw.hoist_containers(body, outer.body)
    blocks: list[Block] = list(body.blocks)
    for param, values in reversed(list(zip(kernel.params, kernel.domain, strict=True))):
        turn = Loop(param, values, Region(), span=kernel.span)
        rw.insert_before(state, turn)
        rw.move_blocks(blocks, turn.body)
        blocks = [turn]
    rw.erase(state)
