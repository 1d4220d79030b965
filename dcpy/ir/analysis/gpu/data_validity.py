"""Data validity on host and device: a forward dataflow analysis over regions, with repairs where a pass wants them.

A container that has a twin on a device is valid on the host, on the device, or on both. Who reads it, or writes a part
of it, needs it to be valid on its own side; a write makes the other side invalid; a copy of the whole makes both
valid. The passes that place copies run this analysis, and so does the verifier, which thus finds what they forgot.

The program's results, and its arguments when it ends or raises an exception, are read where callers have them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from dcpy.ir.analysis.accesses.exposed_reads import ExposedAccesses, exposed_accesses, read_by_itself
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.effect_analysis import effects_of
from dcpy.ir.analysis.device_side import Side, homes, is_kernel, twins
from dcpy.ir.data import Array, Scalar
from dcpy.ir.effects import Effect
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy
from dcpy.ir.region import Block, Branch, Break, Check, Continue, Loop, Region, Return, State, While
from dcpy.ir.subsets import Subset
from dcpy.ir.tree import Element

Validity = dict[str, Side]  #: for each container of the host that has a twin, where it is valid
ProgramPoint = Element | Region  #: before an element, or at the end of a region
Need = tuple[str, Side]


class ValidityDemand(ABC):
    """Reaction to a validity need that is not met: insert a copy, note it, or raise an error."""

    repairs: bool  #: whether it meets the need where two ways come together, too

    @abstractmethod
    def at(self, name: str, side: Side, place: ProgramPoint) -> None:
        """A container has to be valid on a side at a place."""

    @abstractmethod
    def on_failure(self, names: Sequence[str], check: Check) -> None:
        """Containers have to be valid where callers have them, if the condition of a check does not hold."""

    @abstractmethod
    def on_failing_kernel(self, names: Sequence[str], kernel: Element) -> None:
        """Containers are the device's alone where a check inside of a kernel may fail."""


@dataclass
class _NotedNeeds(ValidityDemand):
    """Needs in the order in which they come, of a walk that changes nothing."""

    repairs: bool
    needs: dict[Need, None] = field(default_factory=dict)

    def at(self, name: str, side: Side, place: ProgramPoint) -> None:
        self.needs[name, side] = None

    def on_failure(self, names: Sequence[str], check: Check) -> None:
        pass

    def on_failing_kernel(self, names: Sequence[str], kernel: Element) -> None:
        pass


@dataclass
class _ExitStates:
    """The states in which control leaves an iteration of a loop other than at the end of its body."""

    breaks: list[tuple[ProgramPoint, Validity]] = field(default_factory=list)
    continues: list[tuple[ProgramPoint, Validity]] = field(default_factory=list)


def follow(uses: Uses, demand: ValidityDemand) -> None:
    """Walk through a program, and hand each need that is not met to `demand`."""
    pairs = twins(uses.sdfg)
    if pairs:
        _ValidityDataflow(uses, pairs, demand).program()


def is_transfer(element: Element) -> bool:
    """Return whether it may touch both sides: copies do, and nothing else does."""
    return isinstance(element, Copy)


def is_whole(memlet: Memlet, uses: Uses) -> bool:
    """Return whether a memlet names all elements of an array or scalar."""
    desc = uses.desc(memlet.container)
    return isinstance(desc, Array | Scalar) and memlet.subset == Subset.whole(desc.shape)


Rehearsals = dict[tuple[Block, frozenset[Need]], tuple[dict[Need, None], list[Validity]]]


class _ValidityDataflow:
    def __init__(self, uses: Uses, pairs: dict[str, str], demand: ValidityDemand) -> None:
        self.uses = uses
        self.pairs = pairs
        self.tracked = dict.fromkeys(pairs.values())
        self.demand = demand
        self.loops: list[_ExitStates] = []
        self.known: Rehearsals = {}  #: as long as needs are only noted, and nothing changes
        self.homes = homes(uses.sdfg)
        passed = [pairs.get(name, name) for name in uses.sdfg.arguments]
        self.arguments = [name for name in self.tracked if name in passed]
        results = (uses.root(result.container) for result in uses.sdfg.results)
        self.results = [name for name in dict.fromkeys(pairs.get(r, r) for r in results) if name in self.tracked]

    def program(self) -> None:
        body = self.uses.sdfg.body
        end = self.region(body, {})
        if end is not None:
            self.leave(body, end)

    # -- regions and blocks ------------------------------------------------------------------------------------

    def region(self, region: Region, state: Validity) -> Validity | None:
        """The state at the end; None where control does not get there. `state` is changed."""
        for name in region.containers:
            if name in self.tracked:  # unwritten data are as good on either side
                known = name in self.arguments or name in self.uses.sdfg.constants
                state[name] = self.homes.get(name, Side.HOST) if known else Side.BOTH
        current: Validity | None = state
        for block in list(region.blocks):
            if current is None:
                return None
            current = self.block(block, current)
        return current

    def block(self, block: Block, state: Validity) -> Validity | None:
        match block:
            case State():
                for node in list(block.nodes):
                    self.element(node, state)
            case Branch():
                return self.branch(block, state)
            case Loop() | While():
                return self.loop(block, state)
            case Break() | Continue():
                jumps = self.loops[-1]
                (jumps.breaks if isinstance(block, Break) else jumps.continues).append((block, state))
                return None
            case Return():
                self.leave(block, state)
                return None
            case Check():
                self.accesses(block, state)
                lost = [name for name in self.arguments if not state[name] & self.homes[name]]
                if lost:
                    self.demand.on_failure(lost, block)
            case _:
                self.element(block, state)
        return state

    def branch(self, block: Branch, state: Validity) -> Validity | None:
        self.conditions(block, block, state)
        ends: list[tuple[ProgramPoint, Validity]] = []
        for region in block.regions():
            end = self.region(region, dict(state))
            if end is not None:
                ends.append((region, end))
        if block.otherwise is None:
            ends.append((block, state))
        return self.merged(ends) if ends else None

    def leave(self, place: ProgramPoint, state: Validity) -> None:
        """The end of the program: callers read what they get."""
        for name in dict.fromkeys((*self.arguments, *self.results)):
            self.need(name, self.homes.get(name, Side.HOST), place, state)

    # -- loops -------------------------------------------------------------------------------------------------

    def loop(self, block: Loop | While, state: Validity) -> Validity | None:
        """Needs that one copy before the loop meets for good are met there; the others where they are."""
        read = [name for name in read_by_itself(block, self.uses) if name in self.tracked]
        entry = self.entry(block, state, read)
        for name, side in entry.items():
            if side & ~state[name]:
                self.need(name, side & ~state[name], block, state)
        for name in read:
            self.need(name, Side.HOST, block, entry)
        self.loops.append(_ExitStates())
        end = self.region(block.body, dict(entry))
        jumps = self.loops.pop()
        if self.demand.repairs:
            for place, at_end in self.back_edges(block.body, end, jumps):
                for name, side in entry.items():
                    for one in (Side.HOST, Side.DEVICE):
                        if one & side:
                            self.need(name, one, place, at_end)
        return self.after(entry, jumps)

    def entry(self, block: Loop | While, state: Validity, read: Sequence[str]) -> Validity:
        """Return where containers are valid at the start of each iteration; insert the copies before the loop that pay.

        A need of the body is met before the loop where that lasts: nothing inside makes that side invalid.
        """
        entry, refused = dict(state), dict[Need, None]()
        if not isinstance(self.demand, _NotedNeeds):
            self.known = {}
        for name in read if self.demand.repairs else ():
            entry[name] |= Side.HOST
        while True:
            needs, ends = self.rehearsed(block, entry)
            fresh = [need for need in needs if need[0] in entry and need not in refused]
            if fresh and self.demand.repairs:
                trial = dict(entry)
                for name, side in fresh:
                    trial[name] |= side
                again, later = self.rehearsed(block, trial)
                for name, side in fresh:
                    if (name, side) not in again and all(end[name] & side for end in later):
                        entry[name] |= side
                    else:
                        refused[name, side] = None
                continue
            kept = {name: self.at_head(name, side, ends, name in read) for name, side in entry.items()}
            if kept == entry:
                return entry
            entry = kept

    def at_head(self, name: str, side: Side, ends: Sequence[Validity], is_read: bool) -> Side:
        """Return a container's validity at the head of a loop, from `side` at its entry and the ends of its body."""
        found = side
        for end in ends:
            found &= end[name]
        if not self.demand.repairs:
            return found
        return found | Side.HOST if is_read else found or Side.DEVICE

    def rehearsed(self, block: Loop | While, entry: Validity) -> tuple[dict[Need, None], list[Validity]]:
        """The needs of the body that are not met where it begins with `entry`, and how it ends, if nothing changes.

        Each body is walked once for each way to begin it, however deep loops are nested.
        """
        key = block, frozenset(entry.items())
        if key not in self.known:
            noted = _NotedNeeds(self.demand.repairs)
            walk = _ValidityDataflow(self.uses, self.pairs, noted)
            walk.loops, walk.known = [*self.loops, _ExitStates()], self.known
            end = walk.region(block.body, dict(entry))
            ends = [state for _, state in self.back_edges(block.body, end, walk.loops[-1])]
            self.known[key] = noted.needs, ends
        return self.known[key]

    def back_edges(self, body: Region, end: Validity | None, jumps: _ExitStates) -> list[tuple[ProgramPoint, Validity]]:
        return [*([(body, end)] if end is not None else []), *jumps.continues]

    def after(self, head: Validity, jumps: _ExitStates) -> Validity:
        """The state behind a loop: as at its head, or as at one of its breaks."""
        result = dict(head)
        for place, state in jumps.breaks:
            for name in result:
                if not result[name] & state[name] and self.demand.repairs:
                    side = Side.DEVICE if result[name] & Side.DEVICE else Side.HOST
                    self.need(name, side, place, state)
                result[name] &= state[name]
        return result

    # -- where ways meet ---------------------------------------------------------------------------------------

    def merged(self, ends: Sequence[tuple[ProgramPoint, Validity]]) -> Validity:
        """Valid is what is so at all ends; where that is nothing, the device gets it."""
        result: Validity = {}
        for name in ends[0][1]:
            if any(name not in state for _, state in ends):
                continue
            found = Side.BOTH
            for _, state in ends:
                found &= state[name]
            if found is Side.NEITHER and self.demand.repairs:
                for place, state in ends:
                    self.need(name, Side.DEVICE, place, state)
                found = Side.DEVICE
            result[name] = found
        return result

    # -- elements ----------------------------------------------------------------------------------------------

    def element(self, element: Element, state: Validity) -> None:
        """A node, or a block that the host runs as a whole."""
        if isinstance(element, Copy) and self.transfer(element, state):
            return
        if Effect.MAY_RAISE in effects_of(element):
            lost = [name for name in self.arguments if not state[name] & self.homes[name]]
            fetched = [name for name in lost if is_kernel(element) and self.homes[name] is Side.HOST]
            if is_kernel(element):
                self.demand.on_failing_kernel(fetched, element)
            for name in lost:
                if name not in fetched:
                    self.need(name, self.homes[name], element, state)
        self.accesses(element, state)

    def accesses(self, element: Element, state: Validity) -> None:
        for root, accessed in exposed_accesses(element, self.uses).items():
            self.access(root, accessed, element, state)

    def access(self, root: str, accessed: ExposedAccesses, element: Element, state: Validity) -> None:
        name, side = self.pairs.get(root, root), Side.DEVICE if root in self.pairs else Side.HOST
        if name not in self.tracked:
            return
        if accessed.needs:
            self.need(name, side, element, state)
        if accessed.writes:
            state[name] = side

    def transfer(self, node: Copy, state: Validity) -> bool:
        """Return whether a node copies all of a container to its other side."""
        source, target = node.src.container, node.dst.container
        name = self.pairs.get(target, target)
        if source == target or self.pairs.get(source, source) != name or name not in self.tracked:
            return False
        if not (is_whole(node.src, self.uses) and is_whole(node.dst, self.uses)):
            return False
        self.need(name, Side.DEVICE if source in self.pairs else Side.HOST, node, state)
        state[name] = Side.BOTH
        return True

    def conditions(self, block: Block, place: ProgramPoint, state: Validity) -> None:
        for name in read_by_itself(block, self.uses):
            if name in self.tracked:
                self.need(name, Side.HOST, place, state)

    def need(self, name: str, side: Side, place: ProgramPoint, state: Validity) -> None:
        """Hand on what is not met; from then on it is."""
        if not state[name] & side:
            self.demand.at(name, side, place)
            state[name] |= side


def needs_of(
    uses: Uses, note: Callable[[str, Side, ProgramPoint], None], failing: Callable[[str, Check], None]
) -> None:
    """Report all needs of a program that no copy meets, and change nothing."""
    follow(uses, _ReportedNeeds(note, failing))


def lost_by_failing_kernels(uses: Uses) -> dict[Element, tuple[str, ...]]:
    """The arguments that the device alone has when a kernel begins, for each one in which a check may fail."""
    found = _LostArguments()
    follow(uses, found)
    return found.names


@dataclass
class _LostArguments(ValidityDemand):
    """No need is left where copies are placed, but for those of kernels that fail."""

    names: dict[Element, tuple[str, ...]] = field(default_factory=dict)
    repairs: bool = False

    def at(self, name: str, side: Side, place: ProgramPoint) -> None:
        pass

    def on_failure(self, names: Sequence[str], check: Check) -> None:
        pass

    def on_failing_kernel(self, names: Sequence[str], kernel: Element) -> None:
        self.names[kernel] = tuple(names)


@dataclass
class _ReportedNeeds(ValidityDemand):
    note: Callable[[str, Side, ProgramPoint], None]
    failing: Callable[[str, Check], None]
    repairs: bool = False

    def at(self, name: str, side: Side, place: ProgramPoint) -> None:
        self.note(name, side, place)

    def on_failure(self, names: Sequence[str], check: Check) -> None:
        for name in names:
            self.failing(name, check)

    def on_failing_kernel(self, names: Sequence[str], kernel: Element) -> None:
        pass

