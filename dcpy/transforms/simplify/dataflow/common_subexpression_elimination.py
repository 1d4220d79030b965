"""CommonSubexpressionElimination: what was computed before is not computed again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar

from dcpy.ir.analysis.accesses.access_relations import names_in
from dcpy.ir.analysis.dataflow.def_use import Uses, desc_symbols
from dcpy.ir.analysis.dataflow.effect_analysis import effects_of
from dcpy.ir.analysis.dataflow.value_numbering import computation, value_number
from dcpy.ir.data import Array, Lifetime, Scalar
from dcpy.ir.effects import Effect
from dcpy.ir.nodes import Copy, LibraryNode, Map, Node, Tasklet
from dcpy.ir.region import Block, Region, State
from dcpy.ir.tree import Element, child_of, dominates, is_inside, region_of, subtree
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one

NOTHING = "nothing before it computes the same"
NEAREST = 64  #: nodes with one computation that are compared with a later one of them


@dataclass(frozen=True)
class CommonSubexpressionElimination(Transformation["RepeatedNode"]):
    """Common-subexpression elimination by value numbering: a node that computes what an earlier one did goes away.

    before   map i = 0:N { t[i] = f(A[i]) }          after   map i = 0:N { t[i] = f(A[i]) }
             map j = 0:N { u[j] = f(A[j]) }                  map k = 0:N { B[k] = t[k] + t[k] }
             map k = 0:N { B[k] = t[k] + u[k] }

    Applies to tasklets, copies, maps and library nodes, also of different states of a region, that fill transients
    which no other statement writes, where nothing that they read changes in between, and no statement reads the second
    result earlier.
    """

    name: ClassVar[str] = "common-subexpression-elimination"
    optional: ClassVar[bool] = True
    second = capture(Node)
    pattern = one(second)

    def plan(self, m: Match) -> RepeatedNode | Refusal:
        """Return the containers of a node that hold the same values. Refuses nodes that nothing equal stands before."""
        second, uses = m[self.second], m.uses
        candidates = _candidates(second, uses)
        nearest = next(candidates, None)
        if nearest is None:
            return Refusal(NOTHING)
        results = _results(second, uses)
        if isinstance(results, Refusal):
            return results
        region = region_of(second)
        if any(not _is_later(reader, second, region) for name in results for reader in uses.readers(name)):
            return Refusal("its result may be needed where it has not been computed yet")
        number = _number_of(second, results, uses)
        for first in chain((nearest,), candidates):
            theirs = _results(first, uses)
            if isinstance(theirs, Refusal) or number != _number_of(first, theirs, uses):
                continue
            changed = why_not_the_same(first, second, (*results, *theirs), region, uses)
            if changed is not None:
                return changed  # and since an earlier one, all the more
            if [*map(uses.desc, results)] == [*map(uses.desc, theirs)]:
                return RepeatedNode(dict(zip(results, theirs, strict=True)))
        return Refusal(NOTHING)

    def apply(self, m: Match, plan: RepeatedNode, rw: Rewriter) -> None:
        second = m[self.second]
        state = second.state
        rw.erase(second)
        for name, kept in plan.same.items():
            rw.rename_container(name, kept)
        if state is not None and not state.nodes:
            rw.erase(state)
        rw.undeclare_unused(plan.same)


@dataclass(frozen=True, slots=True)
class RepeatedNode:
    """The containers that the second node fills, and those of the first one that hold the same."""

    same: Mapping[str, str]


def _results(node: Node, uses: Uses) -> tuple[str, ...] | Refusal:
    """The transients that a node fills, and that no other statement writes; or why it cannot be left out."""
    if not isinstance(node, Tasklet | Copy | Map | LibraryNode) or effects_of(node) != Effect.NOTHING:
        return Refusal("it does more than to compute, or is no computation")
    reads, writes, *_ = names_in(node, uses)
    if not reads:
        return Refusal("it reads nothing")
    for name in writes:
        desc = uses.desc(name)
        if not isinstance(desc, Array | Scalar) or not uses.is_private(name) or len(uses.overlapping(name)) > 1:
            return Refusal(f"{name!r} must stay in memory: it is an argument, a result, or has views")
        if name in reads or (isinstance(desc, Array) and desc.lifetime is not Lifetime.SCOPE):
            return Refusal(f"{name!r} holds values from before")
        if any(writer is not node and not _in(writer, node) for writer in uses.writers(name)):
            return Refusal(f"{name!r} is written elsewhere")
    combined = any(memlet.wcr for part in subtree(node) for memlet in part.writes() if memlet.container in writes)
    return Refusal("it combines values with what is there") if combined else tuple(writes)


def _in(element: Element, node: Node) -> bool:
    return any(is_inside(element, region) for region in node.regions())


def _number_of(node: Node, results: tuple[str, ...], uses: Uses) -> object:
    facts = uses.facts(node)
    if "value number" not in facts:
        facts["value number"] = value_number(node, results)
    return facts["value number"]


def _is_later(reader: Element, second: Node, region: Region) -> bool:
    return is_inside(reader, region) and dominates(second, reader)


def _candidates(second: Node, uses: Uses) -> Iterator[Node]:
    """Nodes of the region's states before this one that may compute the same, the nearest first.

    Those with an equal computation inside, no more than `NEAREST`: a tasklet with many that differ in operands'
    elements or values would look at all pairs of them.
    """
    groups = ((part, uses.group_of(part, computation)) for part in subtree(second))
    leaf, alike = next((found for found in groups if found[1]), (second, ()))
    if len(alike) < 2 or second.state is None:
        return
    region, place = region_of(second), uses.position(leaf)
    earlier = sorted((other for other in alike if uses.position(other) < place), key=uses.position)
    for other in reversed(earlier[-NEAREST:]):
        state = child_of(region, other)
        node = child_of(state, other) if isinstance(state, State) else None
        if node is not None and node.kind == second.kind and dominates(node, second):
            yield node


def why_not_the_same(
    first: Element, second: Element, results: tuple[str, ...], region: Region, uses: Uses
) -> Refusal | None:
    """Return what changes an operand between two nodes, or blocks, of a region; None where nothing does."""
    for name in dict.fromkeys(name for read in names_in(second, uses)[0] for name in uses.overlapping(read)):
        writers = uses.writers_between(name, first, second)
        if writers:
            return Refusal("what it reads is written in between", tuple(writers[:1]))
    start, stop = _moment(first, region), _moment(second, region)
    symbols = {name: None for part in subtree(second) for name in uses.accesses(part).symbols}
    symbols |= {name: None for result in results for name in desc_symbols(uses.desc(result))}
    for symbol in symbols:
        for definer in uses.definers(symbol):
            if not isinstance(definer, Map) and start < _moment(definer, region) < stop:
                return Refusal("a symbol that it uses changes in between", (definer,))
    return None


def _moment(element: Element, region: Region) -> tuple[int, int]:
    """Return the time of an element, as seen from a region: the position of its block, and of its node in a state.

    What is inside of no block of the region runs before, or after, all of it: (-1, -1).
    """
    block = child_of(region, element)
    if not isinstance(block, Block):
        return -1, -1
    node = child_of(block, element) if isinstance(block, State) else None
    return region.index(block), block.index(node) if isinstance(block, State) and isinstance(node, Node) else -1
