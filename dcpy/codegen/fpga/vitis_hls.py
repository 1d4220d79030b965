"""Vitis HLS C++: the dialect of kernels for AMD's FPGAs. In a simulation the same text is compiled with our headers.

Pragmas are printed where the IR says so, and no others. The vendor's tool ignores the macros of the first lines;
the simulation's `hls_stream.h` gives them a meaning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcpy.base.errors import CodegenError
from dcpy.codegen.emit import statements
from dcpy.codegen.emit.cpp import CPP
from dcpy.codegen.emit.expressions import arguments
from dcpy.codegen.fpga.vector_token_types import lanes_in
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import integer
from dcpy.codegen.lir.intrinsics import GIFTS, ORDERS, PAST_CACHES
from dcpy.codegen.lir.types import Pointer, Reference

if TYPE_CHECKING:
    from dcpy.codegen.emit.lir_printer import Printer

BURST = 64  #: beats: 4 KB, which no burst of AXI crosses, of 64 bytes each

FIRST = """#include <hls_stream.h>
#include <stdint.h>

#ifndef DCPY_SIMULATION  // the vendor's headers: these lines are for the simulation alone
#define DCPY_NETWORK(name)
#define DCPY_PROCESS(function, arguments) function arguments;
#define DCPY_COPY(function, number, arguments) function arguments;
#define DCPY_QUEUES(queues)
#define DCPY_RUN
#define DCPY_PIPELINE(ii, style, depth)
#define DCPY_ITERATION
#define DCPY_DRAIN
#define DCPY_SITES(name, ...)
#define DCPY_TOLD(name)
#define DCPY_CIRCLE(name)
#endif"""


def headers(out: Printer, module: tree.Module) -> list[str]:
    """The vendor's tokens of several elements, where there are some."""
    return ["#include <hls_vector.h>"] if lanes_in(module) else []


def queues(out: Printer, s: tree.Queues) -> None:
    """``hls::stream<float, 8> xs("xs");``, ``hls::stream<float, 8> s[4];``"""
    kind = out.dialect.word("queue").format(out.type(s.element), out.text(s.capacity))
    count = out.text(s.count)
    if count == "0":
        out.out.line(f'{kind} {s.name}("{s.name}");')
    else:
        out.out.line(f"{kind} {s.name}[{count}];")
        out.out.line(f"DCPY_QUEUES({s.name})")


def network(out: Printer, s: tree.ProcessNetwork) -> None:
    """The ports of a kernel, and that its processes run at the same time."""
    *_, params = out.params_of.values()  # of the function that is printed
    for position, param in enumerate(params):
        if isinstance(param.type, Pointer | Reference):
            burst = "read" if isinstance(param.type, Pointer) and param.type.const else "write"
            out.out.directive(
                f"#pragma HLS INTERFACE m_axi port={param.name} offset=slave bundle=gmem{position} "
                f"max_{burst}_burst_length={BURST}"
            )
        else:
            out.out.directive(f"#pragma HLS INTERFACE s_axilite port={param.name}")
    out.out.directive("#pragma HLS INTERFACE s_axilite port=return")
    out.out.directive("#pragma HLS DATAFLOW")
    out.out.line(f"DCPY_NETWORK({s.name})")


def spawn(out: Printer, s: tree.Spawn) -> None:
    """``DCPY_PROCESS(axpy_read_x, (x, xs, N))``"""
    given = f"({arguments(out, s.call.args)}))"
    if s.params:  # its number, of several copies
        out.out.line(f"DCPY_COPY({s.call.function}, {s.params[0]}, {given}")
    else:
        out.out.line(f"DCPY_PROCESS({s.call.function}, {given}")


def run(out: Printer, s: tree.Run) -> None:
    """``DCPY_RUN``: all of them are there."""
    out.out.line("DCPY_RUN")


def stack_buffer(out: Printer, s: tree.StackBuffer) -> None:
    """``float x[8];`` and how it is cut, which a simulation does not need to know."""
    statements.stack_buffer(out, s)
    if s.cut is not None:
        factor = "" if s.cut.style == "complete" else f" factor={s.cut.factor}"
        out.out.directive(f"#pragma HLS ARRAY_PARTITION variable={s.name} type={s.cut.style}{factor} dim=1")


def loop(out: Printer, s: tree.Loop) -> None:
    """``for (...)`` with its pragmas inside; a pipelined one reports its timing to the simulation."""
    pipelined = next((mark for mark in s.marks if isinstance(mark, tree.Pipelined)), None)
    if pipelined is not None:
        out.out.line(f"DCPY_PIPELINE({pipelined.ii}, {pipelined.style}, {pipelined.depth})")
    with out.out.block(statements.loop_head(out, s)):
        for mark in s.marks:
            match mark:
                case tree.Pipelined():
                    out.out.directive(f"#pragma HLS PIPELINE II={mark.ii} style={mark.style}")
                    for name, distance in mark.apart:
                        how = f"direction=RAW distance={distance} true" if distance else "false"
                        out.out.directive(f"#pragma HLS DEPENDENCE variable={name} type=inter {how}")
                case tree.Unroll(factor=factor):
                    part = "" if is_whole(s, factor) else f" factor={factor}"
                    out.out.directive(f"#pragma HLS UNROLL{part}")
        out.body(s.body)
        if pipelined is not None:
            out.out.line("DCPY_ITERATION")
    if pipelined is not None:
        out.out.line("DCPY_DRAIN")


def is_whole(s: tree.Loop, factor: int) -> bool:
    """Return whether so many iterations are all that a loop has."""
    return s.start == integer(0) and s.stop == integer(factor) and s.step == integer(1)


def check_fail(out: Printer, s: tree.CheckFail) -> None:
    """A pipeline cannot report an error in its middle."""
    raise CodegenError(
        "a process of hardware cannot raise an exception yet",
        help="check before the part that runs on the device, or give sizes and indices that are surely in range",
    )


VITIS = CPP.but(
    "Vitis HLS C++",
    suffix=".hls.cpp",
    numbers={"f16": None, "c64": None, "c128": None},
    typedefs=dict.fromkeys(CPP.typedefs),
    words={
        "first line": FIRST, "queue": "hls::stream<{}, {}>", "token": "hls::vector<{}, {}>",
        "lanes of a token": "", "restrict": "", "aligned": "", "never inlined": "static",
        "numbers": None, "stop": None, "note": None, "warn": None, "combine": None, "exchange": None,
    },
    intrinsics={
        "put": "{0}.write({1})", "take": "{0}.read()", "likely": "{0}",
        **dict.fromkeys(("half_power", "inverse_power", "copy", *GIFTS, "move", "free", "owned_buffer", "take_kept")),
        **dict.fromkeys((*ORDERS, *PAST_CACHES,
                         "push", "pop", "call_python",
                         "call_through")),
    },
    statements={
        tree.Queues: queues, tree.ProcessNetwork: network, tree.Spawn: spawn, tree.Run: run, tree.Loop: loop,
        tree.StackBuffer: stack_buffer, tree.CheckFail: check_fail,
        **dict.fromkeys((tree.TeamCall, tree.HeapBuffer, tree.Grow)),
    },
    module=headers,
    loops=lambda out, loop: [],
)  # fmt: skip
