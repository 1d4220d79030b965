"""The verifier's rules on devices: each side touches its own memory only, and the threads of a block meet.

A host function hands pointers into the memory of a device around, and never looks behind one. A kernel has no part of
what only a host has, and a barrier never stands where some threads of the block may not come.
"""

from __future__ import annotations

from collections.abc import Iterator

from dcpy.base.source import SrcSpan
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Intrinsic, Item, LirExpr, Name, Prefix
from dcpy.codegen.lir.text import expr_text
from dcpy.codegen.lir.traversal import bodies, children, expressions, parts, statements
from dcpy.codegen.lir.types import Pointer
from dcpy.ir.data import Space

OF_DEVICES = (Space.GLOBAL, Space.SHARED)
OF_HOSTS = (
    tree.TeamCall, tree.HeapBuffer, tree.Grow, tree.Queues, tree.ProcessNetwork, tree.Spawn, tree.Run, tree.Return,
    tree.DeviceBuffer, tree.Transfer, tree.TransferBox, tree.Launch,
)  # fmt: skip
OF_KERNELS = (tree.SharedBuffer, tree.BlockBarrier)
MARKS_OF_HOSTS = (tree.Divided, tree.Simd, tree.Reduction)
MOST_THREADS = 1024  #: of a block
Said = Iterator[tuple[str, SrcSpan | None]]


def host_problems(function: tree.Function) -> Said:
    """Yield the statements and accesses in a host function that only a kernel may have."""
    for statement in statements(function.body):
        if isinstance(statement, OF_KERNELS):
            yield f"a {type(statement).__name__} outside of kernels", statement.span
        written = (statement.target,) if isinstance(statement, tree.Assign | tree.Update) else ()
        for expr in (*expressions(statement), *written):
            for item in dict.fromkeys(_looked_at(expr)):
                kind = item.base.type
                if isinstance(kind, Pointer) and kind.space in OF_DEVICES:
                    yield f"the host touches {expr_text(item)}, in the {kind.space.value} memory", statement.span


def _looked_at(expr: LirExpr) -> Iterator[Item]:
    """The elements that are read or written, and not only named to take their address."""
    if isinstance(expr, Prefix) and expr.op == "&" and isinstance(expr.arg, Item):
        for child in children(expr.arg):
            yield from _looked_at(child)
        return
    if isinstance(expr, Item):
        yield expr
    for child in children(expr):
        yield from _looked_at(child)


def kernel_problems(kernel: tree.Kernel) -> Said:
    """Yield the errors in a kernel."""
    for param in kernel.params:
        if isinstance(param.type, Pointer) and param.type.space not in (Space.GLOBAL, Space.PINNED):
            yield f"the parameter {param.name!r} points into the {param.type.space.value} memory", kernel.span
    threads = kernel.threads[0] * kernel.threads[1] * kernel.threads[2]
    if not 1 <= threads <= MOST_THREADS or min(kernel.threads) < 1:
        yield f"{threads} threads in a block", kernel.span
    for statement in statements(kernel.body):
        if isinstance(statement, OF_HOSTS):
            yield f"a {type(statement).__name__} in a kernel", statement.span
        if isinstance(statement, tree.Loop):
            for mark in statement.marks:
                if isinstance(mark, MARKS_OF_HOSTS):
                    yield f"a loop in a kernel is marked as {type(mark).__name__}", statement.span
    yield from _Threads().divergent_barriers(kernel.body, False)


class _Threads:
    """Variables that may differ between the threads of a block: an over-approximation, by names."""

    def __init__(self) -> None:
        self.varying: set[str] = set()

    def divergent_barriers(self, body: tree.Body, inside: bool) -> Said:
        """Barriers where some threads may not come; `inside`: the body itself is such a place."""
        for statement in body:
            if isinstance(statement, tree.BlockBarrier) and inside:
                yield "a barrier that some threads of the block may not reach", statement.span
            self._learn(statement, inside)
            differs = inside or self._branches(statement)
            if isinstance(statement, tree.Loop | tree.While):  # what an iteration makes, the next one sees
                tuple(self.divergent_barriers(bodies(statement)[0], differs))
                differs = differs or self._branches(statement)
            for inner in bodies(statement):
                yield from self.divergent_barriers(inner, differs)

    def _branches(self, statement: tree.Statement) -> bool:
        """Return whether threads may go different ways from here."""
        if not isinstance(statement, tree.If | tree.Loop | tree.While | tree.Attempt):
            return False
        if isinstance(statement, tree.Attempt):
            return any(
                isinstance(inner, tree.CheckFail) and inner.leaves == statement.name and self._differs(inner.condition)
                for inner in statements(statement.body)
            )
        return any(map(self._differs, expressions(statement)))

    def _learn(self, statement: tree.Statement, inside: bool) -> None:
        match statement:
            case tree.Declare(name=name, value=value):
                if inside or (value is not None and self._differs(value)):
                    self.varying.add(name)
            case tree.Assign(target=target, value=value) | tree.Update(target=target, value=value):
                root = _root(target)
                if root and (inside or self._differs(value) or self._differs(target)):
                    self.varying.add(root)
            case tree.Loop(var=var):
                if inside or any(map(self._differs, expressions(statement))):
                    self.varying.add(var)

    def _differs(self, expr: LirExpr) -> bool:
        return any(
            part.name in self.varying if isinstance(part, Name)
            else isinstance(part, Intrinsic) and part.name in ("thread_x", "thread_y", "thread_z")
            for part in parts(expr)
        )  # fmt: skip


def _root(target: LirExpr) -> str:
    """The variable that is assigned; "" for an element that threads share, which is the same for all that read it."""
    if isinstance(target, Name):
        return target.name
    base = target.base if isinstance(target, Item) else None
    if isinstance(base, Name) and not (isinstance(base.type, Pointer) and base.type.space in OF_DEVICES):
        return base.name
    return ""
