"""``Bcast``, ``Reduce``, ``Scatter`` and their like in programs: each is a library node (`dcpy.libraries.mpi`)."""

from __future__ import annotations

from dcpy.frontend.comm.operands import NONE, combining, given, rank_of, require_same_dtype, says, taken
from dcpy.frontend.comm.words import Operation
from dcpy.frontend.lower.builder import Builder
from dcpy.frontend.values import Static, Value
from dcpy.ir.types import int64

ROOT = Static(0)
SUM = Static(Operation.SUM)


@says("rank")
def rank(b: Builder) -> Value:
    """The number of the rank that runs this."""
    return _place(b)[0]


@says("size")
def size(b: Builder) -> Value:
    """How many ranks there are."""
    return _place(b)[1]


def _place(b: Builder) -> tuple[Value, Value]:
    (mine, number), (all_of_them, count) = (b.scalar_container(int64, name) for name in ("rank", "size"))
    b.library("comm.place", {}, {"rank": mine, "size": all_of_them})
    return number, count


@says("Barrier")
def barrier(b: Builder) -> Value:
    """No rank goes on before all are there."""
    b.library("comm.barrier", {}, {})
    return NONE


@says("Bcast")
def bcast(b: Builder, buffer: Value, root: Value = ROOT) -> Value:
    """What `buffer` is on the root, it is on all ranks."""
    out = taken(b, buffer, "comm.Bcast")
    b.library("comm.bcast", {"x": out}, {"out": out}, root=rank_of(b, root, "root"))
    return NONE


@says("Reduce")
def reduce(b: Builder, *operands: Value, op: Value = SUM, root: Value = NONE) -> Value:
    """At the root, what all `x` are together; elsewhere `out` stays as it is."""
    x, out, fields, at = combining(b, "Reduce", operands, op, root)
    where = rank_of(b, ROOT if at == NONE else at, "root")
    b.library("comm.reduce", {"x": x, "out": out}, {"out": out}, root=where, **fields)
    return NONE


@says("Allreduce")
def allreduce(b: Builder, *operands: Value, op: Value = SUM) -> Value:
    """On each rank, what all `x` are together."""
    x, out, fields, _ = combining(b, "Allreduce", operands, op, ROOT)
    b.library("comm.allreduce", {"x": x}, {"out": out}, **fields)
    return NONE


@says("Scan")
def scan(b: Builder, *operands: Value, op: Value = SUM) -> Value:
    """What `x` of the ranks up to this one are together."""
    x, out, fields, _ = combining(b, "Scan", operands, op, ROOT)
    b.library("comm.scan", {"x": x}, {"out": out}, **fields)
    return NONE


@says("Exscan")
def exscan(b: Builder, *operands: Value, op: Value = SUM) -> Value:
    """What `x` of the ranks before this one are together; that of the first one stays as it is."""
    x, out, fields, _ = combining(b, "Exscan", operands, op, ROOT)
    b.library("comm.exscan", {"x": x, "out": out}, {"out": out}, **fields)
    return NONE


@says("Scatter")
def scatter(b: Builder, x: Value, out: Value, root: Value = ROOT) -> Value:
    """The rows of `x` at the root go to the ranks in turn: to each as many as its `out` has."""
    return _moved(b, "Scatter", x, out, root)


@says("Gather")
def gather(b: Builder, x: Value, out: Value, root: Value = ROOT) -> Value:
    """At the root, `out` are the rows of all `x`, in the order of the ranks; elsewhere it stays as it is."""
    return _moved(b, "Gather", x, out, root)


@says("Allgather")
def allgather(b: Builder, x: Value, out: Value) -> Value:
    """On each rank, `out` are the rows of all `x`, in the order of the ranks."""
    return _moved(b, "Allgather", x, out)


@says("Alltoall")
def alltoall(b: Builder, x: Value, out: Value) -> Value:
    """The rows of `x` in equal pieces, one for each rank: `out` has those for it, in the order of the senders."""
    return _moved(b, "Alltoall", x, out)


def _moved(b: Builder, name: str, x: Value, out: Value, root: Value = NONE) -> Value:
    source, target = given(b, x, f"comm.{name}"), taken(b, out, f"comm.{name}")
    require_same_dtype(b, name, source, target)
    fields = {} if root == NONE else {"root": rank_of(b, root, "root")}
    kept = {"out": target} if name == "Gather" else {}
    b.library(f"comm.{name.lower()}", {"x": source, **kept}, {"out": target}, **fields)
    return NONE


@says("ReduceScatter")
def reduce_scatter(b: Builder, x: Value, out: Value, op: Value = SUM) -> Value:
    """What all `x` are together; its rows go to the ranks in turn, to each as many as its `out` has."""
    source, target, fields, _ = combining(b, "ReduceScatter", (x, out), op, ROOT)
    b.library("comm.reduce_scatter", {"x": source}, {"out": target}, **fields)
    return NONE
