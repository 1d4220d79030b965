"""Virtual ranks: a program in local form runs once per rank, without any MPI, in one process.

Each rank is a thread with memory of its own, and one of them runs at a time, until it waits for another one
(`base.process_scheduling`): so all is deterministic, for any number of ranks. What an MPI leaves open is an error here:
operands that do not agree, collectives in another order, memory that is touched while it is sent. In strict mode a send
waits for its receive, and ranks take turns in an order drawn from a seed.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dcpy.base import process_scheduling
from dcpy.base.errors import CommunicationError
from dcpy.ir.communication import RANKS, Collective, CommNode, NDArray, RankMessages, RankVisit
from dcpy.ir.distribution import coordinate_names
from dcpy.ir.interp.running import interpret
from dcpy.ir.sdfg import Sdfg

NULL = 0  # the request of nothing: it is complete
ANY_TAG = -1  # a receive takes what its sender has sent first
NOBODY = -1  # no rank (MPI_PROC_NULL): what is sent there is gone, and nothing comes from there


@dataclass(slots=True)
class RankTraffic:
    """Traffic of a run: messages from rank to rank and the bytes in them, and collectives of all ranks."""

    messages: int = 0
    bytes: int = 0  #: of messages and copies; an MPI's own collectives are not counted
    collectives: int = 0

    def enter(self, sent: int | RankMessages) -> None:
        """Counts some messages more."""
        more = sent if isinstance(sent, RankMessages) else RankMessages(sent, 0)
        self.messages += more.messages
        self.bytes += more.bytes


def run_ranks(
    sdfg: Sdfg,
    arguments: Sequence[Mapping[str, Any]],
    symbols: Mapping[str, int] | None = None,
    *,
    strict: bool = False,
    seed: int = 0,
) -> RankTraffic:
    """Run a program in local form, on as many ranks as there are `arguments`; results are written into their arrays.

    `symbols` are the same on all ranks; coordinates follow from the grids, and so does the size of a grid with one
    unknown axis. Exceptions of the program are those of the first rank that raised. `CommunicationError` names what is
    wrong between ranks; its notes name both.
    """
    places = symbols_of_ranks(sdfg, len(arguments), symbols or {})
    world = _VirtualWorld(sdfg, places, strict)
    order = list(range(len(arguments)))
    if strict:
        random.Random(seed).shuffle(order)
    processes = [
        process_scheduling.ScheduledProcess(f"rank {rank}", lambda rank=rank: world.run(rank, arguments[rank], seed))  # type: ignore[misc]
        for rank in range(len(arguments))
    ]
    try:
        process_scheduling.run_network(processes, order)
    except RuntimeError as error:
        if not str(error).startswith("deadlock:"):
            raise
        raise CommunicationError(
            "deadlock: no rank can go on",
            notes=tuple(getattr(error, "__notes__", ())),
            help="each message needs its receive, and all ranks the same collectives in the same order",
        ) from None
    world.require_nothing_left()
    return world.traffic


def symbols_of_ranks(sdfg: Sdfg, count: int, symbols: Mapping[str, int]) -> list[dict[str, int]]:
    """The symbols of each of `count` ranks: those given, sizes of grids that follow, and its coordinates."""
    common = dict(symbols)
    for grid in sdfg.grids.values():
        unknown = [size.name for size in grid.sizes if size.name is not None and size.name not in common]
        if len(unknown) == 1 and all(n in common or n == unknown[0] for size in grid.sizes for n in size.symbols):
            others = math.prod(size.evaluate(common) for size in grid.sizes if size.name != unknown[0])
            common[str(unknown[0])] = max(count // max(others, 1), 1)
    found: list[dict[str, int]] = [dict(common) for _ in range(count)]
    for name, grid in sdfg.grids.items():
        missing = [symbol for symbol in grid.symbols if symbol not in common]
        if missing:
            raise CommunicationError(f"the size of the grid {name!r} is not known: {', '.join(missing)}")
        sizes = [size.evaluate(common) for size in grid.sizes]
        if math.prod(sizes) > count or min(sizes, default=1) < 1:
            extent = " x ".join(map(str, sizes))
            raise CommunicationError(f"the grid {name!r} has {extent} ranks, and there are {count}")
        for rank, mine in enumerate(found):
            inside = rank < math.prod(sizes)
            at = [int(c) for c in np.unravel_index(rank, sizes)] if inside else sizes
            mine.update(zip(coordinate_names(name, len(sizes)), at, strict=True))
    return found


@dataclass(slots=True, eq=False)
class _MessageEnd:
    """One message or one receive; it is complete once it has met the other."""

    node: CommNode
    rank: int
    values: NDArray
    sends: bool
    tag: int
    other: _MessageEnd | None = None

    def fits(self, other: _MessageEnd) -> bool:
        """Return whether a receive takes a message: of its tag, or of any."""
        return self.tag == other.tag or (other if self.sends else self).tag == ANY_TAG


@dataclass(slots=True)
class _CollectiveMeeting:
    """The ranks that have reached one collective so far."""

    visits: dict[int, RankVisit] = field(default_factory=dict)
    node: Collective | None = None
    first: int = 0
    done: bool = False


Communicator = tuple[object, ...]


class _RankWorld:
    """The world as one rank sees it."""

    def __init__(self, world: _VirtualWorld, rank: int) -> None:
        self.rank = rank
        self.meet, self.send, self.receive, self.finish = world.meet, world.send, world.receive, world.finish
        self.place = world.place

    def here(self) -> int:
        return self.rank


class _VirtualWorld:
    """All ranks of one run: what is under way between them."""

    def __init__(self, sdfg: Sdfg, places: list[dict[str, int]], strict: bool) -> None:
        self.sdfg, self.places, self.strict = sdfg, places, strict
        self.traffic = RankTraffic()
        self.meetings: dict[Communicator, list[_CollectiveMeeting]] = {}
        self.reached: dict[tuple[Communicator, int], int] = {}
        self.channels: dict[tuple[object, ...], tuple[list[_MessageEnd], list[_MessageEnd]]] = {}
        self.requests: list[_MessageEnd | None] = [None]  # number 0 is the null request

    def run(self, rank: int, arguments: Mapping[str, Any], seed: int) -> None:
        """The life of one rank."""
        RANKS.set(_RankWorld(self, rank))
        known = {name: value for name, value in self.places[rank].items() if name in self.sdfg.symbols}
        try:
            interpret(self.sdfg, arguments, known, strict=self.strict, seed=seed + rank)
        except Exception as error:
            error.add_note(f"on rank {rank}")
            raise

    def require_nothing_left(self) -> None:
        """`CommunicationError` where a message was sent and never received."""
        for sent, _ in self.channels.values():
            for message in sent:
                raise CommunicationError(f"a message of rank {message.rank} was not received", notes=(_at(message),))

    # -- communicators -----------------------------------------------------------------------------------------

    def communicator(self, node: CommNode, rank: int) -> tuple[Communicator, list[int]]:
        """The communicator of a node on one rank, and its ranks in order; none where the rank is not on the grid."""
        if not node.grid:
            return ("",), list(range(len(self.places)))
        if node.grid not in self.sdfg.grids:
            what = f"a {node.kind} is on the grid {node.grid!r}, which does not exist"
            raise CommunicationError(what, span=node.span)
        grid = self.sdfg.grids[node.grid]
        sizes = [size.evaluate(self.places[rank]) for size in grid.sizes]
        if rank >= math.prod(sizes):
            return (node.grid,), []
        along = node.along or tuple(range(len(sizes)))
        mine = np.unravel_index(rank, sizes)
        fixed = tuple(-1 if axis in along else int(at) for axis, at in enumerate(mine))
        members = [
            other for other in range(math.prod(sizes))
            if all(place in (-1, at) for place, at in zip(fixed, np.unravel_index(other, sizes), strict=True))
        ]  # fmt: skip
        return (node.grid, fixed), members

    def place(self, node: CommNode, visit: RankVisit) -> tuple[int, int]:
        """Return a rank's number in its communicator, and the communicator's size."""
        members = self.communicator(node, visit.rank)[1]
        return members.index(visit.rank) if members else -1, len(members)

    # -- collectives -------------------------------------------------------------------------------------------

    def meet(self, node: Collective, visit: RankVisit) -> None:
        """Wait for all; the last one computes what each gets."""
        key, members = self.communicator(node, visit.rank)
        if not members:
            return
        number = self.reached.get((key, visit.rank), 0)
        self.reached[key, visit.rank] = number + 1
        meetings = self.meetings.setdefault(key, [])
        if number == len(meetings):
            meetings.append(_CollectiveMeeting(node=node, first=visit.rank))
        meeting = meetings[number]
        self._require_agreement(meeting, node, visit)
        meeting.visits[visit.rank] = visit
        if len(meeting.visits) == len(members):
            assert meeting.node is not None  # the first one has entered it
            self.traffic.enter(meeting.node.meaning_of_all([meeting.visits[member] for member in members]))
            self.traffic.collectives += 1
            meeting.done = True
            return

        def missing() -> str:
            return ", ".join(f"rank {member}" for member in members if member not in meeting.visits)

        process_scheduling.wait(lambda: meeting.done, f"for {missing()} at {_place(node)}")

    def _require_agreement(self, meeting: _CollectiveMeeting, node: Collective, visit: RankVisit) -> None:
        first = meeting.node
        assert first is not None  # entered when the meeting was made
        both = (f"rank {meeting.first}: {_place(first)}", f"rank {visit.rank}: {_place(node)}")
        if type(first) is not type(node):
            raise CommunicationError(
                f"rank {meeting.first} is at a {first.kind}, and rank {visit.rank} at a {node.kind}",
                span=node.span,
                notes=both,
                help="all ranks reach the same collectives in the same order",
            )
        if meeting.visits:
            mine, its = node.agreement(visit), first.agreement(meeting.visits[meeting.first])
            for what in {**its, **mine}:
                if mine.get(what) != its.get(what):
                    raise CommunicationError(
                        f"the ranks of a {node.kind} do not agree: {what} is {its.get(what)} on rank {meeting.first}, "
                        f"{mine.get(what)} on rank {visit.rank}",
                        span=node.span,
                        notes=both,
                    )

    # -- messages ----------------------------------------------------------------------------------------------

    def send(self, node: CommNode, visit: RankVisit, to: int, tag: int, values: NDArray) -> int:
        """A message is complete when it is under way; in strict mode, when its receive has begun."""
        return self._start(node, visit, to, _MessageEnd(node, visit.rank, values.copy(), True, tag))

    def receive(self, node: CommNode, visit: RankVisit, source: int, tag: int, like: NDArray) -> int:
        return self._start(node, visit, source, _MessageEnd(node, visit.rank, like.copy(), False, tag))

    def _start(self, node: CommNode, visit: RankVisit, peer: int, message: _MessageEnd) -> int:
        key, members = self.communicator(node, visit.rank)
        if peer == NOBODY or not members:
            return NULL
        if not 0 <= peer < len(members):
            raise CommunicationError(f"a {node.kind} is with rank {peer} of {len(members)}", span=node.span)
        ends = (visit.rank, members[peer]) if message.sends else (members[peer], visit.rank)
        if message.sends and message.tag < 0:
            raise CommunicationError(f"a {node.kind} has the tag {message.tag}, and tags are 0 or more", span=node.span)
        sent, taken = self.channels.setdefault((key, *ends), ([], []))
        own, others = (sent, taken) if message.sends else (taken, sent)
        other = next(filter(message.fits, others), None)
        if other is None:
            own.append(message)
        else:
            others.remove(other)
            self._match(*((message, other) if message.sends else (other, message)))
        self.requests.append(message)
        return len(self.requests) - 1

    def _match(self, sent: _MessageEnd, taken: _MessageEnd) -> None:
        what = [f"{m.values.dtype}[{', '.join(map(str, m.values.shape))}]" for m in (sent, taken)]
        if sent.values.dtype != taken.values.dtype or sent.values.size != taken.values.size:
            raise CommunicationError(
                f"rank {sent.rank} sends {what[0]}, and rank {taken.rank} receives {what[1]}",
                span=taken.node.span,
                notes=(_at(sent), _at(taken)),
            )
        sent.other, taken.other = taken, sent
        self.traffic.enter(RankMessages(1, sent.values.nbytes))

    def finish(self, node: CommNode, request: int, values: NDArray | None) -> NDArray | None:
        """`CommunicationError` where what is sent was changed since."""
        if request == NULL:
            return None
        message = self.requests[request] if 0 < request < len(self.requests) else None
        if message is None:
            raise CommunicationError(f"a {node.kind} waits for a request that is not under way", span=node.span)
        if message.sends:
            if self.strict:
                process_scheduling.wait(lambda: message.other is not None, f"for the receive of {_at(message)}")
            if values is not None and not _same(values, message.values):
                raise CommunicationError(
                    "what was sent was changed before the wait", span=node.span, notes=(_at(message),)
                )
        else:
            process_scheduling.wait(lambda: message.other is not None, f"for a message to {_at(message)}")
            if values is not None and not _same(values, message.values):
                raise CommunicationError(
                    "memory was written while it was received into", span=node.span, notes=(_at(message),)
                )
        self.requests[request] = None
        if message.sends:
            return None
        assert message.other is not None  # waited for
        return message.other.values.reshape(message.values.shape)


def _same(left: NDArray, right: NDArray) -> bool:
    return left.shape == right.shape and np.array_equal(left, right, equal_nan=left.dtype.kind in "fc")


def _at(message: _MessageEnd) -> str:
    return f"rank {message.rank}: {_place(message.node)}"


def _place(node: CommNode) -> str:
    """A node in words: its kind, and its line where that is known."""
    return node.kind if node.span is None else f"{node.kind} ({node.span})"
