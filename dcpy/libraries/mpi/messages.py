"""Messages from rank to rank: what is sent at once, and what is started now and waited for later.

Messages of one sender, receiver and tag arrive in the order in which they were sent. A peer of -1 is no rank: what is
sent there is gone, and what comes from there changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from dcpy.base.errors import CommunicationError
from dcpy.ir.communication import CommNode, NDArray, Ranks, RankVisit
from dcpy.ir.field_roles import Role, Roles
from dcpy.ir.symbolic import ZERO, Expr
from dcpy.ir.types import int64
from dcpy.libraries.mpi.nodes import own_results


@dataclass(eq=False)
class _MessageNode(CommNode):
    """A node with connectors that its kind prescribes."""

    takes: ClassVar[tuple[str, ...]] = ()
    gives: ClassVar[tuple[str, ...]] = ()

    def problems(self) -> Iterator[str]:
        """Other connectors."""
        kept = own_results(self)
        if set(self.inputs) - kept != set(self.takes) or set(self.outputs) != set(self.gives):
            yield f"has the connectors ({', '.join(self.takes)}) -> ({', '.join(self.gives)})"


@dataclass(eq=False)
class Send(_MessageNode):
    """Sends ``x`` to the rank `to`. It may wait until that one receives."""

    kind = "comm.send"
    takes = ("x",)
    roles: ClassVar[Roles] = {**CommNode.roles, "to": Role.BOUND, "tag": Role.BOUND}
    to: Expr
    tag: Expr = field(default=ZERO, kw_only=True)

    def run(self, visit: RankVisit, ranks: Ranks) -> None:
        request = ranks.send(self, visit, *_values(visit, self.to, self.tag), visit.inputs["x"])
        ranks.finish(self, request, None)


@dataclass(eq=False)
class Recv(_MessageNode):
    """Waits for a message of the rank `source`, which becomes ``out``."""

    kind = "comm.recv"
    gives = ("out",)
    roles: ClassVar[Roles] = {**CommNode.roles, "source": Role.BOUND, "tag": Role.BOUND}
    source: Expr
    tag: Expr = field(default=ZERO, kw_only=True)

    def run(self, visit: RankVisit, ranks: Ranks) -> None:
        out = visit.outputs["out"]
        _take(out, ranks.finish(self, ranks.receive(self, visit, *_values(visit, self.source, self.tag), out), None))


@dataclass(eq=False)
class Sendrecv(_MessageNode):
    """Sends ``x`` to the rank `to` and receives ``out`` from the rank `source`, at the same time."""

    kind = "comm.sendrecv"
    takes, gives = ("x",), ("out",)
    roles: ClassVar[Roles] = {**CommNode.roles, "to": Role.BOUND, "source": Role.BOUND, "tag": Role.BOUND}
    to: Expr
    source: Expr
    tag: Expr = field(default=ZERO, kw_only=True)

    def run(self, visit: RankVisit, ranks: Ranks) -> None:
        out = visit.outputs["out"]
        taken = ranks.receive(self, visit, *_values(visit, self.source, self.tag), out)
        sent = ranks.send(self, visit, *_values(visit, self.to, self.tag), visit.inputs["x"])
        _take(out, ranks.finish(self, taken, None))
        ranks.finish(self, sent, None)


@dataclass(eq=False)
class Isend(_MessageNode):
    """Starts to send ``x`` to the rank `to`; ``request`` (int64) is to be waited for before ``x`` is written."""

    kind = "comm.isend"
    takes, gives = ("x",), ("request",)
    roles: ClassVar[Roles] = {**CommNode.roles, "to": Role.BOUND, "tag": Role.BOUND}
    to: Expr
    tag: Expr = field(default=ZERO, kw_only=True)

    def run(self, visit: RankVisit, ranks: Ranks) -> None:
        visit.outputs["request"][...] = ranks.send(self, visit, *_values(visit, self.to, self.tag), visit.inputs["x"])


@dataclass(eq=False)
class Irecv(_MessageNode):
    """Starts to receive from the rank `source` into ``out``, which is undefined until ``request`` was waited for."""

    kind = "comm.irecv"
    gives = ("out", "request")
    roles: ClassVar[Roles] = {**CommNode.roles, "source": Role.BOUND, "tag": Role.BOUND}
    source: Expr
    tag: Expr = field(default=ZERO, kw_only=True)

    def run(self, visit: RankVisit, ranks: Ranks) -> None:
        out = visit.outputs["out"]
        source, tag = _values(visit, self.source, self.tag)
        if source >= 0:
            out[...] = np.nan if out.dtype.kind in "fc" else out.dtype.type(-1)  # undefined contents
        visit.outputs["request"][...] = ranks.receive(self, visit, source, tag, out)


@dataclass(eq=False)
class Wait(_MessageNode):
    """Waits for all of ``requests``, an array of int64: number k is that of the memory ``b{k}``.

    Memory that is sent is an input; one that is received into, an output and, as what it was meanwhile, an input.
    """

    kind = "comm.wait"

    def problems(self) -> Iterator[str]:
        """No requests, or memory of none."""
        if "requests" not in self.inputs:
            yield "has the connector requests"
        for name in (*self.inputs, *self.outputs):
            if name != "requests" and not (name.startswith("b") and name[1:].isdigit()):
                yield f"has the connectors requests, b0, b1, ...: not {name!r}"
        for name in self.outputs:
            if name not in self.inputs:
                yield f"receives into {name!r}, which is not an input, so changes before the wait are not detected"

    def run(self, visit: RankVisit, ranks: Ranks) -> None:
        requests = np.atleast_1d(visit.inputs["requests"])
        if requests.dtype != int64.numpy:
            raise CommunicationError(f"requests are int64, not {requests.dtype}", span=self.span)
        for number, request in enumerate(requests.ravel().tolist()):
            name = f"b{number}"
            found = ranks.finish(self, request, visit.inputs.get(name))
            if found is not None:
                if name not in visit.outputs:
                    raise CommunicationError(f"request {number} receives, and {name!r} is no output", span=self.span)
                _take(visit.outputs[name], found)


def _values(visit: RankVisit, *exprs: Expr) -> tuple[int, int]:
    first, second = (expr.evaluate(visit.symbols) for expr in exprs)
    return first, second


def _take(out: NDArray, found: NDArray | None) -> None:
    if found is not None:
        out[...] = found.reshape(out.shape)
