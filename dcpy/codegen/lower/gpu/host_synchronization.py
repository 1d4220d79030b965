"""Synchronization with a device: where the host goes on by what the device has done, or may change what it reads.

Commands that follow each other are waited for together, behind the last one. Where a check has failed on the device,
what comes behind does nothing there: an argument is fetched then as it was before, if the host does not have it.
"""

from __future__ import annotations

from collections.abc import Sequence

from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Infix, Intrinsic, LirExpr, Literal, Name
from dcpy.codegen.lir.types import INDEX, STATUS, TRUTH, Basic, Pointer
from dcpy.codegen.lower.context import Context
from dcpy.codegen.lower.gpu.pending_waits import NOTHING, PendingWait, Rescue
from dcpy.codegen.lower.gpu.program_state import notes_of, program_of


def command(
    context: Context, statement: tree.Statement, *, checks: bool = False, rescue: Rescue = NOTHING, fetches: str = ""
) -> None:
    """Ask something of the device. Where `checks` may fail there, the host goes on when it knows that none did.

    `rescue`: what is fetched where they do. `fetches` is the argument that the host gets: where a check has failed, the
    host's own stays, as kernels behind that check have not made another one.
    """
    if checks and program_of(context.module).defers_checks:
        context.emit(statement)
        context.emit(tree.Evaluate(Intrinsic("device_seal", (), Basic.VOID)))
        return
    pending = _pending(context)
    if pending is not None and not pending.joins(checks, rescue, fetches):
        pending = None
    if pending is not None:
        context.drop_last()
    context.emit(statement)
    if pending is not None or checks:
        before = pending or PendingWait()
        finish(context, before.checks or checks, rescue or before.rescue)


def _pending(context: Context) -> PendingWait | None:
    """Return the wait that the previous statement is, if it is one."""
    if not _is_finish(context.last):
        return None
    known = notes_of(context).pending_wait
    return known if known is not None and known.wait is context.last else PendingWait(context.last)


def wait_for_reads(context: Context) -> None:
    """Wait until what the device reads of the host's is read: it may change from here on."""
    if not _is_finish(context.last):
        context.emit(_wait())


def join_last_wait(context: Context) -> None:
    """Another command follows that is settled, too."""
    match context.last:
        case tree.Evaluate(call=Intrinsic(name="device_wait")):
            context.drop_last()


def _is_finish(statement: tree.Statement | None) -> bool:
    match statement:
        case tree.Compound(
            body=(tree.Declare(value=Intrinsic(name="device_finish" | "device_end" | "device_defer")), *_)
        ):
            return True
    return False


def ends(body: Sequence[tree.Statement]) -> bool:
    """Return whether what a body has asked of a device is waited for."""
    return bool(body) and _is_finish(body[-1])


def finish(context: Context, checks: bool = False, rescue: Rescue = NOTHING) -> None:
    """Wait for a device; leave where a check has failed there, where its memory was not enough, or where it broke."""
    if not _is_finish(context.last):
        _leave_unless(context, "device_finish", (Name("error", Pointer(INDEX)),), rescue)
        notes_of(context).pending_wait = PendingWait(context.last, checks, rescue)


def end(context: Context) -> None:
    """The end of a program: the host waits where it has to, else it only leaves what it has asked for."""
    if program_of(context.module).host_waits:
        finish(context)
    elif not _is_finish(context.last):
        _leave_unless(context, "device_defer" if program_of(context.module).defers_checks else "device_end", ())


def leave_after_failure(context: Context) -> None:
    """The beginning of a program: it leaves where a check of an earlier call is known to have failed."""
    _leave_unless(context, "device_recall", (Name("error", Pointer(INDEX)),))


def _leave_unless(context: Context, question: str, operands: tuple[LirExpr, ...], rescue: Rescue = NOTHING) -> None:
    module = context.module
    no_memory = module.check_number("DeviceMemoryError", "", None)
    lost = module.check_number("DeviceError", "", None)
    status = Name(context.names.fresh("status"), STATUS)
    args = (*operands, Literal(no_memory, STATUS), Literal(lost, STATUS))
    failed = Infix("!=", status, Literal(0, STATUS), TRUTH)
    with context.capture() as body:
        context.emit(tree.Declare(status.name, STATUS, Intrinsic(question, args, STATUS), constant=True))
        if rescue:
            context.emit(tree.If(((failed, (*rescue.values(), _wait())),)))
        context.fail(failed, status, forwarded=True)
    context.emit(tree.Compound(tuple(body)))


def _wait() -> tree.Statement:
    return tree.Evaluate(Intrinsic("device_wait", (), Basic.VOID))
