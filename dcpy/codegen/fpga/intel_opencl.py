"""OpenCL with channels: the dialect of kernels for Intel's FPGAs, made of C's tables and some others.

Each process is a kernel of one work item, queues are channels of the file. The emulator takes the same text: there
``DCPY_EMULATION`` is defined, and channels are deep, for kernels that wait there do so busily.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcpy.codegen.emit import statements
from dcpy.codegen.emit.c99 import C99, in_c
from dcpy.codegen.fpga.vector_token_types import lanes_in
from dcpy.codegen.fpga.vitis_hls import check_fail, is_whole
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.intrinsics import GIFTS, ORDERS, PAST_CACHES
from dcpy.codegen.prelude import Prelude
from dcpy.ir.data import Space
from dcpy.ir.types import DType

if TYPE_CHECKING:
    from dcpy.codegen.emit.lir_printer import Printer

OPENCL = "OpenCL"  # the language; the vendor's tool compiles it, or the emulator while a program is loaded
FIRST = """#pragma OPENCL EXTENSION cl_intel_channels : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF

typedef char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef uchar uint8_t;
typedef ushort uint16_t;
typedef uint uint32_t;
typedef ulong uint64_t;

#define DCPY_KERNEL __attribute__((max_global_work_dim(0))) __kernel
#ifdef DCPY_EMULATION  // there kernels that wait keep a processor busy, and none starts by itself
#define DCPY_DEPTH(places) __attribute__((depth((places) > 4096 ? (places) : 4096)))
#define DCPY_AUTORUN DCPY_KERNEL
#else
#define DCPY_DEPTH(places) __attribute__((depth(places)))
#define DCPY_AUTORUN __attribute__((autorun)) DCPY_KERNEL
#endif"""
PRELUDE = Prelude(("overflow.h", "floats.h", "c99.h"), in_c, declares=False)


def generic(name: str, dtype: DType) -> str:
    """Helpers are named as in C; mathematical functions of OpenCL take any precision."""
    if dtype.is_integer and PRELUDE.find(f"{name}_i64") is not None:
        return f"{name}_{dtype.name}"
    return PRELUDE.in_precision(name, single=dtype.name == "f32")


def channels(out: Printer, module: tree.Module) -> list[str]:
    """``channel float xs DCPY_DEPTH(8);``, behind the types of tokens of several elements."""
    tokens = ((out.type(kind.element), kind.count, out.type(kind)) for kind in lanes_in(module))
    found = [f"typedef struct {{ {element} lane[{count}]; }} {name};" for element, count, name in tokens]
    for queue in module.channels:
        count = out.text(queue.count)
        size = "" if count == "0" else f"[{count}]"
        found.append(f"channel {out.type(queue.element)} {queue.name}{size} DCPY_DEPTH({out.text(queue.capacity)});")
    return ["\n".join(found)] if found else []


def stack_buffer(out: Printer, s: tree.StackBuffer) -> None:
    """``float __attribute__((register)) x[8];``: the tool takes as many banks as there are powers of two."""
    words = ""
    match s.cut:
        case tree.ArrayPartition(style="complete"):
            words = " __attribute__((register))"
        case tree.ArrayPartition(style="cyclic", factor=factor) if (
            factor & (factor - 1) == 0 and isinstance(s.element, DType)
        ):
            words = f" __attribute__((numbanks({factor}), bankwidth({s.element.itemsize})))"
    out.out.line(f"{out.type(s.element)}{words} {s.name}[{s.count}];")


def loop_directives(out: Printer, loop: tree.Loop) -> list[str]:
    """Pragmas of a loop: distances, the interval (none where a carried sum determines it), and unrolling."""
    found = []
    for mark in loop.marks:
        if isinstance(mark, tree.Pipelined):
            for name, distance in mark.apart:
                found.append(f"#pragma ivdep array({name}){f' safelen({distance})' if distance else ''}")
        match mark:
            case tree.Pipelined(ii=ii, bound=""):
                found.append(f"#pragma ii {ii}")
            case tree.Unroll(factor=factor):
                found.append("#pragma unroll" if is_whole(loop, factor) else f"#pragma unroll {factor}")
    return found


INTEL = C99.but(
    "OpenCL for Intel's FPGAs",
    language=OPENCL,
    suffix=".cl",
    prelude=PRELUDE,
    numbers={"bool": "uchar"},  # the host's, of one byte: OpenCL does not say how wide its own is
    typedefs=dict.fromkeys(C99.typedefs),
    spaces={Space.HOST: "__global "},
    words={
        "first line": FIRST, "null": "0", "exported": "DCPY_KERNEL", "autorun": "DCPY_AUTORUN", "aligned": "",
        "restrict": "restrict", "never inlined": "static", "nan": "(float)NAN", "infinity": "INFINITY", "numbers": None,
        "own numbers": None, "stop": None, "note": None, "warn": None, "reference": None, "local": None,
        "foreign": None,
        "token": "{}_x{}", "lanes of a token": ".lane",
    },
    generic=generic,
    intrinsics={
        "put": "write_channel_intel({0}, {1})", "take": "read_channel_intel({0})", "likely": "{0}",
        "is_set": "({0} != 0)",  # a byte, wherever it is: a pointer to it would have an address space
        **dict.fromkeys(("half_power", "inverse_power", "copy", *GIFTS, "move", "free", "owned_buffer", "take_kept")),
        **dict.fromkeys((*ORDERS, *PAST_CACHES)),
    },
    statements={
        tree.StackBuffer: stack_buffer, tree.CheckFail: check_fail, tree.Update: statements.update,
        **dict.fromkeys((tree.TeamCall, tree.HeapBuffer, tree.Grow)),
    },
    module=channels,
    loops=loop_directives,
    flags=(),
)  # fmt: skip
