"""Waiting for a device: where the host goes on by what the device has done, or may change what it reads.

Commands that follow each other are waited for together, behind the last one.
"""

from __future__ import annotations

from collections.abc import Sequence

from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Infix, Intrinsic, Literal, Name
from dcpy.codegen.lir.types import INDEX, STATUS, TRUTH, Basic, Pointer
from dcpy.codegen.lower.context import Context


def command(context: Context, statement: tree.Statement, *, checks: bool = False) -> None:
    """Asks something of the device. Where `checks` may fail there, the host goes on when it knows that none did."""
    waits = _is_finish(context.last)
    if waits:
        context.drop_last()
    context.emit(statement)
    if waits or checks:
        finish(context)


def settle(context: Context) -> None:
    """Waits until what the device reads of the host's is read: it may change from here on."""
    if not _is_finish(context.last):
        context.emit(tree.Evaluate(Intrinsic("device_wait", (), Basic.VOID)))


def drop_settling(context: Context) -> None:
    """Another command follows that is settled, too."""
    match context.last:
        case tree.Evaluate(call=Intrinsic(name="device_wait")):
            context.drop_last()


def _is_finish(statement: tree.Statement | None) -> bool:
    match statement:
        case tree.Block(body=(tree.Declare(value=Intrinsic(name="device_finish")), *_)):
            return True
    return False


def ends(body: Sequence[tree.Statement]) -> bool:
    """Whether what a body has asked of a device is waited for."""
    return bool(body) and _is_finish(body[-1])


def finish(context: Context) -> None:
    """Waits for a device; leaves where a check has failed there, where its memory was not enough, or where it broke."""
    if _is_finish(context.last):
        return
    module = context.module
    no_memory = module.check_number("DeviceMemoryError", "", None)
    lost = module.check_number("DeviceError", "", None)
    status = Name(context.names.fresh("status"), STATUS)
    args = (Name("error", Pointer(INDEX)), Literal(no_memory, STATUS), Literal(lost, STATUS))
    with context.capture() as body:
        context.emit(tree.Declare(status.name, STATUS, Intrinsic("device_finish", args, STATUS), constant=True))
        context.fail(Infix("!=", status, Literal(0, STATUS), TRUTH), status, forwarded=True)
    context.emit(tree.Block(tuple(body)))


