"""Messages between two ranks, as C++ that comes with dcpy (messages.h) and calls MPI."""

from __future__ import annotations

from typing import Any

from dcpy.ir.expressions.scalar import Index, ScalarExpr
from dcpy.ir.nodes import ForeignCall
from dcpy.ir.symbolic import ONE, Expr
from dcpy.libraries.api import Fragment
from dcpy.libraries.mpi import messages
from dcpy.libraries.mpi.expand.collectives import group_numbers, line_of, view_numbers
from dcpy.libraries.mpi.expand.expansion_pairs import both

FUNCTIONS = {
    "comm.send": "send", "comm.recv": "receive", "comm.sendrecv": "send_receive", "comm.isend": "start_send",
    "comm.irecv": "start_receive",
}  # fmt: skip


def message(node: Any, f: Fragment, environment: str) -> None:
    """One call, of what is sent and what is received: operands, requests, ranks, the tag, then their shapes."""
    names = [name for name in ("x", "out") if name in (*node.inputs, *node.outputs)]
    memlets = {**node.inputs, **node.outputs}
    ranks: list[Expr] = [getattr(node, end) for end in ("to", "source") if hasattr(node, end)]
    shapes = [number for name in names for number in view_numbers(f._operand(memlets[name]))]
    pointers = [*names, *(["request"] if "request" in node.outputs else [])]
    numbers = [*ranks, node.tag, *group_numbers(node, f), *shapes]
    arguments: tuple[str | ScalarExpr, ...] = (*pointers, *map(Index, numbers))
    operands = dict(node.inputs), dict(node.outputs)
    f.add(ForeignCall(f"dcpy::{FUNCTIONS[node.kind]}", arguments, *operands, environment))


def waiting(node: messages.Wait, f: Fragment, environment: str) -> None:
    """One call, for all requests; their memory is named."""
    requests = f.input("requests")
    if len(requests.shape) > 1:
        f.decline(f"waits for requests in one dimension, not in {len(requests.shape)}")
    count, stride = (requests.shape[0], requests.strides[0]) if requests.shape else (ONE, ONE)
    memory = [name for name in (*node.inputs, *node.outputs) if name != "requests"]
    arguments: tuple[str | ScalarExpr, ...] = (
        "requests", Index(count), Index(stride), Index(line_of(node)), *dict.fromkeys(memory)
    )
    f.add(ForeignCall("dcpy::wait_all", arguments, dict(node.inputs), dict(node.outputs), environment))


send, send_alone = both(messages.Send, message)
recv, recv_alone = both(messages.Recv, message)
sendrecv, sendrecv_alone = both(messages.Sendrecv, message)
isend, isend_alone = both(messages.Isend, message)
irecv, irecv_alone = both(messages.Irecv, message)
wait, wait_alone = both(messages.Wait, waiting)
