"""Maps as loops: sequential, vectorized, or divided among threads by a function of their own.

A parallel map becomes a function whose outer loop is ``omp for``. A team calls it where the work pays for starting
one; otherwise the same function runs alone, without the cost of a team. Being a function, it keeps ``restrict``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import reduce

from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Call, Infix, LirExpr, Literal, Name, Prefix, integer, plus, times
from dcpy.codegen.lir.traversal import changed_variables, names_in, statements
from dcpy.codegen.lir.types import INDEX, STATUS, TRUTH, Basic, LirType, Pointer, Reference
from dcpy.codegen.lower.context import FAILURE, Accumulator, Context, ParallelScope
from dcpy.codegen.lower.cpu.allocation_hoisting import grow_buffers, take_buffers, take_checks
from dcpy.codegen.lower.cpu.checked_vectors import checked_tiles
from dcpy.codegen.lower.cpu.extremum_lanes import extremum_lanes, folds_in_lanes
from dcpy.codegen.lower.cpu.interrupt_polling import question_of_team
from dcpy.codegen.lower.cpu.nontemporal_stores import streamed_row, with_fence
from dcpy.codegen.lower.cpu.vector_checks import ANY, any_fails, some_fail
from dcpy.codegen.lower.device_lowering import device_of
from dcpy.codegen.lower.expressions.loop_ranges import going_down, within
from dcpy.codegen.lower.expressions.size_arithmetic import overflow_of_iterations
from dcpy.codegen.lower.reduction_variables import accumulator_for, is_new, is_short, of_accumulator, reductions_of
from dcpy.codegen.lower.tasklets import write
from dcpy.ir.analysis.costs.work_estimates import work_of
from dcpy.ir.analysis.parallelism.conflict_resolutions import (
    ConflictResolutions,
    conflict_resolutions,
    reducible,
    tiles_of,
)
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map
from dcpy.ir.region import Region
from dcpy.ir.schedules import Parallel, Pipelined, Schedule, Sequential, Undecided, Unrolled, Vector
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, Expr, product_of
from dcpy.ir.tree import owners_around

LowerRegion = Callable[[Context, Region], tree.Body]
FOLDED = (Sequential, Vector, Parallel)  # what all iterations of these combine in one place is kept in a variable


def lower_map(context: Context, node: Map, lower_region: LowerRegion) -> None:
    """Emit the loops of a map."""
    if device_of(context).lower_map(context, node, lower_region):
        return
    if isinstance(node.schedule, Undecided):
        raise context.refuse("a map without a schedule", node.span, help="sdfg.lower() gives every map one")
    threads = isinstance(node.schedule, Parallel) and context.may_start_team
    writes = conflict_resolutions(context.uses, node)
    folded = isinstance(node.schedule, FOLDED)
    wide = _width(context, node, writes) != 1
    vectors = wide and not is_short(node.domain[-1])
    places = [m for m in (reducible(writes) if folded else []) if is_new(context, m, vectors=vectors)]
    in_lanes = wide and not threads and folds_in_lanes(context, node, writes, places)
    accumulators = {m: accumulator_for(context, m, vectors=vectors and not in_lanes) for m in places}
    for accumulator, start in accumulators.values():
        for variable in accumulator.variables if start is not None else ():
            context.emit(tree.Declare(variable.name, variable.type, start))
    with context.accumulating({memlet: accumulator for memlet, (accumulator, _) in accumulators.items()}):
        if threads:
            _lower_parallel(context, node, writes, lower_region)
        elif in_lanes:
            row = extremum_lanes(context, node, {m: context.accumulators[m] for m in places}, lower_region)
            for statement in _around(context, node, row, len(node.params) - 1):
                context.emit(statement)
        else:
            _lower_loops(context, node, writes, lower_region)
    for memlet, (accumulator, start) in accumulators.items():
        if start is not None:
            _store(context, node, memlet, accumulator)


def _store(context: Context, node: Map, memlet: Memlet, accumulator: Accumulator) -> None:
    """Fold the accumulator into its location, which must exist: where it may not, only if there were iterations."""
    with context.capture() as body:
        write(context, memlet, *of_accumulator(accumulator))
    if _is_inside(context, memlet):
        for statement in body:
            context.emit(statement)
        return
    some = Literal(True, TRUTH)
    for dim in node.domain:
        least = Infix(">", context.symbolic(_with_outer_start(node, dim.size)), integer(0), TRUTH)
        some = least if isinstance(some, Literal) else Infix("&&", some, least, TRUTH)  # type: ignore[assignment]
    context.emit(tree.If(((some, tuple(body)),)))


def _with_outer_start(node: Map, size: Expr) -> Expr:
    """A size that may mention earlier parameters, at their first values."""
    for param, dim in reversed(list(zip(node.params, node.domain, strict=True))):
        size = size.subs({param: dim.start})
    return size


def _is_inside(context: Context, memlet: Memlet) -> bool:
    shape = context.uses.desc(memlet.container).shape
    return all(
        isinstance(dim, Expr) and context.ranges.proves_nonneg(dim) and context.ranges.proves_lt(dim, size)
        for dim, size in zip(memlet.subset.dims, shape, strict=True)
    )


def _reductions(context: Context, writes: ConflictResolutions) -> tuple[tree.Reduction, ...]:
    """Clauses for the accumulators that the body of a map updates."""
    used = [context.accumulators[m] for m in writes.resolved if m in context.accumulators]
    return tuple(reduction for accumulator in used for reduction in reductions_of(context, accumulator))


def _lower_loops(context: Context, node: Map, writes: ConflictResolutions, lower_region: LowerRegion) -> None:
    buffers, body = _body(context, node, lower_region)
    checks, body = take_checks(buffers, body)
    buffers = (*buffers, *checks)
    if context.kernel is not None and isinstance(node.schedule, Vector):
        wide = device_of(context).lower_vector_map(context, node, body, lower_region)
        if wide is not None:
            context.emit(tree.Compound((*buffers, *wide)))
            return
    leaves = _leaves(body)
    width = 1 if leaves else _width(context, node, writes)
    plain = width == 1 or writes.resolved or buffers
    row = None if plain else streamed_row(context, node, (tree.Simd(width),), lower_region)
    if row is not None:
        _emit_rows(context, node, (*buffers, *_around(context, node, row, len(node.params) - 1)))
        return
    loops = _nest(context, node, body)
    asked = any_fails(context, body) if leaves and not buffers and not is_short(node.domain[-1]) else None
    if asked is not None:
        failing, question = asked
        any_of_all = (tree.Simd(), tree.Reduction(ANY, failing.name))
        context.emit(tree.Declare(failing.name, failing.type, Literal(0, INDEX)))
        context.emit(_mark_innermost(_nest(context, node, question), len(node.params), *any_of_all))
        context.emit(tree.If(((some_fail(failing), (loops,)),)))
        return
    if leaves and not buffers and not writes.resolved:
        loops = _with_checked_vectors(context, loops, len(node.params))
    if width != 1:
        reductions = _reductions(context, writes)
        loops = _mark_innermost(loops, len(node.params), tree.Simd(width), *reductions)
    elif marks := marks_of(context, node.schedule, node.domain[-1]):
        marks = tuple(device_of(context).loop_marks(context, node, marks))
        free = (replace(mark, parallel=True) if isinstance(mark, tree.Pipelined) else mark for mark in marks)
        loops = _mark_innermost(loops, len(node.params), *free)
    context.emit(tree.Compound((*buffers, loops)) if buffers else loops)


def _leaves(body: tree.Body) -> bool:
    """Return whether an iteration may leave the loop, as nothing may leave an OpenMP loop of vectors."""
    return any(isinstance(each, tree.CheckFail) and not each.warning for each in statements(body))


def _emit_rows(context: Context, node: Map, body: tree.Body) -> None:
    """Loops that store past the caches; a function that threads run waits at its end until others see that."""
    inside = context.parallel is not None or any(isinstance(owner, Map) for owner in owners_around(node))
    context.emit(tree.Compound(body if inside else with_fence(body)))


def marks_of(context: Context, schedule: Schedule, values: Range) -> tuple[tree.Mark, ...]:
    """Return the marks that a schedule puts on a loop over these values alone."""
    match schedule:
        case Unrolled(factor=factor):
            return (tree.Unroll(factor or trip_count(context, values)),)
        case Pipelined(ii=ii, style=style):
            return (tree.Pipelined(max(ii, 1), style or "stp"),)
    return ()


def trip_count(context: Context, values: Range) -> int:
    """Return how many copies of its body a fully unrolled loop has."""
    count = values.size.constant
    if count is None:
        raise context.refuse(
            f"a loop that is unrolled completely needs a constant number of iterations, not {values.size}",
            help="give a factor: @unrolled{factor = 4}",
        )
    return max(count, 1)


def _width(context: Context, node: Map, writes: ConflictResolutions) -> int:
    """Iterations in one vector instruction; 0: the machine's. None where threads call this function at one time."""
    if not isinstance(node.schedule, Vector | Parallel) or context.kernel is not None:
        return 1
    shared = context.shared_writes and any(memlet not in context.accumulators for memlet in writes.resolved)
    return 1 if shared else node.schedule.width


def _body(context: Context, node: Map, lower_region: LowerRegion) -> tuple[tree.Body, tree.Body]:
    """The buffers that iterations may share, and the statements of one iteration."""
    ranges = context.ranges
    for param, dim in zip(node.params, node.domain, strict=True):
        ranges = within(ranges, param, dim)
    with context.knowing(ranges):
        body = lower_region(context, node.body)
    return take_buffers(body, map(context.names.of, node.params))


def _nest(context: Context, node: Map, body: tree.Body) -> tree.Loop:
    return _around(context, node, body, len(node.params))[0]  # type: ignore[return-value]


def _around(context: Context, node: Map, body: tree.Body, depth: int) -> tree.Body:
    """The loops over the first `depth` parameters of a map around a body."""
    for place in reversed(range(depth)):
        param, dim = context.names.of(node.params[place]), node.domain[place]
        start, stop, step = (context.symbolic(bound) for bound in (dim.start, dim.stop, dim.step))
        if place == depth - 1 and _has_hidden_trip_count(context, dim):
            count = Name(context.names.fresh("count"), INDEX)
            value = tree.Declare(param, INDEX, plus(start, count), constant=True)
            param, start, stop, body = count.name, integer(0), context.symbolic(dim.size), (value, *body)
        down = going_down(dim, context.ranges)
        body = (tree.Loop(param, start, stop, step, body, down=down, span=node.span),)
    return body


def _has_hidden_trip_count(context: Context, values: Range) -> bool:
    """Return whether a C++ compiler may not see that the trip count is a number.

    From `i` to `i + 8` are eight iterations only where `i + 8` does not wrap around. g++ keeps a tile of sums in
    registers where it knows that; a small convolution takes half of the time.
    """
    return context.on_host and values.start.constant is None and values.step == ONE and (values.size.constant or 0) > 1


def _with_checked_vectors(context: Context, loop: tree.Loop, depth: int) -> tree.Loop:
    """Loops whose innermost one has checks, as vectors where none fails, if that pays."""
    if depth == 1:
        return checked_tiles(context, loop) or loop
    inner = loop.body[0]
    assert isinstance(inner, tree.Loop)
    return replace(loop, body=(_with_checked_vectors(context, inner, depth - 1),))


def _mark_innermost(loop: tree.Loop, depth: int, *marks: tree.Mark) -> tree.Loop:
    if depth == 1:
        return replace(loop, marks=(*loop.marks, *marks))
    inner = _mark_innermost(loop.body[0], depth - 1, *marks)  # type: ignore[arg-type]
    return replace(loop, body=(inner,))


# -- threads ---------------------------------------------------------------------------------------------------


def _lower_parallel(context: Context, node: Map, writes: ConflictResolutions, lower_region: LowerRegion) -> None:
    label = context.names.fresh("next_" + "_".join(node.params))
    scope = ParallelScope(node, writes.symbols, label, tiles_of(node))
    with context.running(scope):
        buffers, body = _body(context, node, lower_region)
        pace, question = question_of_team(context, node)
    asked = any_fails(context, body) if not buffers and not is_short(node.domain[-1]) and _leaves(body) else None
    growing, body = grow_buffers((*question, *body))
    leaves = any(isinstance(s, tree.CheckFail) and s.leaves == label for s in statements(body))
    if leaves:
        body = (tree.Attempt(label, body),)
    assert isinstance(node.schedule, Parallel)  # the caller asked
    _require_counted(context, node, max(node.schedule.collapse, 1))
    width, reductions = _width(context, node, writes), _reductions(context, writes)
    loops = _divided(context, node, body, (tree.Simd(width),) if width != 1 else (), reductions)
    if _leaves(body) and not (writes.resolved or buffers or growing):
        loops = _with_checked_vectors(context, loops, len(node.params))
    if asked is None:
        _call_by_team(context, node, with_fence((*buffers, *growing, *pace, loops)), leaves)
        return
    failing, question = asked
    context.emit(tree.Declare(failing.name, failing.type, Literal(0, INDEX)))
    any_of_all = (tree.Reduction(ANY, failing.name),)
    _call_by_team(context, node, (_divided(context, node, question, (tree.Simd(),), any_of_all),), False)
    with context.capture() as finding:
        _call_by_team(context, node, (*growing, *pace, loops), leaves)
    context.emit(tree.If(((some_fail(failing), tuple(finding)),)))


def _divided(
    context: Context, node: Map, body: tree.Body, vector: tuple[tree.Mark, ...], reductions: tuple[tree.Reduction, ...]
) -> tree.Loop:
    """The loops of which a team divides the outer ones; vectors are made of the innermost one."""
    assert isinstance(node.schedule, Parallel)
    loops, divided = _nest(context, node, body), tree.Divided(max(node.schedule.collapse, 1), node.schedule.chunk)
    if vector and len(node.params) > divided.collapse:
        loops, vector = _mark_innermost(loops, len(node.params), *vector, *reductions), ()
    return replace(loops, marks=(divided, *vector, *reductions))


def _require_counted(context: Context, node: Map, collapse: int) -> None:
    """Leave with an `OverflowError` where loops that a team divides as one have more iterations than 64 bits count."""
    overflow = overflow_of_iterations(context, node.domain[:collapse]) if collapse > 1 else None
    if overflow is not None:
        message = f"a loop over {', '.join(node.params[:collapse])} has more iterations than 64 bits count"
        context.fail(overflow, context.module.check_number("OverflowError", message, node.span))


def _call_by_team(context: Context, node: Map, loops: tree.Body, fails: bool) -> None:
    """Make the loops, behind what each thread needs for them, a function, and call it with what it uses."""
    context.module.threads = True
    name = context.file_name(f"{context.sdfg.name}_map_{'_'.join(node.params)}")
    checks = [s for s in statements(loops) if isinstance(s, tree.CheckFail)]
    mentioned = {variable: kind for variable, kind in names_in(loops).items() if variable != FAILURE.name}
    params = [parameter_for(context, variable, kind, loops) for variable, kind in mentioned.items()]
    args: list[LirExpr] = [Name(param.name, param.type) for param in params]
    for kind, variable in (("failure", fails), ("warning", any(check.warning for check in checks))):
        if variable:
            params.append(tree.Parameter(kind, Pointer(STATUS)))
            args.append(Prefix("&", Name(kind, STATUS), Pointer(STATUS)))
    if checks:
        params.append(tree.Parameter("error", Pointer(INDEX)))
        args.append(Name("numbers", Pointer(INDEX)))
    # A team and a single thread both call it: g++ would inline, and so compile, it twice.
    context.module.functions.append(tree.Function(name, Basic.VOID, tuple(params), loops, inline=False, span=node.span))
    call = Call(name, tuple(args), Basic.VOID)
    changed = tuple(place for place, param in enumerate(params) if isinstance(param.type, Reference))
    above = node.schedule.above if isinstance(node.schedule, Parallel) else 0
    factors, _ = work_of(node, context.sdfg, context.module.costs)
    iterations = product_of(*factors).constant
    if iterations is None:
        team: tree.TeamCall | tree.Evaluate = tree.TeamCall(
            call, _exceeds(context, factors, above), changed, span=node.span
        )
    else:
        team = tree.TeamCall(call, None, changed, span=node.span) if iterations > above else tree.Evaluate(call)
    if checks:
        _emit_with_checks(context, team, fails)
    else:
        context.emit(team)


def _emit_with_checks(context: Context, team: tree.TeamCall | tree.Evaluate, fails: bool) -> None:
    """Return the first failure of the team after all of it has come to an end. Its numbers go to this thread's."""
    failure = Name("failure", STATUS)
    stopped = Infix("!=", failure, Literal(0, STATUS), TRUTH)
    with context.capture() as block:
        context.emit(tree.Declare("numbers", Pointer(INDEX), Name("error", Pointer(INDEX)), constant=True))
        if fails:
            context.emit(tree.Declare("failure", STATUS, Literal(0, STATUS)))
        context.emit(team)
        if fails:
            context.emit(tree.If(((stopped, (tree.Return(failure),)),)))
    context.emit(tree.Compound(tuple(block)))


def parameter_for(context: Context, name: str, kind: LirType, body: tree.Body) -> tree.Parameter:
    """Return a parameter for a variable: by reference if the body assigns it."""
    if name in changed_variables(body):
        return tree.Parameter(name, Reference(kind))
    return tree.Parameter(name, kind, restrict=isinstance(kind, Pointer) and name in context.unaliased)


def _exceeds(context: Context, factors: Iterable[Expr], above: int) -> LirExpr:
    """The test of whether there is enough to do for a team."""
    written = reduce(times, (context.symbolic(factor) for factor in factors))
    return Infix(">", written, integer(above), TRUTH)
