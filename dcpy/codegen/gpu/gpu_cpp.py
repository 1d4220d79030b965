"""GPU C++: one dialect for CUDA, HIP and the simulator, in the words of include/dcpy_device.h.

Its compilers have no header of the C library: mathematical functions are there without a declaration, C's complex ones
are made of them (include/complex_kernels.h), numbers of 16 bits are not there at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcpy.base.errors import CodegenError
from dcpy.codegen import artifact
from dcpy.codegen.emit import statements
from dcpy.codegen.emit.cpp import CPP
from dcpy.codegen.emit.expressions import CONDITIONAL, UNARY
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Name
from dcpy.codegen.lir.intrinsics import GIFTS, OF_DEVICES, OF_KERNELS, ORDERS, PAST_CACHES
from dcpy.codegen.lir.traversal import shared_bytes
from dcpy.codegen.prelude import DEVICE_PRELUDE
from dcpy.ir.data import Space

if TYPE_CHECKING:
    from dcpy.codegen.emit.lir_printer import Printer

#: combinations that devices have an instruction for, and the kinds of dtypes on which that means the same
ATOMIC = {"add": "iuf", "min": "iuf", "max": "iuf"}
WORDS = {32: "uint32_t", 64: "uint64_t"}  # that are compared and exchanged


def shared_buffer(out: Printer, s: tree.SharedBuffer) -> None:
    """``DCPY_SHARED(double, tile, 340);``"""
    out.out.line(f"DCPY_SHARED({out.type(s.element)}, {s.name}, {s.count});")


def barrier(out: Printer, s: tree.BlockBarrier) -> None:
    """``DCPY_BARRIER();``"""
    out.out.line("DCPY_BARRIER();")


def update(out: Printer, s: tree.Update) -> None:
    """A device's own atomic updates, or compare and exchange."""
    if not s.atomic:
        statements.update(out, s)
        return
    dtype = s.op.dtype
    place, value = f"&{out.text(s.target, UNARY)}", out.text(s.value, CONDITIONAL)
    bits = 8 * dtype.itemsize
    if bits not in WORDS:
        raise CodegenError(
            f"threads of a device combine values of {bits} bits in one place",
            help="use a dtype of 32 or 64 bits, or one place for each iteration",
        )
    if dtype.kind in ATOMIC.get(s.op.op, ""):
        out.out.line(f"dcpy_atomic_{s.op.op}({place}, ({out.type(dtype)}){out.text(s.value, UNARY)});")
        return
    combined = out.text(s.op.of(Name("a", dtype), Name("b", dtype)))
    kind = out.type(dtype)
    combine = f"[]({kind} a, {kind} b) {{ return {combined}; }}"
    out.out.line(f"dcpy_combine<{WORDS[bits]}>({place}, ({kind})({value}), {combine});")


def check_fail(out: Printer, s: tree.CheckFail) -> None:
    """``if (...) { dcpy_fail(errors, {1, 0, i}, 3, i, n, 0, 0); goto next_i; }``"""
    values = [*map(out.text, s.values), *("0",) * (4 - len(s.values))]
    order = f"{{{', '.join(map(out.text, s.order))}}}"
    with out.out.block(f"if ({out.text(s.condition)})"):
        out.out.line(f"dcpy_fail({', '.join(['errors', order, out.text(s.number), *values])});")
        out.out.line(f"goto {s.leaves};")


def loop_directives(out: Printer, loop: tree.Loop) -> list[str]:
    """Return the directives for the compiler before a loop."""
    return [f"#pragma unroll {mark.factor}" for mark in loop.marks if isinstance(mark, tree.Unroll)]


def last_line(out: Printer, module: tree.Module) -> str:
    """The table of kernels: ``DCPY_KERNELS(axpy, DCPY_ROW(axpy_i, 256, 0))``."""
    rows = ", ".join(
        f"DCPY_ROW({kernel.name}, {kernel.threads[0] * kernel.threads[1] * kernel.threads[2]}, {shared_bytes(kernel)})"
        for kernel in module.kernels
    )
    return f"DCPY_KERNELS({module.name}, {rows})"


DEVICE = CPP.but(
    "C++ for devices",
    language=artifact.DEVICE,
    suffix=".kernels.cu",
    prelude=DEVICE_PRELUDE,
    numbers={"f16": None},
    typedefs=dict.fromkeys(CPP.typedefs),
    spaces={Space.GLOBAL: "", Space.SHARED: "", Space.PINNED: ""},
    words={
        "aligned": "alignas(16) ", "vector": "dcpy_vector<{}>",
        "numbers": None, "stop": None, "note": None, "warn": None, "combine": None, "exchange": None, "queue": None,
        "first line": '#include "dcpy_device.h"', "kernel": "DCPY_KERNEL({name}, {threads})",
    },
    operations={
        **{kind: dict.fromkeys(("powmod",)) for kind in "iu"},
        "f": dict.fromkeys(("bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1")),
    },
    intrinsics={
        **{name: f"{{of}}(DCPY_{name.upper()})" for name in OF_KERNELS},
        "load_wide": "dcpy_load128", "store_wide": "dcpy_store128", "is_wide": "dcpy_is_aligned128",
        **dict.fromkeys(("copy", *GIFTS, "move", "free", "owned_buffer", "take_kept", *ORDERS, *PAST_CACHES,
                         "push", "pop", "call_python", "call_through", *OF_DEVICES)),
    },
    statements={
        tree.SharedBuffer: shared_buffer, tree.BlockBarrier: barrier, tree.Update: update, tree.CheckFail: check_fail,
        **dict.fromkeys((
            tree.TeamCall, tree.HeapBuffer, tree.Grow, tree.Queues, tree.ProcessNetwork, tree.Spawn, tree.Run,
            tree.DeviceBuffer, tree.Transfer, tree.TransferBox, tree.Launch,
        )),
    },
    loops=loop_directives,
    module=lambda out, module: [],
    last_line=last_line,
)  # fmt: skip
