"""Every single access inside a region, with the loops and maps around it: the raw material of dependence analysis.

`accesses` propagates and merges, for those who ask what a part touches; here nothing is merged, so that questions
about pairs of accesses stay exact. Views are followed to the container whose memory they show.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from dcpy.ir.analysis.effects import effects_of
from dcpy.ir.analysis.footprints import Footprint, Variable
from dcpy.ir.analysis.scopes import symbols_assigned_in
from dcpy.ir.data import Array, Stream, View
from dcpy.ir.effects import Effect, ends_early
from dcpy.ir.expr import ScalarExpr, loads_of
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Call, Consume, Copy, Map, Node
from dcpy.ir.region import Block, Branch, Break, Loop, Region, Return, State, While
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import ExprLike
from dcpy.ir.tree import Element, jumps, subtree
from dcpy.ir.uses import Uses

#: what `Uses.facts` keeps of an element
_ALL, _BODY, _NAMES, _MEMORIES, _EFFECTS = "touches", "touches of the body", "names", "memories", "effects"


@dataclass(frozen=True, slots=True)
class Scope:
    """Something around a touch: a loop or map with its variables, or a part that may run or not (`always` False)."""

    region: Region
    variables: tuple[Variable, ...] = ()
    always: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Touch:
    """One access: what `place`, a node that is no scope or a block with an expression, reads or writes.

    `subset` is of `root`, the container whose memory it is; None where that part is not known. `memory` is equal for
    containers that may overlap. `position` counts in program order. A write that is not `certain` may not happen.
    """

    container: str
    root: str
    memory: str
    subset: Subset | None
    is_write: bool
    place: Element
    scopes: tuple[Scope, ...]
    position: int
    wcr: str = ""
    certain: bool = True
    run_time: tuple[str, ...] = ()  #: symbols assigned inside, which have another value in each iteration

    def footprint(self, common: int = 0) -> Footprint | None:
        """What it touches while all but the `common` outermost scopes run through; None where that is not known."""
        if self.subset is None:
            return None
        over = tuple(variable for scope in self.scopes[common:] for variable in scope.variables)
        mentioned = {*self.subset.symbols, *(name for _, dim in over if dim is not None for name in dim.symbols)}
        unknown: tuple[Variable, ...] = tuple((name, None) for name in self.run_time if name in mentioned)
        return Footprint(self.subset, (*unknown, *over))

    def shared_scopes(self, other: Touch) -> int:
        """How many scopes, from the outside, both are in."""
        count = 0
        for mine, its in zip(self.scopes, other.scopes, strict=False):
            if mine.region is not its.region:
                break
            count += 1
        return count

    def is_sure(self, common: int = 0) -> bool:
        """Whether it happens each time that the part inside the `common` outermost scopes runs."""
        return self.certain and all(scope.always for scope in self.scopes[common:])

    def subs(self, values: Mapping[str, ExprLike]) -> Touch:
        """The same touch with free symbols replaced, for instance the parameters of the map around it."""
        scopes = tuple(
            replace(
                scope, variables=tuple((n, None if dim is None else dim.subs(values)) for n, dim in scope.variables)
            )
            for scope in self.scopes
        )
        return replace(self, subset=None if self.subset is None else self.subset.subs(values), scopes=scopes)

    def __str__(self) -> str:
        verb = "writes" if self.is_write else "reads"
        return f"{verb} {self.root}[{self.subset}]" if self.subset and self.subset.dims else f"{verb} {self.root}"


def touches_in(part: Region | Node, uses: Uses, only: Collection[str] | None = None) -> tuple[Touch, ...]:
    """All accesses inside a region, or of a node (a map's parameters are variables then), in program order.

    Containers declared inside are left out: they are private to one run of the region that declares them. With `only`,
    so are all containers but these.
    """
    if only is not None or isinstance(part, Region):
        return _collected(part, uses, only)
    facts = uses.facts(part)
    if _ALL not in facts:
        facts[_ALL] = _collected(part, uses, None)
    found: tuple[Touch, ...] = facts[_ALL]
    return found


def memories_of(node: Node, uses: Uses) -> tuple[dict[str, None], dict[str, None]]:
    """The memories that a node reads (without those that it writes too), and those that it writes."""
    facts = uses.facts(node)
    if _MEMORIES not in facts:
        reads, writes, popped = names_in(node, uses)
        written = _memories((*writes, *popped), uses)
        facts[_MEMORIES] = {name: None for name in _memories(reads, uses) if name not in written}, written
    found: tuple[dict[str, None], dict[str, None]] = facts[_MEMORIES]
    return found


def known_effects_of(node: Node, uses: Uses) -> Effect:
    """`effects_of`, found once until something inside the node changes."""
    facts = uses.facts(node)
    if _EFFECTS not in facts:
        facts[_EFFECTS] = effects_of(node)
    found: Effect = facts[_EFFECTS]
    return found


def names_in(node: Node, uses: Uses) -> tuple[dict[str, None], ...]:
    """The containers that a node and all inside of it read, write and, streams, pop; not those declared inside."""
    facts = uses.facts(node)
    if _NAMES not in facts:
        reads: dict[str, None] = {}
        writes: dict[str, None] = {}
        popped: dict[str, None] = {}
        private = {name for body in node.regions() for region in body.walk_regions() for name in region.containers}
        for element in subtree(node):
            touched = uses.touches(element)
            pops = isinstance(element, Copy) and isinstance(uses.desc(element.src.container), Stream)
            tables = (reads, touched.reads), (writes, touched.writes), (popped, touched.reads if pops else ())
            for table, names in tables:
                for name in names:
                    if name not in private:
                        table[name] = None
        facts[_NAMES] = reads, writes, popped
    found: tuple[dict[str, None], ...] = facts[_NAMES]
    return found


def _memories(names: Iterable[str], uses: Uses) -> dict[str, None]:
    roots = dict.fromkeys(map(uses.root, names))
    return dict.fromkeys(memory_of(root, uses) for root in roots)


def _collected(part: Region | Node, uses: Uses, only: Collection[str] | None) -> tuple[Touch, ...]:
    collector = _Collector(uses, only)
    if isinstance(part, Region):
        collector.assigned = symbols_assigned_in(part)
        collector.region(part, ())
    else:
        collector.node(part, ())
    return tuple(collector.found)


def body_touches(scope: Map | Loop, uses: Uses, only: Collection[str] | None = None) -> tuple[Touch, ...]:
    """All accesses in the body of a map or loop, its parameters being fixed."""
    if only is not None:
        return touches_in(scope.body, uses, only)
    facts = uses.facts(scope)
    if _BODY not in facts:
        facts[_BODY] = touches_in(scope.body, uses)
    found: tuple[Touch, ...] = facts[_BODY]
    return found


def leavers(region: Region) -> Iterator[Element]:
    """Parts that end an iteration of the region early, or may: jumps, then loops without end and what raises."""
    yield from jumps(region)
    for element in subtree(region):
        leaf = isinstance(element, Node) and not element.regions()
        if ends_early(effects_of(element) if leaf else element.effects):
            yield element


def _ends_early(body: Region) -> bool:
    """Whether a loop may end before its last iteration."""
    return any(isinstance(jump, Break | Return) for jump in jumps(body))


class _Collector:
    def __init__(self, uses: Uses, only: Collection[str] | None) -> None:
        self.uses = uses
        self.only = only
        self.found: list[Touch] = []
        self.assigned: tuple[str, ...] = ()
        self._private: set[str] = set()
        self._hidden: set[str] = set()  # of those, what is no view of something that is not private
        self._memory: dict[str, str] = {}

    # -- walking -----------------------------------------------------------------------------------------------

    def region(self, region: Region, scopes: tuple[Scope, ...]) -> None:
        self._private.update(region.containers)
        self._hidden.update([name for name, desc in region.containers.items() if not isinstance(desc, View)])
        skipped = False
        for block in region.blocks:
            inside = (*scopes, Scope(region, always=False)) if skipped else scopes
            self.block(block, inside)
            skipped = skipped or any(jumps(block))

    def block(self, block: Block, scopes: tuple[Scope, ...]) -> None:
        match block:
            case State(nodes=nodes):
                for node in nodes:
                    self.node(node, scopes)
            case Loop(param=param, range=values, body=body):
                self.region(body, (*scopes, Scope(body, ((param, values),), not _ends_early(body))))
            case While(condition=condition, body=body):
                self.loads((condition,), block, (*scopes, Scope(body, always=False)))
                self.region(body, (*scopes, Scope(body, always=False)))
            case Branch(cases=cases):
                self.loads([condition for condition, _ in cases], block, scopes)
                for inner in block.regions():
                    self.region(inner, (*scopes, Scope(inner, always=False)))
            case _:
                self.loads(block.exprs(), block, scopes)

    def node(self, node: Node, scopes: tuple[Scope, ...]) -> None:
        match node:
            case Map(params=params, domain=domain, body=body):
                variables = tuple(zip(params, domain, strict=True))
                self.assigned = tuple(dict.fromkeys((*self.assigned, *symbols_assigned_in(body))))
                self.region(body, (*scopes, Scope(body, variables)))
            case Consume(stream=stream, element=element, body=body):
                self._private.add(element)
                self.whole(stream, node, scopes)
                self.region(body, (*scopes, Scope(body, ((node.worker, None),), always=False)))
            case Call(arguments=arguments):
                written = self.uses.written_by(node.sdfg)
                for memlet in arguments.values():
                    self.memlet(memlet, node, scopes, is_write=False)
                for name, memlet in arguments.items():
                    if name in written:
                        self.memlet(replace(memlet, dynamic=True), node, scopes, is_write=True)
            case _:
                self.leaf(node, scopes)

    def leaf(self, node: Node, scopes: tuple[Scope, ...]) -> None:
        hidden = self._hidden
        for memlet in node.reads():
            if memlet.container not in hidden:
                self.memlet(memlet, node, scopes, is_write=False)
        if isinstance(node, Copy) and isinstance(self.uses.desc(node.src.container), Stream):
            self.whole(node.src.container, node, scopes)  # to pop is to change
        for memlet in node.writes():
            if memlet.container not in hidden:
                self.memlet(memlet, node, scopes, is_write=True)

    # -- noting ------------------------------------------------------------------------------------------------

    def loads(self, exprs: Iterable[ScalarExpr], block: Block, scopes: tuple[Scope, ...]) -> None:
        for expr in exprs:
            for load in loads_of(expr):
                self.memlet(Memlet(load.container, Subset(load.indices)), block, scopes, is_write=False)

    def whole(self, container: str, place: Element, scopes: tuple[Scope, ...]) -> None:
        self.note(container, container, None, place, scopes, is_write=True)

    def memlet(self, memlet: Memlet, place: Element, scopes: tuple[Scope, ...], *, is_write: bool) -> None:
        if self.only is not None and memlet.container not in self.only:
            return
        container = memlet.container
        root, subset = resolved(memlet, self.uses)
        certain = not memlet.dynamic
        self.note(container, root, subset, place, scopes, is_write=is_write, wcr=memlet.wcr, certain=certain)

    def note(
        self,
        container: str,
        root: str,
        subset: Subset | None,
        place: Element,
        scopes: tuple[Scope, ...],
        *,
        is_write: bool,
        wcr: str = "",
        certain: bool = True,
    ) -> None:
        if root in self._private:
            return
        memory = self._memory.get(root)
        if memory is None:
            memory = self._memory[root] = memory_of(root, self.uses)
        position = len(self.found)
        self.found.append(
            Touch(container, root, memory, subset, is_write, place, scopes, position, wcr, certain, self.assigned)
        )


def resolved(memlet: Memlet, uses: Uses) -> tuple[str, Subset | None]:
    """The container whose memory a memlet touches, and which part; None where it has no box there."""
    container, subset = memlet.container, memlet.subset
    part: Subset | None = subset
    while isinstance(desc := uses.desc(container), View):
        part = None if part is None else desc.base_subset(part)
        container = desc.of
    return container, None if isinstance(desc, Stream) else part


def memory_of(root: str, uses: Uses) -> str:
    """A name that is equal for containers that may overlap: itself, but for arguments that alias."""
    desc = uses.desc(root)
    return min(uses.overlapping(root)) if isinstance(desc, Array) and desc.alias else root
