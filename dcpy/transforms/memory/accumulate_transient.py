"""AccumulateTransient: a map combines values in a transient of its own, and that into memory once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.effect_analysis import effects_of
from dcpy.ir.analysis.dataflow.name_resolution import symbols_assigned_in
from dcpy.ir.data import Array, Scalar
from dcpy.ir.effects import Effect
from dcpy.ir.expressions.identities import neutral_value
from dcpy.ir.expressions.scalar import Const, Ref
from dcpy.ir.field_roles import Role
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Node, Tasklet
from dcpy.ir.region import Region, State
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, sym
from dcpy.ir.tree import Element, is_inside
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.memory.container_choice import first_that_allows


@dataclass(frozen=True)
class AccumulateTransient(Transformation["Accumulation"]):
    """Accumulate what a map combines into memory in a private transient first.

    before   map k = 0:K, j = 0:M { C[j] (add) <- f(k, j) }     after   map j = 0:M { t[j] = 0 }
                                                                        map k = 0:K, j = 0:M { t[j] (add) <- f(k, j) }
                                                                        map j = 0:M { C[j] (add) <- t[j] }

    Applies to a container that the map only combines values into, all by one operation and at one index, each of whose
    dimensions is fixed in the map or one of its parameters. Changes the order of the combinations, as maps may anyway;
    with a map around, one combination into memory is left of each of its iterations: partial sums (Halide's rfactor).
    """

    name: ClassVar[str] = "accumulate-transient"
    map = capture(Map)
    pattern = one(map)

    array: str = ""  #: the container; without a name the first one that allows it

    def plan(self, m: Match) -> Accumulation | Refusal:
        """Return the accumulation. Refuses containers that the map reads, or writes otherwise, and transients."""
        node, uses = m[self.map], m.uses
        names = (memlet.container for inner in node.body.walk_nodes() for memlet in inner.writes())
        return first_that_allows(self.array, names, lambda name: accumulation(name, node, uses), "write")

    def apply(self, m: Match, plan: Accumulation, rw: Rewriter) -> str:
        """Return the name of the transient."""
        return accumulate(plan, m[self.map], rw)


@dataclass(frozen=True, slots=True)
class Accumulation:
    """A combining write of a map: where, and the dimensions that the map's parameters run along, with these."""

    target: Memlet
    along: tuple[tuple[int, str, Range], ...]

    def local(self) -> Subset:
        """The index in the transient that the map writes."""
        return Subset(tuple(sym(param) - values.start for _, param, values in self.along))


def accumulation(name: str, node: Map, uses: Uses) -> Accumulation | Refusal:
    """Return how a map combines values into a container; or why that cannot go through a transient."""
    if node.state is None or name in {inner for region in node.body.walk_regions() for inner in region.containers}:
        return Refusal(f"{name!r} is private to it")
    desc = uses.desc(name)
    if not isinstance(desc, Array | Scalar) or len(uses.overlapping(name)) > 1:
        return Refusal(f"{name!r} has aliases")
    if desc.transient and uses.home(name) is node.state.region:
        return Refusal(f"{name!r} is a transient of the scope around the map already")
    if any(is_inside(reader, node.body) for reader in uses.readers(name)):
        return Refusal(f"it reads {name!r}, too")
    writers = [writer for writer in uses.writers(name) if is_inside(writer, node.body)]
    targets = list(dict.fromkeys(memlet for writer in writers for memlet in _writes_to(name, writer)))
    if len(targets) != 1 or not targets[0].wcr or not all(isinstance(writer, Tasklet) for writer in writers):
        return Refusal(f"it does not just combine values into one index of {name!r}")
    if Effect.MAY_RAISE in effects_of(node) and not uses.is_private(name):
        return Refusal(f"it may raise an exception, and the caller would see what is in {name!r} then")
    return _accumulation(targets[0], node, uses)


def _accumulation(target: Memlet, node: Map, uses: Uses) -> Accumulation | Refusal:
    domain = dict(zip(node.params, node.domain, strict=True))
    inner = {name for region in node.body.walk_regions() for name in region.params} - set(domain)
    inner.update(symbols_assigned_in(node.body))
    along: list[tuple[int, str, Range]] = []
    for axis, dim in enumerate(target.subset.dims):
        if not inner.isdisjoint(dim.symbols):
            return Refusal(f"where it writes {target.container!r} changes inside of its iterations")
        mine = [name for name in dim.symbols if name in domain]
        if not mine:
            continue
        values = domain[mine[0]]
        if dim is not sym(mine[0]) or values.step is not ONE or any(name in domain for name in values.symbols):
            return Refusal(f"dimension {axis} of {target.container!r} is neither fixed nor a parameter in steps of one")
        along.append((axis, mine[0], values))
    if len(along) == len(domain):
        return Refusal("each iteration has an element of its own")
    used = {param for _, param, _ in along}
    ranges = uses.ranges_at(node)
    summed = [values for param, values in domain.items() if param not in used]
    if target.subset.dims and not all(ranges.proves_le(ONE, values.size) for values in summed):
        return Refusal("it may have no iterations, and then the element may not exist")
    return Accumulation(target, tuple(along))


def _writes_to(name: str, element: Element) -> tuple[Memlet, ...]:
    return tuple(memlet for memlet in element.writes() if memlet.container == name)


def accumulate(plan: Accumulation, node: Map, rw: Rewriter) -> str:
    """Carry out what was planned; return the name of the transient."""
    target, state = plan.target, node.state
    assert isinstance(state, State)
    desc = rw.uses.desc(target.container)
    assert isinstance(desc, Array | Scalar)
    sizes = tuple(values.size for _, _, values in plan.along)
    fresh = Array.packed(desc.dtype, sizes, transient=True) if sizes else Scalar(desc.dtype, transient=True)
    name = rw.declare_fresh(f"{target.container}_part", fresh, state.region)
    start = Const(neutral_value(target.wcr, desc.dtype), desc.dtype)
    rw.add_node_before(node, _over(plan, Tasklet({}, {"out": Memlet(name, plan.local())}, (("out", start),)), rw))
    for inner in list(node.body.walk_nodes()):
        rw.replace_memlets(
            inner, lambda memlet: replace(memlet, container=name, subset=plan.local()) if memlet == target else memlet
        )
    value = Tasklet({"part": Memlet(name, plan.local())}, {"out": replace(target)}, (("out", Ref("part", desc.dtype)),))
    rw.add_node(_over(plan, value, rw), state, state.index(node) + 1)
    return name


def _over(plan: Accumulation, tasklet: Tasklet, rw: Rewriter) -> Node:
    """A tasklet for each element of the transient."""
    if not plan.along:
        return tasklet
    names = {param: rw.fresh_name(param) for _, param, _ in plan.along}
    values = {old: sym(new) for old, new in names.items()}
    tasklet.rewrite({Role.READ: lambda memlet: memlet.subs(values), Role.WRITTEN: lambda memlet: memlet.subs(values)})
    return Map(tuple(names.values()), tuple(dims for _, _, dims in plan.along), Region([State(nodes=[tasklet])]))
