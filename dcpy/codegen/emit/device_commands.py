"""Device commands in the C++ of the host: buffers, transfers, launches; the helpers are in include/devices.h."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcpy.codegen.emit.expressions import arguments
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import LirExpr
from dcpy.codegen.lir.types import Pointer
from dcpy.ir.data import Space

if TYPE_CHECKING:
    from dcpy.codegen.emit.lir_printer import Printer


def device_buffer(out: Printer, s: tree.DeviceBuffer) -> None:
    """The buffer, and a pointer to its elements."""
    element, buffer = out.type(s.element), f"{s.name}_buffer_"
    out.out.line(f"const dcpy_device_buffer<{element}> {buffer}({out.text(s.count)});")
    out.out.line(f"{element} *const {s.name} = {buffer}.data;")


def transfer(out: Printer, s: tree.Transfer) -> None:
    """``dcpy_transfer(A, B, N*sizeof(double), DCPY_TO_DEVICE);``"""
    out.out.line(f"dcpy_transfer({arguments(out, (s.to, s.source, s.size))}, {_way(s)});")


def transfer_box(out: Printer, s: tree.TransferBox) -> None:
    """``dcpy_transfer_box(A, B, sizeof(double), DCPY_TO_HOST, {N, M}, {M, 1}, {1, N});``"""
    shape, to, source = (_numbers(out, part) for part in (s.shape, s.to_strides, s.source_strides))
    places = f"{arguments(out, (s.to, s.source))}, sizeof({out.type(s.element)}), {_way(s)}"
    out.out.line(f"dcpy_transfer_box<{len(s.shape)}>({places}, {shape}, {to}, {source});")


def _way(s: tree.Transfer | tree.TransferBox) -> str:
    to, source = (isinstance(end.type, Pointer) and end.type.space is Space.GLOBAL for end in (s.to, s.source))
    return "DCPY_WITHIN_DEVICE" if to and source else "DCPY_TO_DEVICE" if to else "DCPY_TO_HOST"


def launch(out: Printer, s: tree.Launch) -> None:
    """``dcpy_launch(N <= 1000 ? 1 : 0, {N, 1, 1}, {256, 1, 1}, A, N);``: along x, y and z."""
    blocks = _numbers(out, s.blocks[::-1])
    threads = f"{{{', '.join(map(str, s.threads[::-1]))}}}"
    number = str(out.kernels[s.kernel])
    if s.fits is not None:
        number = f"{out.text(s.fits, 2)} ? {out.kernels[s.small]} : {number}"
    out.out.line(f"dcpy_launch({', '.join([number, blocks, threads, *map(out.text, s.args)])});")


def _numbers(out: Printer, values: tuple[LirExpr, ...]) -> str:
    return f"{{{', '.join(out.text(value, 1) for value in values)}}}"
