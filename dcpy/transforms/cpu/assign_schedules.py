"""AssignSchedules: threads for outer maps, vectors for inner maps, and plain loops where neither pays."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.accesses.strides import step_of
from dcpy.ir.analysis.costs.work_estimates import expected, work_of
from dcpy.ir.analysis.dataflow.effect_analysis import effects_of
from dcpy.ir.analysis.parallelism.conflict_resolutions import conflict_resolutions, injective_params, reducible
from dcpy.ir.data import Scalar
from dcpy.ir.editing.nest_edits import expand_map, reorder_axes, split_axis
from dcpy.ir.editing.remarks import described
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.effects import Effect
from dcpy.ir.machine_model import COSTS, Costs
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import ForeignCall, Map, Tasklet
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Break, Loop, Region, State, While
from dcpy.ir.schedules import PARALLEL, SEQUENTIAL, VECTOR, Parallel, Undecided, Unrolled
from dcpy.ir.symbolic import ONE, Expr, product_of
from dcpy.ir.tree import owners_around
from dcpy.transforms.cpu.axis_orders import preferred_order
from dcpy.transforms.cpu.settle_schedules import settle_schedules
from dcpy.transforms.cpu.short_maps import is_flat, unroll_short_maps
from dcpy.transforms.cpu.short_sums import move_short_sums_inside, write_out
from dcpy.transforms.passes import GraphPass

OF_THEIR_OWN = ("lapack.openblas",)  # libraries whose calls divide their work among threads, and wait for each other
IN_TURN = 16  # iterations of one thread, before it is the next one's turn, where they differ in work


@dataclass(frozen=True)
class AssignSchedules(GraphPass):
    """Give a schedule to each map that has none.

    An outermost map runs on all threads if its iterations are independent (except for reductions) and its work is, or
    may be, large; at run time a small map still runs on one thread. The parameter with the smallest stride becomes an
    innermost map of its own, for vector instructions:

    before   map i = 0:N, j = 0:M { B[i, j] = f(A[i, j]) }
    after    map i = 0:N @parallel { map j = 0:M @vector { B[i, j] = f(A[i, j]) } }
    """

    name: ClassVar[str] = "assign-schedules"
    ensures: ClassVar[str] = "scheduled"
    threads: bool = True
    checks: bool = True  #: whether indices that are not proved in range are checked
    costs: Costs = COSTS

    def decide(self, rw: Rewriter) -> None:
        """Outermost maps first."""
        for node in rw.sdfg.body.walk_nodes():
            if isinstance(node, Map) and not isinstance(node.schedule, Undecided):
                rw.remark(node, True, f"{node.schedule}, as given")
        busy = None if self.threads else Refusal("threads are off (cpu.openmp)")
        _assign_in(rw.sdfg.body, rw, self.costs, busy)
        settle_schedules(rw, checks=self.checks, costs=self.costs)


def _assign_in(region: Region, rw: Rewriter, costs: Costs, busy: Refusal | None) -> None:
    """Assign schedules in a region. `busy`: the reason that no threads are available there, if any."""
    for block in list(region.blocks):
        if not isinstance(block, State):
            for inner in block.regions():
                _assign_in(inner, rw, costs, busy)
            continue
        for node in list(block.nodes):
            if isinstance(node, Map):
                parallel = _assign(node, rw, costs, busy)
                inside = Refusal("a map around it already uses the threads", (node,)) if parallel else busy
                _assign_in(node.body, rw, costs, inside)


def _assign(node: Map, rw: Rewriter, costs: Costs, busy: Refusal | None) -> bool:
    """Schedule one map, and the maps split off it; return whether it runs on threads."""
    if not isinstance(node.schedule, Undecided):
        return isinstance(node.schedule, Parallel)
    unroll_short_maps(node, costs.unrolled_trips, rw)
    in_order = len(node.params) > 1 and Effect.MAY_RAISE in effects_of(node)  # the first failure is raised
    inside = _why_no_vectors(node) or _why_vectors_lose(node, rw)
    if not inside and not in_order:
        write_out(node, _short_beside_long(node, costs, rw), rw)
    vector = None if inside or in_order else _vector_param(node, costs, rw)
    if vector is not None and _is_rectangular(node):
        move_short_sums_inside(node, vector, costs.unrolled_terms, rw)
    if not in_order and _is_rectangular(node):
        vector = _reordered(node, vector, costs, rw)
    free = busy or _why_no_team(node, costs, rw) or _free_params(node, rw)
    if inside is not None:
        rw.remark(node, False, f"no vectors: {inside}")
    if isinstance(free, Refusal):
        rw.remark(node, False, f"no threads: {free}")
        free = ()
    if in_order:
        free = _prefix(node.params, free)
    return _divide(node, vector, free, costs, rw)


def _reordered(node: Map, vector: str | None, costs: Costs, rw: Rewriter) -> str | None:
    """Put the parameters into the order that the model prefers, if it does; return the one that gets vectors."""
    order = node.params if vector is None else (*(param for param in node.params if param != vector), vector)
    short = [param for param in node.params if _has_few(node, param, costs.lanes, rw)]
    preferred = preferred_order(node, order, rw, costs, vector=vector is not None, short=short)
    if preferred == order:
        return vector
    reorder_axes(node, preferred, rw)
    rw.remark(node, True, f"{', '.join(preferred)} in this order: memory is read and written in fewer lines")
    return preferred[-1] if vector is not None else None


def _divide(node: Map, vector: str | None, free: tuple[str, ...], costs: Costs, rw: Rewriter) -> bool:
    """Divide `free` parameters among threads, `vector` among vector lanes; return whether threads get any."""
    outer = tuple(param for param in free if param != vector or len(node.params) == 1)
    if not _is_rectangular(node):
        outer = _prefix(node.params[:-1] if vector else node.params, outer)
    if outer:
        middle = tuple(param for param in node.params if param not in outer and param != vector)
        inner = (*middle, vector) if vector and vector not in outer else middle
        reorder_axes(node, (*outer, *inner), rw)
        if inner:
            split = expand_map(node, len(outer), rw)
            _schedule_inside(split, vector if vector in inner else None, costs, rw)
        rw.update(node, schedule=Parallel(chunk=IN_TURN) if _differ_in_work(node) else PARALLEL)
        rw.remark(node, True, f"threads along {', '.join(outer)}{_along(vector)}")
        return True
    if vector in free and _is_rectangular(node) and node.domain[node.params.index(vector)].step is ONE:
        rw.remark(node, True, f"threads along tiles of {vector}{_along(vector)}")
        _tile_for_threads(node, vector, costs.tile, rw)
        return True
    if vector is not None and _is_rectangular(node):
        reorder_axes(node, (*(param for param in node.params if param != vector), vector), rw)
    _schedule_inside(node, vector, costs, rw)
    rw.remark(node, True, f"one thread{_along(vector)}")
    return False


def _schedule_inside(node: Map, vector: str | None, costs: Costs, rw: Rewriter) -> None:
    """Schedule what one thread does. A long sum that vectors run along is a map of its own, and kept in a register.

    before   map i = 0:N, j = 0:M { s[i] (add) <- A[i, j] }
    after    map i = 0:N @sequential { map j = 0:M @vector { s[i] (add) <- A[i, j] } }
    """
    if vector is not None and len(node.params) > 1 and _is_rectangular(node):
        folded = conflict_resolutions(rw.uses, node).resolved
        terms = node.domain[-1].size.constant
        is_long = terms is None or terms > costs.unrolled_terms
        if is_long and any(vector not in memlet.subset.symbols for memlet in folded):
            inner = expand_map(node, len(node.params) - 1, rw)
            rw.update(node, schedule=SEQUENTIAL)
            node = inner
    rw.update(node, schedule=SEQUENTIAL if vector is None else VECTOR)


def _differ_in_work(node: Map) -> bool:
    """Return whether the time of an iteration depends on data: then threads take chunks in turn."""
    return any(isinstance(block, While | Break) for block in node.body.walk_blocks())


def _along(vector: str | None) -> str:
    return f", vectors along {vector}" if vector is not None else ""


def _prefix(params: tuple[str, ...], allowed: Iterable[str]) -> tuple[str, ...]:
    """The longest prefix of `params` whose parameters are all allowed."""
    count = 0
    while count < len(params) and params[count] in allowed:
        count += 1
    return params[:count]


def _why_no_vectors(node: Map) -> Refusal | None:
    """The reason that the body cannot be vectorized; None for straight-line code."""
    for block in node.body.walk_blocks():
        if isinstance(block, Loop | While):
            return Refusal(f"there is a {described(block)} inside", (block,))
    for inner in node.body.walk_nodes():
        written_out = isinstance(inner, Map) and isinstance(inner.schedule, Unrolled)
        if (inner.regions() and not written_out) or inner.callees() or Effect.CALLS_OUT in inner.effects:
            return Refusal(f"there is a {described(inner)} inside", (inner,))
    return None


def _why_vectors_lose(node: Map, rw: Rewriter) -> Refusal | None:
    """The reason that vectors do not pay: sums of gathered elements; None if they may pay."""
    if len(node.params) > 1:
        return None
    tasklets, (param,) = [inner for inner in node.body.walk_nodes() if isinstance(inner, Tasklet)], node.params
    writes = [each for inner in tasklets for each in inner.writes()]
    if any(rw.uses.desc(each.container).dtype.is_inexact for each in writes):
        return None
    folded = any(each.wcr and param not in each.subset.symbols for each in writes)
    scores = [_score(each, param, rw) for inner in tasklets for each in inner.reads()]
    if not folded or sum(scores) > 0 or all(score >= 0 for score in scores):
        return None
    return Refusal("elements far from each other would be collected one by one, to combine integers")


def _why_no_team(node: Map, costs: Costs, rw: Rewriter) -> Refusal | None:
    """The reason not to use threads; None if there may be enough work, and the order of iterations is invisible."""
    if Effect.ORDERED in effects_of(node):
        return Refusal("what is seen outside keeps its order")
    for inner in node.body.walk_nodes():
        if isinstance(inner, ForeignCall) and inner.environment in OF_THEIR_OWN:
            return Refusal(f"{inner.function} has threads of its own", (inner,))
    factors, units = work_of(node, rw.sdfg, costs)
    work, enough = product_of(*factors) * units, costs.threads_pay_above
    if work.constant is None and rw.uses.ranges_at(node).proves_le(work, enough):
        return Refusal(f"at most {enough} units of work, for all sizes: too few to pay for starting threads")
    number, when = expected(work, rw.sdfg) or (None, "")
    if number is None:
        return _why_never_long(node, factors)
    if number > enough:
        return None
    about = f"about {number} units of work{when and f' where {when}, which is typical,'}"
    return Refusal(f"{about} do not pay for a team, more than {enough} do")


def _why_never_long(node: Map, factors: Sequence[Expr]) -> Refusal | None:
    """The reason that a map never has enough work: two nested loops around it are as long as the map; else None.

    If the map had enough iterations for threads, the loops around it would run for days.
    """
    if len(factors) > 1:
        return None
    params = [owner.param for owner in owners_around(node) if isinstance(owner, Loop)]
    slopes = [factor.linear_in(param) for factor in factors for param in params]
    if sum(slope is not None and slope[0].constant in (1, -1) for slope in slopes) < 2:
        return None
    return Refusal("it is as long as two loops around it at most: long enough for a team is too long for these")


def _free_params(node: Map, rw: Rewriter) -> tuple[str, ...] | Refusal:
    """The parameters whose iterations may run at the same time without atomic updates."""
    writes = conflict_resolutions(rw.uses, node)
    folded = reducible(writes)
    free = set(node.params)
    shared = []
    for memlet in writes.resolved:
        if memlet not in folded:
            free &= injective_params(memlet.subset, node.params, writes.symbols)
            shared.append(memlet)
    if not free:
        places = ", ".join(map(str, shared))
        return Refusal(f"each parameter has iterations that add to the same element: {places}")
    return tuple(param for param in node.params if param in free)


def _is_rectangular(node: Map) -> bool:
    return not any(set(node.params) & set(dim.symbols) for dim in node.domain)


def _vector_param(node: Map, costs: Costs, rw: Rewriter) -> str:
    """The parameter in which most accesses have stride one; the last such parameter on a tie.

    Parameters with fewer values than a vector has lanes are chosen last.
    """
    if not _is_rectangular(node) or len(node.params) == 1:
        return node.params[-1]
    tasklets = (inner for inner in node.body.walk_nodes() if isinstance(inner, Tasklet))
    memlets = [memlet for tasklet in tasklets for memlet in (*tasklet.reads(), *tasklet.writes())]
    scores = {param: sum(_score(memlet, param, rw) for memlet in memlets) for param in node.params}
    good = (param for param in node.params if scores[param] > 0)
    long = [param for param in good if not _is_short(node, param, costs.lanes, rw)]
    best = max(scores[param] for param in long or node.params)
    return next(param for param in reversed(long or node.params) if scores[param] == best)


def _short_beside_long(node: Map, costs: Costs, rw: Rewriter) -> tuple[str, ...]:
    """The parameters of a few values each, if sums go along one, and only they have mostly contiguous accesses.

    A point has 3 coordinates, one behind the other: vectors run along points, sums over coordinates are written out.
    """
    counts = {param: values.size.constant for param, values in zip(node.params, node.domain, strict=True)}
    short = [param for param, count in counts.items() if count is not None and count < costs.lanes]
    long = [param for param in node.params if param not in short]
    folded = conflict_resolutions(rw.uses, node).resolved
    summed = [param for param in node.params if any(param not in memlet.subset.symbols for memlet in folded)]
    if not set(short) & set(summed) or not _is_rectangular(node) or not is_flat(node):
        return ()
    memlets = [memlet for inner in node.body.walk_nodes() for memlet in (*inner.reads(), *inner.writes())]
    if any(sum(_score(memlet, param, rw) for memlet in memlets) > 0 for param in long):
        return ()
    free = (param for param in long if param not in summed)
    near = any(all(_is_near(memlet, param, costs.lanes, rw) for memlet in memlets) for param in free)
    few = math.prod(counts[param] or 1 for param in short) <= costs.unrolled_terms
    return tuple(short) if near and few else ()


def _is_near(memlet: Memlet, param: str, lanes: int, rw: Rewriter) -> bool:
    """Return whether an access moves by a few elements with a parameter, or not at all."""
    step = step_of(memlet, param, rw.uses)
    return step is not None and step.constant is not None and abs(step.constant) <= lanes


def _is_short(node: Map, param: str, lanes: int, rw: Rewriter) -> bool:
    """Return whether a parameter has few values, and say so where that is typical only."""
    few = _has_few(node, param, lanes, rw)
    number, when = expected(node.domain[node.params.index(param)].size, rw.sdfg) or (0, "")
    if few and when:
        rw.remark(node, False, f"no vectors along {param}: about {number} values where {when}, which is typical")
    return few


def _has_few(node: Map, param: str, lanes: int, rw: Rewriter) -> bool:
    """Return whether a parameter has fewer values than a vector has lanes, always or in a typical run."""
    size = node.domain[node.params.index(param)].size
    found = expected(size, rw.sdfg)
    return rw.uses.ranges_at(node).proves_lt(size, lanes) if found is None else found[0] < lanes


def _score(memlet: Memlet, param: str, rw: Rewriter) -> int:
    """The suitability of an access for vector instructions along a parameter."""
    desc = rw.uses.desc(memlet.container)
    if isinstance(desc, Scalar) or param not in memlet.subset.symbols:
        return 0
    return 2 if step_of(memlet, param, rw.uses) is ONE else -2


def _tile_for_threads(node: Map, vector: str, size: int, rw: Rewriter) -> None:
    """Divide the only conflict-free parameter among threads, in tiles that are long enough for vectors.

    before   map i = 0:N, j = 0:M { s[j] += A[i, j] }
    after    map t = 0:M:256 @parallel { map i = 0:N, j = t:min(t + 256, M) @vector { s[j] += A[i, j] } }
    """
    others = tuple(param for param in node.params if param != vector)
    tile = split_axis(node, vector, size, rw)
    reorder_axes(node, (tile, *others, vector), rw)
    rw.update(expand_map(node, 1, rw), schedule=VECTOR)
    rw.update(node, schedule=PARALLEL)
