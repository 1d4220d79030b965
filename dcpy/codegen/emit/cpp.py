"""C++ for the host, with OpenMP: the dialect that CPUs are programmed in, and the one that others are made from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcpy.codegen.emit import device_commands, openmp
from dcpy.codegen.emit.conversions import converted
from dcpy.codegen.emit.dialect import Dialect
from dcpy.codegen.emit.expressions import EXPRESSIONS
from dcpy.codegen.emit.operations import OPERATIONS
from dcpy.codegen.emit.statements import STATEMENTS
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Name
from dcpy.codegen.lir.intrinsics import GIFTS, OF_KERNELS, WIDE
from dcpy.codegen.lir.types import Basic
from dcpy.codegen.prelude import CPP_PRELUDE
from dcpy.ir import types
from dcpy.ir.data import Space
from dcpy.ir.types import DType

if TYPE_CHECKING:
    from dcpy.codegen.emit.lir_printer import Printer

NUMBERS = {
    "bool": "bool", "i8": "int8_t", "i16": "int16_t", "i32": "int32_t", "i64": "int64_t", "u8": "uint8_t",
    "u16": "uint16_t", "u32": "uint32_t", "u64": "uint64_t", "f16": "_Float16", "f32": "float", "f64": "double",
    "c64": "dcpy_complex64", "c128": "dcpy_complex128",
}  # fmt: skip
TYPEDEFS = {
    **{f"int{bits}_t": f"__INT{bits}_TYPE__" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}_t": f"__UINT{bits}_TYPE__" for bits in (8, 16, 32, 64)},
    "size_t": "__SIZE_TYPE__",
}
WORDS = {
    "null": "nullptr", "true": "true", "false": "false", "nan": '__builtin_nan{}("")', "infinity": "__builtin_inf{}()",
    "first line": "", "kernel": None,
    "restrict": "__restrict", "reference": "&", "vector": None, "queue": "dcpy_stream<{}>", "aligned": "alignas(64) ",
    "aggregate": "{}{{{}}}", "exported": 'extern "C"', "internal": "static",
    "never inlined": "[[gnu::noinline]] static", "no parameters": "", "foreign": 'extern "C"',
    "own numbers": "::error", "local": "thread_local", "stop": "dcpy_stop", "note": "dcpy_fail",
    "warn": "dcpy_warn",
    "numbers": "static thread_local int64_t error[5];  // the numbers of the last failure's message, and its iteration",
    "combine": "{place} = ([]({type} a, {type} b) {{ return {combined}; }})({place}, {value});",
    "team": "dcpy_team([{captured}] {{ {call} }});",
    "exchange": "dcpy_atomic<{bits}>({address}, {value}, []({type} a, {type} b) {{ return {combined}; }});",
}  # fmt: skip
INTRINSICS = {
    "likely": "__builtin_expect({0}, 1)", "is_set": "dcpy_is_set", "product_of_sizes": "dcpy_product",
    "sum_of_sizes": "dcpy_sum", "difference_of_sizes": "dcpy_difference", "least_size": "dcpy_least",
    "greatest_size": "dcpy_greatest", "quotient_of_sizes": "dcpy_quotient", "remainder_of_sizes": "dcpy_rest",
    "counted_size": "dcpy_counted", "hidden": "dcpy_hidden",
    "truncate": "dcpy_truncate<{of}>({0})", "truncate_number": "dcpy_truncate_number<{of}>({0})",
    "truth": "dcpy_truth", "convert": "dcpy_convert<{of}>({0})",
    "power": "dcpy_power<{1}, {of}>({0})", "half_power": "dcpy_half_power<{1}, {of}>({0})",
    "inverse_power": "dcpy_inverse_power<{1}, {of}>({0})",
    "copy": "memcpy", **dict.fromkeys(GIFTS, "memcpy"), "move": "memmove", "free": "free",
    "owned_buffer": "dcpy_owned_buffer", "take_kept": "__atomic_exchange_n({0}, (char *)nullptr, __ATOMIC_ACQ_REL)",
    "put": None, "take": None,
    "to_order": "dcpy_to_order_{dtype}({0}, {1})", "from_order": "dcpy_from_order_{dtype}({0})",
    "store_past_caches": "dcpy_store_past_caches({0}, {1}, {2}*sizeof({of}))",
    "stores_are_seen": "dcpy_stores_are_seen",
    "elements_into_line": "dcpy_bytes_into_line({0})/int64_t(sizeof({of}))",
    "push": "dcpy_push<{of}>({0}, {1})", "pop": "dcpy_pop<{of}>({0}, {1})", "call_python": "dcpy_callback",
    "interrupted": "dcpy_interrupted", "team_interrupted": "dcpy_team_interrupted",
    "has_failed": "__atomic_load_n({0}, __ATOMIC_RELAXED) == {1}",
    "call_through": "dcpy_call_through", "device_enter": "dcpy_device_enter", "device_leave": "dcpy_device_leave",
    "device_wait": "dcpy_device_wait",
    "device_seal": "dcpy_device_seal", "device_defer": "dcpy_device_defer", "device_recall": "dcpy_device_recall",
    "device_end": "dcpy_device_end", "device_on_stream": "dcpy_on_stream",
    "device_finish": "dcpy_device_finish", "device_errors": "dcpy_errors", "device_attach": "dcpy_attach",
    "has_graphs": "dcpy_has_graphs", "graph_begin": "dcpy_graph_begin", "graph_end": "dcpy_graph_end",
    "graph_replay": "dcpy_graph_replay",
    **dict.fromkeys((*OF_KERNELS, *WIDE)),
}  # fmt: skip


def heap_buffer(out: Printer, s: tree.HeapBuffer) -> None:
    """The buffer, and a pointer to its elements."""
    kind, slot = ("kept", f"{s.kept}, ") if s.kept else ("heap", "")
    element = out.type(s.element)
    buffer = f"{s.name}_buffer_"
    if s.grows:
        out.out.line(f"dcpy_growing_buffer<{element}> {buffer}({out.text(s.count)});")
        out.out.line(f"{element} *{s.name} = {buffer}.data;")
        return
    out.out.line(f"const dcpy_{kind}_buffer<{element}> {buffer}({slot}{out.text(s.count)});")
    out.out.line(f"{element} *__restrict {s.name} = {buffer}.data;")


def grow(out: Printer, s: tree.Grow) -> None:
    """The buffer moves, and the pointer with it."""
    out.out.line(f"{s.name} = {s.name}_buffer_.grow({out.text(s.kept)}, {out.text(s.count)});")


def queues(out: Printer, s: tree.Queues) -> None:
    """The queues, and a pointer to the first."""
    element, name = out.type(s.element), f"{s.name}_queues_"
    out.out.line(f"const dcpy_streams<{element}> {name}({out.text(s.count)}, {out.text(s.capacity)});")
    out.out.line(f"dcpy_stream<{element}> *const {s.name} = {name}.data;")


def network(out: Printer, s: tree.ProcessNetwork) -> None:
    """``dcpy_network work;``"""
    out.out.line(f"dcpy_network {s.name};")


def spawn(out: Printer, s: tree.Spawn) -> None:
    """``work.add(false, [&](int64_t *numbers) { return f(x); });``"""
    captured = ", ".join(("&", *s.params))
    endless = "true" if s.endless else "false"
    call = f"return dcpy_report({out.text(s.call)}, ::error, numbers);"
    out.out.line(f"{s.network}.add({endless}, [{captured}](int64_t *numbers) {{ {call} }});")


def run(out: Printer, s: tree.Run) -> None:
    """``const int32_t status = work.run(::error, 3);``"""
    out.out.line(f"const int32_t {s.name} = {s.network}.run(::error, {out.text(s.no_threads)});")


def generic(name: str, dtype: DType) -> str:
    """A template takes any number, but a literal of int64 among its arguments is an int in C: the type is written."""
    found = CPP_PRELUDE.in_precision(name, single=dtype in (types.float32, types.complex64))
    return f"{found}<int64_t>" if dtype == types.int64 and CPP_PRELUDE.is_template(name) else found


CPP = Dialect(
    name="C++",
    language="C++",
    suffix=".cpp",
    prelude=CPP_PRELUDE,
    numbers=NUMBERS,
    typedefs=TYPEDEFS,
    basic={
        Basic.VOID: "void", Basic.BYTE: "char", Basic.SIZE: "size_t", Basic.INT: "int", Basic.WIDE: "__int128_t",
        Basic.PACE: "dcpy_pace",
    },
    spaces={Space.HOST: "", Space.PINNED: "", Space.GLOBAL: ""},
    words=WORDS,
    operations=OPERATIONS,
    generic=generic,
    intrinsics=INTRINSICS,
    expressions={**EXPRESSIONS, Name: openmp.variable},
    statements={
        **STATEMENTS, tree.Update: openmp.update, tree.TeamCall: openmp.team, tree.HeapBuffer: heap_buffer,
        tree.Grow: grow, tree.Queues: queues, tree.ProcessNetwork: network, tree.Spawn: spawn, tree.Run: run,
        tree.DeviceBuffer: device_commands.device_buffer, tree.Transfer: device_commands.transfer,
        tree.TransferBox: device_commands.transfer_box, tree.Launch: device_commands.launch, tree.SharedBuffer: None,
        tree.BlockBarrier: None,
    },
    loops=openmp.loop_directives,
    module=openmp.declared_reductions,
    around=openmp.shared_references,
    conversion=converted,
    flags=("-std=c++17",),
)  # fmt: skip
