"""Operands of messages and collectives: arrays as they are, ranks and tags as expressions, operations by name."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

from dcpy.frontend.abstract_values.values import ArrayValue, Static, Value
from dcpy.frontend.comm.constants import ANY_SOURCE, OF_PAIRS, InPlace, ReduceOperation
from dcpy.frontend.implements import Implementation, implements
from dcpy.frontend.lower.arrays.stores import require_writable
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.ir.symbolic import Expr

NONE = Static(None)


def implements_comm(name: str) -> Callable[[Implementation], Implementation]:
    """Register the implementation of a function of ``dcpy.comm``, which is above this layer."""
    return implements(getattr(importlib.import_module("dcpy.comm"), name))


def sent_operand(b: OpBuilder, value: Value, what: str) -> ArrayValue:
    """Return the operand to send: an array, or a number as an array without dimensions."""
    if value == NONE:
        raise b.error(
            f"{what} takes an array, not None", help="all ranks pass arrays; those that give nothing, empty ones"
        )
    return b.array(value)


def received_operand(b: OpBuilder, value: Value, what: str) -> ArrayValue:
    """Return the operand to receive into: an array that may be written."""
    if not isinstance(value, ArrayValue):
        raise b.error(
            f"{what} writes into an array, not {b.describe(value)}",
            help="pass an array or a slice of one: numbers cannot be written in place",
        )
    require_writable(b, value)
    return value


def rank_of(b: OpBuilder, value: Value, what: str) -> Expr:
    """A rank; ANY_SOURCE is refused."""
    if isinstance(value, Static) and value.value == ANY_SOURCE:
        raise b.error(
            "a program names the rank from which it receives: with ANY_SOURCE, results depend on the order of "
            "messages",
            help="receive from each rank in turn, or use a Gather",
        )
    return b.integer(value, what)


def is_operation(value: Value) -> bool:
    """Return whether a value is one of ``comm.SUM`` and its like."""
    return isinstance(value, Static) and isinstance(value.value, ReduceOperation)


def combining(
    b: OpBuilder, name: str, operands: Sequence[Value], op: Value, root: Value = NONE
) -> tuple[ArrayValue, ArrayValue, dict[str, Any], Value]:
    """Operands, the operation and the root of a collective that combines: ``(buffer, op)`` or ``(x, out, op)``."""
    rest = list(operands)
    source = rest.pop(0) if rest else NONE
    target = rest.pop(0) if rest and not is_operation(rest[0]) else source
    if rest and is_operation(rest[0]):
        op = rest.pop(0)
    if rest and root == NONE:
        root = rest.pop(0)
    if rest or not is_operation(op):
        raise b.error(
            f"comm.{name} takes (buffer, op), or (x, out, op)", help=f"write comm.{name}(x, out, comm.SUM)"
        )
    out = received_operand(b, target, f"comm.{name}")
    in_place = isinstance(source, Static) and source.value is InPlace.IN_PLACE
    x = out if in_place else sent_operand(b, source, f"comm.{name}")
    require_same_dtype(b, name, x, out)
    require_pairs(b, name, x, b.static(op, "op"))
    return x, out, {"op": b.static(op, "op").value}, root


def require_pairs(b: OpBuilder, name: str, x: ArrayValue, op: ReduceOperation) -> None:
    """`FrontendError` where an operation on pairs of values and indices gets something else."""
    if op not in OF_PAIRS:
        return
    if not x.shape or x.shape[-1].constant not in (None, 2) or x.dtype.kind not in "iuf":
        raise b.error(
            f"comm.{op.name} combines pairs (value, index) of real numbers, side by side along the last axis",
            help=f"pass arrays of shape (..., 2) to comm.{name}, for instance np.array([[value, rank]])",
        )
    words = f"comm.{op.name} combines pairs (value, index) along the last axis, which has {{0}} elements"
    b.same_size(x.shape[-1], 2, words, [x.shape[-1]])


def require_same_dtype(b: OpBuilder, name: str, x: ArrayValue, out: ArrayValue) -> None:
    """`FrontendError` where what is sent would be read as something else."""
    if x.dtype != out.dtype:
        raise b.error(
            f"comm.{name} moves {x.dtype.numpy_name} into an array of {out.dtype.numpy_name}",
            help="messages do not convert dtypes: convert before (`x.astype(out.dtype)`)",
        )
