"""Point-to-point messages: ``Send``, ``Recv``, non-blocking ones, and waiting for them.

A wait has the memory of its messages as operands, so dataflow keeps others away from it. Which memory that is follows
from the text of the program: a request is started and waited for in the same loop body, by a number that is known.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from dcpy.base.errors import FrontendError
from dcpy.base.source import SrcSpan
from dcpy.frontend.abstract_values.values import ArrayValue, Scalar, Static, Value
from dcpy.frontend.comm.operands import (
    NONE,
    implements_comm,
    rank_of,
    received_operand,
    require_same_dtype,
    sent_operand,
)
from dcpy.frontend.lower.arrays.stores import require_writable
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.ir.expressions.scalar import Const, Load, op
from dcpy.ir.region import Region
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import Expr, as_expr
from dcpy.ir.types import int64

TAG = Static(0)


@dataclass(frozen=True, slots=True)
class PendingMessage:
    """A message under way: its memory, where it was started, and the regions around that place."""

    memory: ArrayValue
    receives: bool
    span: SrcSpan | None
    enclosing_regions: tuple[Region, ...]


Requests = dict[int, PendingMessage]


@implements_comm("Send")
def send(b: OpBuilder, buffer: Value, dest: Value, tag: Value = TAG) -> Value:
    """Send an array; it may wait until the other rank receives."""
    fields = {"to": rank_of(b, dest, "dest"), "tag": b.integer(tag, "tag")}
    b.library("comm.send", {"x": sent_operand(b, buffer, "comm.Send")}, {}, **fields)
    return NONE


@implements_comm("Recv")
def recv(b: OpBuilder, buffer: Value, source: Value, tag: Value = TAG) -> Value:
    """Wait for a message of a rank."""
    out = received_operand(b, buffer, "comm.Recv")
    fields = {"source": rank_of(b, source, "source"), "tag": b.integer(tag, "tag")}
    b.library("comm.recv", {"out": out}, {"out": out}, **fields)
    return NONE


@implements_comm("Sendrecv")
def sendrecv(b: OpBuilder, sendbuf: Value, dest: Value, recvbuf: Value, source: Value, tag: Value = TAG) -> Value:
    """Send to one rank and receive from another one, at the same time."""
    x, out = sent_operand(b, sendbuf, "comm.Sendrecv"), received_operand(b, recvbuf, "comm.Sendrecv")
    require_same_dtype(b, "Sendrecv", x, out)
    ends = {"to": rank_of(b, dest, "dest"), "source": rank_of(b, source, "source")}
    b.library("comm.sendrecv", {"x": x, "out": out}, {"out": out}, tag=b.integer(tag, "tag"), **ends)
    return NONE


@implements_comm("Isend")
def isend(b: OpBuilder, buffer: Value, dest: Value, tag: Value = TAG, request: Value = NONE) -> Value:
    """Start to send; the array may not be written before the wait."""
    x = sent_operand(b, buffer, "comm.Isend")
    fields = {"to": rank_of(b, dest, "dest"), "tag": b.integer(tag, "tag")}
    word, found = _new_request(b, request, PendingMessage(x, False, b.emit.span, tuple(b.emit.open_regions)))
    b.library("comm.isend", {"x": x}, {"request": word}, **fields)
    return found


@implements_comm("Irecv")
def irecv(b: OpBuilder, buffer: Value, source: Value, tag: Value = TAG, request: Value = NONE) -> Value:
    """Start to receive; the array may not be touched before the wait."""
    out = received_operand(b, buffer, "comm.Irecv")
    fields = {"source": rank_of(b, source, "source"), "tag": b.integer(tag, "tag")}
    word, found = _new_request(b, request, PendingMessage(out, True, b.emit.span, tuple(b.emit.open_regions)))
    b.library("comm.irecv", {"out": out}, {"out": out, "request": word}, **fields)
    return found


@implements_comm("Wait")
def wait(b: OpBuilder, request: Value) -> Value:
    """Wait for one message."""
    word, number = _request(b, request)
    _wait(b, word, number, number + 1)
    return NONE


@implements_comm("Waitall")
def waitall(b: OpBuilder, requests: Value) -> Value:
    """Wait for all messages of an array of requests."""
    count = requests.shape[0].constant if isinstance(requests, ArrayValue) and requests.rank == 1 else None
    if count is None or not isinstance(requests, ArrayValue):
        raise b.error(
            "comm.Waitall takes an array of requests in one dimension, of a size that is known at compile time",
            help="requests = np.empty((4,), dtype=comm.Request)",
        )
    desc = b.desc(requests)
    if not requests.is_all_of(desc):
        raise b.error("comm.Waitall takes all of an array of requests", help="use an array for each group of messages")
    _wait(b, requests, 0, count)
    return NONE


def _new_request(b: OpBuilder, request: Value, started: PendingMessage) -> tuple[ArrayValue, Value]:
    """Return the memory of a request, and the result of the call: a request of its own where none is passed."""
    if request == NONE:
        word = b.scalar_container(int64, "request")[0]
        _enter(b, word.container, 0, started)
        return word, word  # as an array: a name of the user's is this one, not a copy
    word, number = _request(b, request)
    require_writable(b, word)
    idle = op("eq", word.load(()), Const(0, int64))
    b.check(idle, "RuntimeError", "a request is started again that was not waited for")
    _enter(b, word.container, number, started)
    return word, NONE


def _request(b: OpBuilder, request: Value) -> tuple[ArrayValue, int]:
    """The memory of one request, and its number in its array."""
    match request:
        case ArrayValue(rank=0, container=name) if name in b.started_requests and request.is_all_of(b.desc(request)):
            return request, 0
        case Scalar(expr=Load(container=name, indices=indices)) if request.dtype == int64:
            numbers: list[int | None] = [index.constant for index in indices]
            desc = b.emit.descs[name]
            if len(numbers) == 0:
                return ArrayValue.whole(name, desc), 0
            if len(numbers) == 1 and numbers[0] is not None:
                return _element(name, as_expr(numbers[0])), numbers[0]
    raise b.error(
        f"a request is an element of an array of requests, by a number that is known, not {b.describe(request)}",
        help="requests = np.empty((4,), dtype=comm.Request); comm.Isend(x, dest, tag, requests[0])",
    )


def _element(container: str, index: Expr) -> ArrayValue:
    return ArrayValue(container, int64, (), Subset((index,)), ())


def _enter(b: OpBuilder, container: str, number: int, started: PendingMessage) -> None:
    known: Requests = b.started_requests.setdefault(container, {})
    before = known.get(number)
    if before is not None and (before.memory, before.receives) != (started.memory, started.receives):
        raise b.error(
            "a request stands for two messages of other memory, of which one is under way",
            help="use another element of the array of requests for each, and wait for all",
        )
    known[number] = started
    b.emit.on_undo(functools.partial(_put_back, known, number, before))


def _wait(b: OpBuilder, requests: ArrayValue, first: int, end: int) -> None:
    known: Requests = b.started_requests.get(requests.container, {})
    here = tuple(b.emit.open_regions)
    memory: dict[str, ArrayValue] = {}
    received: dict[str, ArrayValue] = {}
    for number in range(first, end):
        message = known.pop(number, None)
        if message is None:
            continue
        b.emit.on_undo(functools.partial(_put_back, known, number, message))
        if message.enclosing_regions[: len(here)] != here:
            raise b.error(
                "a message is waited for in a loop or branch in which it was not started",
                help="wait where the message was started, or behind that",
            )
        memory[f"b{number - first}"] = message.memory
        if message.receives:
            require_writable(b, message.memory)
            received[f"b{number - first}"] = message.memory
    if not memory:
        raise b.error(
            "a wait is for messages that this function has not started before it",
            help="start and wait for messages in one function, in the same iteration",
        )
    b.library("comm.wait", {"requests": requests, **memory}, received)
    b.store(requests, Static(0))


def require_all_waited(b: OpBuilder) -> None:
    """`FrontendError` at a message without a wait: its memory may be freed before the message has arrived."""
    for known in b.started_requests.values():
        for message in known.values():
            raise FrontendError(
                "a message is started that the function does not wait for",
                span=message.span,
                help="wait for it before the function returns: its memory is in use until then",
            )


def _put_back(known: Requests, number: int, before: PendingMessage | None) -> None:
    if before is None:
        known.pop(number, None)
    else:
        known[number] = before
