"""MirroredFusion: fusion under a reversal. A map that reads an array backwards is fused with the array's update."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.accesses.access_relations import accesses_of_body, names_in
from dcpy.ir.analysis.accesses.memory_access import MemoryAccess
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.editing.cloning import clone_body
from dcpy.ir.nodes import Map, Node, Tasklet
from dcpy.ir.region import State
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import Expr, Ranges, sym
from dcpy.transforms.api import Access, Match, Refusal, Rewriter, Transformation, capture, path
from dcpy.transforms.fusion.between import bring_together, movable_behind
from dcpy.transforms.fusion.bodies import append_body
from dcpy.transforms.fusion.conditions import why_not_in_turns
from dcpy.transforms.fusion.matching import Renaming, in_order, why_not_own
from dcpy.transforms.fusion.temporaries import needed_elsewhere, shrink


@dataclass(frozen=True)
class MirroredFusion(Transformation["Mirrored"]):
    """Fuse two maps whose iterations depend on their mirror image: an iteration over half the range runs both images.

    before   map i = 0:N { tmp[i] = c*y[N-1-i] }      after   map i = 0:N//2 { t = c*y[N-1-i];  u = c*y[i]
             map j = 0:N { y[j] = y[j] + tmp[j] }                              y[i] = y[i] + t
                                                                               y[N-1-i] = y[N-1-i] + u }
                                                              map i = N//2:N - N//2 { t = c*y[i];  y[i] = y[i] + t }

    NumPy needs a temporary to update an array from its own reverse (``y += c * y[::-1]``). Here none is needed:
    iterations i and N - 1 - i depend only on each other. Applies if both maps consist of tasklets over the same points,
    the second map writes one array, one element per iteration, and both read only that element and its image.
    (Index-set splitting: Allen and Kennedy, Optimizing Compilers for Modern Architectures, 2001.)
    """

    name: ClassVar[str] = "mirrored-fusion"
    optional: ClassVar[bool] = True
    first = capture(Map)
    tmp = capture(Access)
    second = capture(Map)
    pattern = path(first, tmp, second)

    def plan(self, m: Match) -> Mirrored | Refusal:
        """The axis of the reversal. Refuses dependences on iterations other than the image."""
        first, second, tmp, uses = m[self.first], m[self.second], m[self.tmp].container, m.uses
        if names_in(first, uses)[0].keys().isdisjoint(names_in(second, uses)[1]):  # cheap, and nearly always so
            return Refusal("the second map writes nothing that the first one reads")
        if first.home is not None or second.home is not None:
            return Refusal("ranks have parts of the iterations")
        obstacle = needed_elsewhere(tmp, (first, second), uses) or _why_not_tasklets((first, second))
        obstacle = obstacle or why_not_in_turns(first, second, uses)
        if obstacle:
            return obstacle
        ranges = uses.ranges_at(first)
        renaming = in_order(first, second, ranges)
        if isinstance(renaming, Refusal):
            return renaming
        accesses = [*accesses_of_body(first, uses), *(t.subs(renaming) for t in accesses_of_body(second, uses))]
        param = _mirror(first, second, tmp, accesses, uses)
        if isinstance(param, Refusal):
            return param
        behind = movable_behind(first, second, uses, ranges)
        return behind if isinstance(behind, Refusal) else Mirrored(param, renaming, behind)

    def apply(self, m: Match, plan: Mirrored, rw: Rewriter) -> Map:
        """Return the map over the pairs, which is the first one."""
        first, second, param = m[self.first], m[self.second], plan.param
        bring_together(first, second, plan.behind, rw)
        count = len(list(first.body.walk_nodes()))
        rw.substitute_symbols(dict(plan.renaming), second.body)
        append_body(first, second, rw)
        rw.update(first, claimed=first.claimed or second.claimed)
        rw.forward(second, first)
        rw.erase(second)
        shrink(m[self.tmp].container, (), first, rw)
        values = first.domain[first.params.index(param)]
        ranges = rw.uses.ranges_at(first)
        half, middle = _halves(values, ranges)
        if ranges.remainder(values.size, 2) != 0:
            rw.add_node(_middle(first, param, middle, rw), m.state, m.state.index(first) + 1)
        rw.update(first, domain=_domain_with(first, param, half))
        _add_image(first, param, values, count, rw)
        return first


@dataclass(frozen=True, slots=True)
class Mirrored:
    """The plan to fuse two maps over pairs of iterations."""

    param: str  # of the first map, along which the mirror is
    renaming: Renaming
    behind: tuple[Node, ...]  # nodes between the maps that go behind both; the others go before both


def _why_not_tasklets(maps: Sequence[Map]) -> Refusal | None:
    for node in maps:
        state = node.body.blocks[0] if len(node.body.blocks) == 1 else None
        if not isinstance(state, State) or not all(isinstance(inner, Tasklet) for inner in state.nodes):
            return Refusal("a map does more than tasklets", (node,))
    return None


def _mirror(first: Map, second: Map, tmp: str, accesses: Sequence[MemoryAccess], uses: Uses) -> str | Refusal:
    """The parameter along which an iteration depends on its image. Refuses dependences on other iterations."""
    inside = {*first.body.containers, *second.body.containers}
    accesses = [access for access in accesses if access.root not in inside]
    arrays = {access.root for access in accesses if access.is_write and access.root != tmp}
    if len(arrays) != 1 or any(len(uses.overlapping(name)) > 1 for name in arrays):
        return Refusal("what the second map writes is not one array without views")
    (array,) = arrays
    for name in (tmp, array):
        own = {access.subset for access in accesses if access.root == name and (access.is_write or name == tmp)}
        (element,) = own if len(own) == 1 else (None,)
        if element is None or any(access.wcr or not access.certain for access in accesses if access.root == name):
            return Refusal(f"an iteration does not surely write one element of {name!r}")
        refusal = why_not_own(first, element, name)
        if refusal is not None:
            return refusal
    assert element is not None  # or it would have been refused
    read = {access.subset for access in accesses if access.root == array}
    for param, values in zip(first.params, first.domain, strict=True):
        image = element.subs({param: _image(param, values)})
        if read == {element, image}:
            return param
    return Refusal(f"an iteration does not read just the element of {array!r} that it writes, and its mirror image")


def _image(param: str, values: Range) -> Expr:
    """The mirror image of a parameter in its range."""
    return values.start + values.stop - 1 - sym(param)


def _halves(values: Range, ranges: Ranges) -> tuple[Range, Range]:
    """The first half of a range, and the middle value if the number of values is odd; empty for a negative range."""
    half = values.size_within(ranges) // 2
    return Range(values.start, values.start + half), Range(values.start + half, values.stop - half)


def _domain_with(node: Map, param: str, values: Range) -> tuple[Range, ...]:
    """The domain of a map with other values of one parameter."""
    return tuple(values if name == param else own for name, own in zip(node.params, node.domain, strict=True))


def _middle(first: Map, param: str, values: Range, rw: Rewriter) -> Map:
    """A copy of the first map over the middle values of a parameter."""
    names = {name: rw.fresh_name(name) for name in first.params}
    body = clone_body(first.body, {name: sym(fresh) for name, fresh in names.items()}, rw)
    domain = _domain_with(first, param, values)
    return Map(tuple(names.values()), domain, body, first.schedule, claimed=first.claimed, span=first.span)


def _add_image(first: Map, param: str, values: Range, count: int, rw: Rewriter) -> None:
    """Add the image of an iteration to it: the first map's `count` tasklets of both come before the second's."""
    image = clone_body(first.body, {param: _image(param, values)}, rw)
    (state,), (copied,) = first.body.blocks, image.blocks
    assert isinstance(state, State)
    assert isinstance(copied, State)
    for name, desc in image.containers.items():
        rw.declare(name, desc, first.body)
    for position, node in enumerate(list(copied.nodes)):
        copied.remove(node)
        rw.add_node(node, state, count + position if position < count else None)
