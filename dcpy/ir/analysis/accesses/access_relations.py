"""The access relation: every single access inside of a part, with its iteration space and its place in the order.

The one answer to "what is read and written here". It is derived from what each class declares of its fields, of the
space that its regions run over and of how often they run (`ir.field_roles`); no kind of node is known here. Nothing is
merged, so that questions about pairs of accesses stay exact. Views are followed to the container whose elements they
show. By name alone, element by element, `ir.analysis.dataflow.def_use` knows it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from dcpy.ir.analysis.accesses.memlet_propagation import propagated
from dcpy.ir.analysis.accesses.memory_access import EnclosingRegion, MemoryAccess, Mode
from dcpy.ir.analysis.dataflow.aliasing import in_base, memory_of
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.name_resolution import symbols_assigned_in
from dcpy.ir.analysis.dataflow.summaries import summary_of
from dcpy.ir.data import Stream, View
from dcpy.ir.expressions.scalar import loads_of
from dcpy.ir.field_roles import Role, Runs
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Node
from dcpy.ir.region import Block, Break, Loop, Region, Return, State
from dcpy.ir.subsets import Subset
from dcpy.ir.tree import Element, holder_of, jumps

#: what `Uses.facts` keeps of an element
_ALL, _BODY, _MEMORIES = "accesses", "accesses of the body", "memories"


def accesses_in(part: Region | Element, uses: Uses, only: Collection[str] | None = None) -> tuple[MemoryAccess, ...]:
    """All accesses of a part and inside of it, in program order; the axes of an element are variables then.

    Containers declared inside are left out: they are private to one run of the region that declares them. With `only`,
    so are all containers but these.
    """
    if only is not None or isinstance(part, Region):
        return _collected(part, uses, only)
    facts = uses.facts(part)
    if _ALL not in facts:
        facts[_ALL] = _collected(part, uses, None)
    found: tuple[MemoryAccess, ...] = facts[_ALL]
    return found


def accesses_of_body(scope: Map | Loop, uses: Uses, only: Collection[str] | None = None) -> tuple[MemoryAccess, ...]:
    """All accesses in the body of a map or loop, its parameters being fixed."""
    if only is not None:
        return accesses_in(scope.body, uses, only)
    facts = uses.facts(scope)
    if _BODY not in facts:
        facts[_BODY] = accesses_in(scope.body, uses)
    found: tuple[MemoryAccess, ...] = facts[_BODY]
    return found


def seen_from_outside(part: Region | Element, uses: Uses) -> tuple[MemoryAccess, ...]:
    """Return the accesses of one run of a part: its relation, propagated to boxes over all iterations inside."""
    return propagated(accesses_in(part, uses), uses)


def memories_of(node: Node, uses: Uses) -> tuple[dict[str, None], dict[str, None]]:
    """The memories that a node reads (without those that it writes too), and those that it writes."""
    facts = uses.facts(node)
    if _MEMORIES not in facts:
        reads, writes = names_in(node, uses)
        written = _memories(writes, uses)
        facts[_MEMORIES] = {name: None for name in _memories(reads, uses) if name not in written}, written
    found: tuple[dict[str, None], dict[str, None]] = facts[_MEMORIES]
    return found


def names_in(node: Element, uses: Uses) -> tuple[dict[str, None], dict[str, None]]:
    """The containers that a node or block and all inside read, and those that they change; none declared inside."""
    summary = summary_of(node, uses)
    return summary.reads, summary.writes


def _memories(names: Iterable[str], uses: Uses) -> dict[str, None]:
    return dict.fromkeys([memory_of(name, uses.desc) for name in names])


def _collected(part: Region | Element, uses: Uses, only: Collection[str] | None) -> tuple[MemoryAccess, ...]:
    collector = _AccessCollector(uses, part, only)
    if isinstance(part, Region):
        collector.region(part, ())
    else:
        collector.element(part, ())
    return tuple(collector.found)


def _assigned_in(part: Region | Element, uses: Uses) -> tuple[str, ...]:
    """Symbols that are assigned inside of a part."""
    element = part.owner if isinstance(part, Region) else part
    if isinstance(element, Node | Block) and uses.holds(element) and (element is part or len(element.regions()) == 1):
        return tuple(summary_of(element, uses).assigned)
    regions = (part,) if isinstance(part, Region) else part.regions()
    return tuple(dict.fromkeys(name for region in regions for name in symbols_assigned_in(region)))


def _ends_early(body: Region) -> bool:
    """Return whether a loop may end before its last iteration."""
    return any(isinstance(jump, Break | Return) for jump in jumps(body))


class _WantedAccesses:
    """The accesses that are wanted are found from the containers: of a body of hundreds of nodes, few touch one."""

    def __init__(self, part: Region | Element, wanted: Collection[str], uses: Uses) -> None:
        self.wanted = wanted
        self.names = dict.fromkeys(name for each in wanted for name in (each, uses.root(each)))
        self.around: dict[Element, None] = {}  # what touches them, and what holds that
        self._nodes: dict[State, list[Node]] = {}
        outside = part.owner if isinstance(part, Region) else holder_of(part)
        for name in wanted:
            for accessor in uses.accessors(name):
                self._enter(accessor, outside)

    def _enter(self, element: Element | None, outside: object) -> None:
        while element is not None and element is not outside and element not in self.around:
            self.around[element] = None
            if isinstance(element, Node) and element.state is not None:
                self._nodes.setdefault(element.state, []).append(element)
            element = holder_of(element)

    def nodes_of(self, state: State) -> list[Node]:
        """The nodes of a state that touch what is wanted, or hold what does, in order."""
        return sorted(self._nodes.get(state, ()), key=state.index)


class _AccessCollector:
    def __init__(self, uses: Uses, part: Region | Element, only: Collection[str] | None) -> None:
        self.uses = uses
        self.only = None if only is None else _WantedAccesses(part, only, uses)
        self.assigned = _assigned_in(part, uses)
        self.found: list[MemoryAccess] = []
        self._private: set[str] = set()
        self._hidden: set[str] = set()  # of those, what is no view of something that is not private
        self._memory: dict[str, str] = {}

    # -- walking -----------------------------------------------------------------------------------------------

    def region(self, region: Region, scopes: tuple[EnclosingRegion, ...]) -> None:
        only = self.only
        declared = region.containers if only is None else [name for name in only.names if name in region.containers]
        self._private.update(declared)
        self._hidden.update([name for name in declared if not isinstance(region.containers[name], View)])
        skipped = False
        for block in region.blocks:
            if only is None or block in only.around:
                self.element(block, (*scopes, EnclosingRegion(region, always=False)) if skipped else scopes)
            skipped = skipped or any(jumps(block))

    def element(self, element: Element, scopes: tuple[EnclosingRegion, ...]) -> None:
        if isinstance(element, State):
            for node in element.nodes if self.only is None else self.only.nodes_of(element):
                self.element(node, scopes)
            return
        bodies = element.regions()
        again = element.runs is Runs.AGAIN
        self.own(
            element, (*scopes, EnclosingRegion(bodies[0], always=False, repeats=True)) if again and bodies else scopes
        )
        variables = element.iteration_space()
        for body in bodies:
            if again:  # one value of a parameter comes any number of times
                scope = EnclosingRegion(
                    body, tuple([(name, None) for name, _ in variables]), always=False, repeats=True
                )
            else:
                scope = EnclosingRegion(body, variables, element.runs is Runs.EACH and not _ends_early(body))
            self.region(body, (*scopes, scope))

    def own(self, element: Element, scopes: tuple[EnclosingRegion, ...]) -> None:
        """Add the accesses of an element itself: it reads before it writes."""
        for memlet in element.reads():
            if memlet.container not in self._hidden:
                self.memlet(memlet, element, scopes)
        if not element.has_only_memlets:
            self.others(element, scopes)
        for memlet in element.writes():
            if memlet.container not in self._hidden:
                self.memlet(memlet, element, scopes, Mode.COMBINE if memlet.wcr else Mode.WRITE)

    def others(self, element: Element, scopes: tuple[EnclosingRegion, ...]) -> None:
        """Add the accesses of callees and of expressions, and those without a memlet."""
        if element.callees():
            self.calls(element, scopes)
        for expr in element.all_of(Role.SCALAR):
            for load in loads_of(expr):
                self.memlet(Memlet(load.container, Subset(load.indices)), element, scopes)
        for container in element.all_of(Role.WHOLE):
            self.whole(container, element, scopes)

    def calls(self, element: Element, scopes: tuple[EnclosingRegion, ...]) -> None:
        """Add the accesses of callees through the memlets that they get."""
        passed = [operand for operand in element.operands() if operand.role is Role.PASSED]
        for mode, names_of in ((Mode.READ, self.uses.callees.read_by), (Mode.WRITE, self.uses.callees.written_by)):
            names = frozenset[str]().union(*map(names_of, element.callees()))
            for operand in passed:
                if operand.connector in names:
                    self.memlet(replace(operand.memlet, dynamic=True), element, scopes, mode)

    # -- noting ------------------------------------------------------------------------------------------------

    def whole(self, container: str, place: Element, scopes: tuple[EnclosingRegion, ...]) -> None:
        """All or any part of a container: a queue is popped, an array read and written."""
        memlet = Memlet(container, Subset(), dynamic=True)
        for mode in (Mode.READ,) if isinstance(self.uses.desc(container), Stream) else (Mode.READ, Mode.WRITE):
            self.note(memlet, container, None, place, scopes, mode)

    def memlet(
        self, memlet: Memlet, place: Element, scopes: tuple[EnclosingRegion, ...], mode: Mode = Mode.READ
    ) -> None:
        if self.only is None or memlet.container in self.only.wanted:
            self.note(memlet, *in_base(memlet, self.uses.desc), place, scopes, mode)

    def note(
        self,
        memlet: Memlet,
        root: str,
        subset: Subset | None,
        place: Element,
        scopes: tuple[EnclosingRegion, ...],
        mode: Mode,
    ) -> None:
        if root in self._private:
            return
        memory = self._memory.get(root)
        if memory is None:
            memory = self._memory[root] = memory_of(root, self.uses.desc)
        if isinstance(self.uses.desc(root), Stream):
            mode = Mode.POP if mode is Mode.READ else Mode.PUSH
        position = len(self.found)
        self.found.append(
            MemoryAccess(
                memlet, root, memory, subset, mode, place, scopes, position, not memlet.dynamic, self.assigned
            )
        )
