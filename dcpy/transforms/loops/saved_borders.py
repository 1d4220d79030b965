"""SavedBorders: node splitting at block boundaries, so that blocks of a loop with anti-dependences run in parallel."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir import types
from dcpy.ir.analysis.accesses.access_relations import accesses_of_body
from dcpy.ir.analysis.accesses.memory_access import MemoryAccess
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.name_resolution import symbols_assigned_in
from dcpy.ir.analysis.dependence.dependence_vectors import Dependence, dependences_among
from dcpy.ir.analysis.dependence.loop_dependences import by_memory, first_conflict, loop_dependences
from dcpy.ir.analysis.dependence.loop_nests import axes_of
from dcpy.ir.analysis.polyhedral.footprints import Footprint
from dcpy.ir.analysis.polyhedral.integer_sets import Answer, covers
from dcpy.ir.data import Array
from dcpy.ir.editing.cloning import clone
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.expressions.scalar import Const, Index, Load, Ref, ScalarExpr, op, rewrite
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Branch, Loop, Region, State
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ZERO, Expr, as_expr, sym
from dcpy.ir.tree import owners_around
from dcpy.transforms.api import Match, Transformation, capture, one
from dcpy.transforms.loops.loop_to_map import privatize
from dcpy.transforms.loops.scatter_privatization import TEAM, is_the_other_version

REACHES = (1, 2, 4, 8, 16, 32)  # iterations by which a read may come before the write that it must not see


@dataclass(frozen=True)
class SavedBorders(Transformation["Borders"]):
    """Run blocks of iterations in parallel although iterations read ahead: copy the values at block boundaries first.

    before   loop i = 0:N { A[i] = f(A[i + 1]) }
    after    if N >= 65536 {
               map b = 0:16, t = 0:1 { saved[b, t] = A[N*(b + 1)//16 - 1 + t + 1] }
               map b = 0:16 { loop i = N*b//16:N*(b + 1)//16 - 1 { A[i] = f(A[i + 1]) }
                              loop i = N*(b + 1)//16 - 1:N*(b + 1)//16 { A[i] = f(saved[b, i - ...]) } }
             } else { loop i = 0:N { A[i] = f(A[i + 1]) } }

    Applies if all dependences between iterations are anti-dependences: one iteration reads an element, and another one
    writes it a few iterations later. Then each read sees the value from before the loop: inside a block, since the
    block keeps its order; in its last iterations, since the values are saved before any block starts. Results do not
    change. (Kuck et al., Dependence Graphs and Compiler Optimizations, POPL 1981, split nodes for each iteration:
    that copies everything that is read ahead.)
    """

    name: ClassVar[str] = "saved-borders"
    optional: ClassVar[bool] = True
    loop = capture(Loop)
    pattern = one(loop)

    blocks: int = 16  #: of iterations
    shortest: int = 65536  #: loop that is worth it

    def plan(self, m: Match) -> Borders | Refusal:
        """The elements to save. Refuses other dependences (and names the accesses), and reads of unknown elements."""
        loop = m[self.loop]
        if loop.range.step.constant not in (1, -1):
            return Refusal("its values do not go up or down one by one")
        if any(isinstance(owner, Map) for owner in owners_around(loop)):
            return Refusal("there is a map around it already")
        found = _read_ahead(loop, m.uses)
        if isinstance(found, Refusal):
            return found
        reach, reads, memories = found
        dependences = loop_dependences(loop, m.uses, apart=memories)
        if not dependences.answer.is_no:
            return Refusal(dependences.answer.reason)
        if dependences.reductions:
            return Refusal(f"{dependences.reductions[0]!r} is combined into by all iterations")
        condition = op("ge", Index(loop.range.size), Const(max(self.shortest, reach * self.blocks), types.int64))
        if is_the_other_version(loop, condition):
            return Refusal("this version is for runs that are too short")
        return Borders(reach, reads, dependences.private, condition)

    def apply(self, m: Match, plan: Borders, rw: Rewriter) -> Map:
        """Return the map over blocks."""
        loop = m[self.loop]
        for name in plan.private:
            privatize(name, loop.body, rw)
        region, rest = Region(), Region()
        rw.insert_before(loop, Branch([(plan.condition, region)], rest, span=loop.span))
        rw.move_blocks([loop], rest)
        block = rw.fresh_name("block")
        start, stop = (_edge(loop.range, sym(block) + number, self.blocks) for number in (0, 1))
        middle = stop - loop.range.step * plan.reach  # a block has as many iterations, at least
        saved = [_save(memlet, dtype, plan.reach, self.blocks, loop, region, rw) for memlet, dtype in plan.reads]
        early, late = clone(loop, rw), clone(loop, rw)
        early.range = Range(start, middle, loop.range.step)
        late.range = Range(middle, stop, loop.range.step)
        body = Region([early, late])
        node = Map((block,), (Range(ZERO, as_expr(self.blocks)),), body, TEAM, span=loop.span)
        rw.insert(State(nodes=[node], span=loop.span), region)
        step = loop.range.step
        number = (sym(late.param) - stop) * step + plan.reach
        for (memlet, dtype), name in zip(plan.reads, saved, strict=True):
            here = replace(memlet, subset=memlet.subset.subs({loop.param: sym(late.param)}))
            _use_saved(late, here, Memlet(name, Subset((sym(block), number))), dtype, rw)
        return node


@dataclass(frozen=True, slots=True)
class Borders:
    """The elements to save: reads of the last `reach` iterations of a block, with dtypes; and when blocks pay."""

    reach: int
    reads: tuple[tuple[Memlet, types.DType], ...]
    private: tuple[str, ...]
    condition: ScalarExpr


def _read_ahead(
    loop: Loop, uses: Uses
) -> tuple[int, tuple[tuple[Memlet, types.DType], ...], tuple[str, ...]] | Refusal:
    """The largest distance by which reads are ahead of writes, the reads, and their memory."""
    axes, ranges = axes_of(loop), uses.ranges_at(loop)
    reads: list[MemoryAccess] = []
    memories: list[str] = []
    reach, why = 0, None
    varying = {
        *(name for region in loop.body.walk_regions() for name in region.params),
        *symbols_assigned_in(loop.body),
    }
    for memory, group in by_memory(accesses_of_body(loop, uses)).items():
        if first_conflict(group, ((loop.param, loop.range),), ranges).is_no:
            continue
        other = next((access for access in group if not _is_one_element(access, loop.param, varying)), None)
        if other is not None:
            why = why or Refusal(f"an iteration {other}, which is no element of its own", (other.place,))
            continue
        found = list(dependences_among(group, axes, ranges))
        carried = [dependence for dependence in found if not dependence.has("d0 > 0").is_no]
        if not carried:
            continue
        obstacle = next((one for one in carried if one.source.is_write or one.source.wcr), None)
        if obstacle is not None:
            why = why or Refusal(obstacle.has("d0 > 0").reason, (obstacle.source.place, obstacle.sink.place))
            continue
        ahead = _reach(carried)
        if ahead is None:
            return Refusal(f"by how many iterations a read comes before the write is not known: {carried[0]}")
        mine = [dependence.source for dependence in carried]
        refusal = next((problem for read in mine if (problem := _not_saved(read, found, loop, uses))), None)
        if refusal is not None:
            return refusal
        reach = max(reach, ahead)
        memories.append(memory)
        reads += mine
    if not reads:
        return why or Refusal("no iteration reads what a later one writes")
    memlets = dict.fromkeys(_at_own_place(read) for read in reads)
    return reach, tuple((memlet, uses.desc(memlet.container).dtype) for memlet in memlets), tuple(memories)


def _is_one_element(access: MemoryAccess, param: str, varying: Collection[str]) -> bool:
    """Return whether an access touches a different element in each iteration, and depends on nothing else that changes.

    A quick test, made before distances are computed.
    """
    subset = access.memlet.subset
    return not any(isinstance(dim, Range) for dim in subset.dims) and {*varying} & {*subset.symbols} == {param}


def _at_own_place(read: MemoryAccess) -> Memlet:
    return Memlet(read.memlet.container, read.memlet.subset)


def _reach(carried: Sequence[Dependence]) -> int | None:
    """An upper bound of the distances, in iterations."""
    return next((most for most in REACHES if all(one.has(f"d0 > {most}").is_no for one in carried)), None)


def _not_saved(read: MemoryAccess, found: Sequence[Dependence], loop: Loop, uses: Uses) -> Refusal | None:
    """The reason that an element cannot be saved before the loop; None if it can."""
    if not isinstance(read.place, Tasklet | Branch):
        return Refusal(
            f"{read.place.kind} reads {read.container!r}: only tasklets and conditions can read other memory"
        )
    same = (one for one in found if one.sink.memlet == read.memlet and one.source.is_write)
    if any(not one.has("d0 = 0").is_no for one in same):
        return Refusal(f"{read}, which the same iteration has written")
    if not read.is_sure() and not _exists(read, loop, uses).is_yes:
        return Refusal(f"{read} under a condition: without it, the element may not exist")
    return None


def _exists(read: MemoryAccess, loop: Loop, uses: Uses) -> Answer:
    """Return whether an index is in range in all iterations."""
    desc = uses.desc(read.memlet.container)
    if not isinstance(desc, Array):
        return Answer(None)
    whole = Footprint(Subset(tuple(Range(ZERO, size) for size in desc.shape)), ())
    return covers([whole], Footprint(read.memlet.subset, ((loop.param, loop.range),)), uses.ranges_at(loop))


def _edge(values: Range, number: Expr, blocks: int) -> Expr:
    """The first iteration of a block; block lengths differ by at most one."""
    return values.start + values.step * (values.size * number // blocks)


def _save(memlet: Memlet, dtype: types.DType, reach: int, blocks: int, loop: Loop, region: Region, rw: Rewriter) -> str:
    """Copy, for each block, the elements that its last iterations read; return the copies."""
    name = rw.declare_fresh("saved", Array.packed(dtype, (blocks, reach), transient=True), region)
    block, number = rw.fresh_name("block"), rw.fresh_name("t")
    iteration = _edge(loop.range, sym(block) + 1, blocks) + loop.range.step * (sym(number) - reach)
    element = replace(memlet, subset=memlet.subset.subs({loop.param: iteration}))
    place = Memlet(name, Subset((sym(block), sym(number))))
    tasklet = Tasklet({"value": element}, {"out": place}, (("out", Ref("value", dtype)),), span=loop.span)
    domain = (Range(ZERO, as_expr(blocks)), Range(ZERO, as_expr(reach)))
    node = Map((block, number), domain, Region([State(nodes=[tasklet])]), span=loop.span)
    rw.insert(State(nodes=[node], span=loop.span), region)
    return name


def _use_saved(loop: Loop, memlet: Memlet, saved: Memlet, dtype: types.DType, rw: Rewriter) -> None:
    """Redirect reads of a loop to the saved elements."""
    for tasklet in _tasklets(loop):
        inputs = {name: saved if given == memlet else given for name, given in tasklet.inputs.items()}
        if inputs != tasklet.inputs:
            rw.update(tasklet, inputs=inputs)

    def load(part: ScalarExpr) -> ScalarExpr | None:
        mine = isinstance(part, Load) and (part.container, part.indices) == (memlet.container, memlet.subset.indices)
        return Load(saved.container, saved.subset.indices, dtype) if mine else None

    for block in loop.body.walk_blocks():
        if isinstance(block, Branch):
            rw.rewrite_exprs(block, lambda value: rewrite(value, load))


def _tasklets(loop: Loop) -> Iterator[Tasklet]:
    return (node for node in loop.body.walk_nodes() if isinstance(node, Tasklet))
