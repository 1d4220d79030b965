"""``Bcast``, ``Reduce``, ``Scatter`` and their like in programs: each is a library node (`dcpy.libraries.mpi`)."""

from __future__ import annotations

from dcpy.frontend.abstract_values.values import Static, Value
from dcpy.frontend.comm.constants import ReduceOperation
from dcpy.frontend.comm.operands import (
    NONE,
    combining,
    implements_comm,
    rank_of,
    received_operand,
    require_same_dtype,
    sent_operand,
)
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.ir.types import int64

ROOT = Static(0)
SUM = Static(ReduceOperation.SUM)


@implements_comm("rank")
def rank(b: OpBuilder) -> Value:
    """The number of the rank that runs this."""
    return _place(b)[0]


@implements_comm("size")
def size(b: OpBuilder) -> Value:
    """Return the number of ranks."""
    return _place(b)[1]


def _place(b: OpBuilder) -> tuple[Value, Value]:
    (mine, number), (all_of_them, count) = (b.scalar_container(int64, name) for name in ("rank", "size"))
    b.library("comm.place", {}, {"rank": mine, "size": all_of_them})
    return number, count


@implements_comm("Barrier")
def barrier(b: OpBuilder) -> Value:
    """No rank goes on before all are there."""
    b.library("comm.barrier", {}, {})
    return NONE


@implements_comm("Bcast")
def bcast(b: OpBuilder, buffer: Value, root: Value = ROOT) -> Value:
    """Copy `buffer` of the root to all ranks."""
    out = received_operand(b, buffer, "comm.Bcast")
    b.library("comm.bcast", {"x": out}, {"out": out}, root=rank_of(b, root, "root"))
    return NONE


@implements_comm("Reduce")
def reduce(b: OpBuilder, *operands: Value, op: Value = SUM, root: Value = NONE) -> Value:
    """Combine all `x` at the root; elsewhere `out` stays as it is."""
    x, out, fields, at = combining(b, "Reduce", operands, op, root)
    where = rank_of(b, ROOT if at == NONE else at, "root")
    b.library("comm.reduce", {"x": x, "out": out}, {"out": out}, root=where, **fields)
    return NONE


@implements_comm("Allreduce")
def allreduce(b: OpBuilder, *operands: Value, op: Value = SUM) -> Value:
    """Combine all `x` on each rank."""
    x, out, fields, _ = combining(b, "Allreduce", operands, op, ROOT)
    b.library("comm.allreduce", {"x": x}, {"out": out}, **fields)
    return NONE


@implements_comm("Scan")
def scan(b: OpBuilder, *operands: Value, op: Value = SUM) -> Value:
    """Combine `x` of the ranks up to this one."""
    x, out, fields, _ = combining(b, "Scan", operands, op, ROOT)
    b.library("comm.scan", {"x": x}, {"out": out}, **fields)
    return NONE


@implements_comm("Exscan")
def exscan(b: OpBuilder, *operands: Value, op: Value = SUM) -> Value:
    """Combine `x` of the ranks before this one; the first rank's result keeps its value."""
    x, out, fields, _ = combining(b, "Exscan", operands, op, ROOT)
    b.library("comm.exscan", {"x": x, "out": out}, {"out": out}, **fields)
    return NONE


@implements_comm("Scatter")
def scatter(b: OpBuilder, x: Value, out: Value, root: Value = ROOT) -> Value:
    """The rows of `x` at the root go to the ranks in turn: to each as many as its `out` has."""
    return _moved(b, "Scatter", x, out, root)


@implements_comm("Gather")
def gather(b: OpBuilder, x: Value, out: Value, root: Value = ROOT) -> Value:
    """Put the rows of all `x` into `out` at the root, in the order of the ranks; elsewhere it stays as it is."""
    return _moved(b, "Gather", x, out, root)


@implements_comm("Allgather")
def allgather(b: OpBuilder, x: Value, out: Value) -> Value:
    """Put the rows of all `x` into `out` on each rank, in the order of the ranks."""
    return _moved(b, "Allgather", x, out)


@implements_comm("Alltoall")
def alltoall(b: OpBuilder, x: Value, out: Value) -> Value:
    """The rows of `x` in equal pieces, one for each rank: `out` has those for it, in the order of the senders."""
    return _moved(b, "Alltoall", x, out)


def _moved(b: OpBuilder, name: str, x: Value, out: Value, root: Value = NONE) -> Value:
    source, target = sent_operand(b, x, f"comm.{name}"), received_operand(b, out, f"comm.{name}")
    require_same_dtype(b, name, source, target)
    fields = {} if root == NONE else {"root": rank_of(b, root, "root")}
    kept = {"out": target} if name == "Gather" else {}
    b.library(f"comm.{name.lower()}", {"x": source, **kept}, {"out": target}, **fields)
    return NONE


@implements_comm("ReduceScatter")
def reduce_scatter(b: OpBuilder, x: Value, out: Value, op: Value = SUM) -> Value:
    """Combine all `x`; the rows of the result go to the ranks in turn, to each as many as its `out` has."""
    source, target, fields, _ = combining(b, "ReduceScatter", (x, out), op, ROOT)
    b.library("comm.reduce_scatter", {"x": source}, {"out": target}, **fields)
    return NONE
