"""Device entries: what the C ABI of a program for a device has beside that of others.

A call holds the device while it runs. NAME_attach gets the table of the device's functions, NAME_on_stream the stream
of the next call, and NAME_told waits for checks that calls have not waited for (`gpu.errors`).
"""

from __future__ import annotations

from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Call, Intrinsic, Item, Literal, Name, integer
from dcpy.codegen.lir.types import INDEX, STATUS, Basic, Pointer
from dcpy.codegen.lower.context import Context
from dcpy.codegen.lower.gpu.program_state import program_of


def status_with_device(call: Call) -> tree.Body:
    """A call that holds the device, and its ``status``."""
    before, status = Name("commands_before", STATUS), Name("status", STATUS)
    return (
        tree.Declare(before.name, STATUS, Intrinsic("device_enter", (), STATUS), constant=True),
        tree.Declare(status.name, STATUS, call, constant=True),
        tree.Evaluate(Intrinsic("device_leave", (before,), Basic.VOID)),
    )


def device_entries(context: Context) -> list[tree.Function]:
    """The functions that connect the program with its device."""
    found = [_passing(context, "attach", "device"), _passing(context, "on_stream", "stream")]
    return [*found, *([_told(context)] if program_of(context.module).defers_checks else [])]


def _passing(context: Context, name: str, what: str) -> tree.Function:
    """A function that passes a pointer of the runtime on to the device's part: its table, or a stream."""
    pointer = Name(what, Pointer(Basic.VOID))
    call = tree.Evaluate(Intrinsic(f"device_{name}", (pointer,), Basic.VOID))
    params = (tree.Parameter(pointer.name, pointer.type),)
    return tree.Function(f"{context.module.base}_{name}", Basic.VOID, params, (call,), exported=True)


def _told(context: Context) -> tree.Function:
    """A function that waits, and returns which check has failed in the calls so far: its number, and its values."""
    module = context.module
    numbers = (module.check_number(name, "", None) for name in ("DeviceMemoryError", "DeviceError"))
    before, status, error = Name("before", STATUS), Name("status", STATUS), Name("error", Pointer(INDEX))
    values = Name("numbers", Pointer(INDEX))
    told = Intrinsic("device_recall", (error, *(Literal(number, STATUS) for number in numbers)), STATUS)
    body: tree.Body = (
        tree.Declare(before.name, STATUS, Intrinsic("device_enter", (), STATUS), constant=True),
        tree.Evaluate(Intrinsic("device_wait", (), Basic.VOID)),
        tree.Declare(status.name, STATUS, told, constant=True),
        tree.Evaluate(Intrinsic("device_leave", (before,), Basic.VOID)),
        *(tree.Assign(Item(values, integer(k), INDEX), Item(error, integer(k), INDEX)) for k in range(4)),
        tree.Return(status),
    )
    params = (tree.Parameter(values.name, values.type),)
    return tree.Function(f"{module.base}_told", STATUS, params, body, exported=True)
