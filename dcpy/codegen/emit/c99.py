"""C (C99, with the attributes and builtins that gcc and clang share): a dialect made of C++'s tables and some others.

C has no references, templates, lambdas and destructors. So what a function changes for its caller is behind a pointer,
helpers are named for the dtype that they are for, an atomic update is written out, and an attribute frees buffers. It
has no words for complex numbers, for queues and processes, and for calls of Python.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from dcpy.codegen.emit import expressions, openmp, statements
from dcpy.codegen.emit.cpp import CPP
from dcpy.codegen.emit.dialect import Text
from dcpy.codegen.emit.expressions import CONDITIONAL, POSTFIX, UNARY
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Call, Name, integer
from dcpy.codegen.lir.intrinsics import OF_DEVICES
from dcpy.codegen.lir.types import Reference
from dcpy.codegen.prelude import LIBRARY, Prelude
from dcpy.ir import types
from dcpy.ir.types import DType

if TYPE_CHECKING:
    from dcpy.codegen.emit.lir_printer import Printer

THERE, GIVEN = "dcpy_there", "dcpy_given"  # the two operands of an atomic update
SHARED = ("overflow.h", "floats.h", "orders.h", "sizes.h", "nontemporal.h")  # of C++'s helpers: those that are C, too


def in_c(text: str) -> str:
    """C's own words for a file of declarations and helpers."""
    text = text.replace('extern "C" ', "extern ").replace(" noexcept", "")
    text = re.sub(r"\b(u?int\d+_t)\(", r"(\1)(", text)  # conversions
    return re.sub(r"\btrue\b", "1", re.sub(r"\bfalse\b", "0", text))


C_PRELUDE = Prelude((*LIBRARY, *SHARED, "c99.h"), in_c)


def generic(name: str, dtype: DType) -> str:
    """The helper for a dtype of integers has its name; that for float is C's own way of naming."""
    if dtype.is_integer and C_PRELUDE.find(f"{name}_i64") is not None:
        return f"{name}_{dtype.name}"
    return C_PRELUDE.in_precision(name, single=dtype == types.float32)


# -- what a function changes for its caller ---------------------------------------------------------------------------


def name(out: Printer, expr: Name) -> Text:
    """A variable; that of a caller is behind a pointer."""
    return (f"(*{expr.name})" if expr.name in out.references else expr.name), POSTFIX


def call(out: Printer, expr: Call) -> Text:
    """A call; variables that it may change are passed by address."""
    params = out.params_of.get(expr.function, ())
    args = list(expressions.each_argument(out, expr.args))
    for position, (param, arg) in enumerate(zip(params, expr.args, strict=False)):
        if isinstance(param.type, Reference):
            args[position] = f"&{out.text(arg, UNARY)}"
    return f"{expr.function}({', '.join(args)})", POSTFIX


def loop_directives(out: Printer, loop: tree.Loop) -> list[str]:
    """The directives of C++; a caller's variable is an array of one element to a clause."""
    marks = tuple(
        replace(mark, name=f"{mark.name}[0:1]")
        if isinstance(mark, tree.Reduction) and mark.name in out.references
        else mark
        for mark in loop.marks
    )
    return openmp.loop_directives(out, replace(loop, marks=marks))


# -- statements -------------------------------------------------------------------------------------------------------


def heap_buffer(out: Printer, s: tree.HeapBuffer) -> None:
    """The buffer, which is freed or kept at the end of its scope, and a pointer to its elements."""
    element, buffer, count = out.type(s.element), f"{s.name}_buffer_", out.text(s.count)
    if s.kept:
        given = f"dcpy_take_buffer(&{s.kept}, {count}, sizeof({element}))"
        out.out.line(f"__attribute__((cleanup(dcpy_keep_buffer))) dcpy_kept {buffer} = {given};")
        data = f"{buffer}.block ? ({element} *)({buffer}.block + 64) : ({element} *)0"
        out.out.line(f"{element} *__restrict {s.name} = {data};")
        return
    given = f"dcpy_allocate({count}, sizeof({element}), 0)"
    out.out.line(f"__attribute__((cleanup(dcpy_free_buffer))) void *{buffer} = {given};")
    restrict = "" if s.grows else "__restrict "
    out.out.line(f"{element} *{restrict}{s.name} = ({element} *){buffer};")


def grow(out: Printer, s: tree.Grow) -> None:
    """The buffer moves, and the pointer with it."""
    element = out.type(s.element)
    moved = f"dcpy_grow(&{s.name}_buffer_, {out.text(s.kept)}, {out.text(s.count)}, sizeof({element}))"
    out.out.line(f"{s.name} = ({element} *){moved};")


def update(out: Printer, s: tree.Update) -> None:
    """OpenMP's own atomic updates, or compare and exchange written out."""
    bits = openmp.BITS.get(8 * s.op.dtype.itemsize)
    if not s.atomic or statements.operator_of(s) or bits is None:
        openmp.update(out, s)
        return
    kind, dtype = out.type(s.op.dtype), s.op.dtype
    combined = out.text(s.op.of(Name(THERE, dtype), Name(GIVEN, dtype)))
    with out.out.block(""):
        out.out.line(f"{kind} *const dcpy_place = &{out.text(s.target, UNARY)};")
        out.out.line(f"const {kind} {GIVEN} = {out.text(s.value, CONDITIONAL)};")
        out.out.line(f"{bits} dcpy_before = __atomic_load_n(({bits} *)dcpy_place, __ATOMIC_RELAXED), dcpy_after;")
        out.out.line("do {")
        with out.out.indented():
            out.out.line(f"{kind} {THERE};")
            out.out.line(f"__builtin_memcpy(&{THERE}, &dcpy_before, sizeof({kind}));")
            out.out.line(f"{THERE} = {combined};")
            out.out.line(f"__builtin_memcpy(&dcpy_after, &{THERE}, sizeof({kind}));")
        exchanged = f"({bits} *)dcpy_place, &dcpy_before, dcpy_after, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED"
        out.out.line(f"}} while (!__atomic_compare_exchange_n({exchanged}));")


def check_fail(out: Printer, s: tree.CheckFail) -> None:
    """Print a check as in C++, but that functions take all their arguments."""
    missing = 0 if s.forwarded else 4 - len(s.values)
    statements.check_fail(out, replace(s, values=(*s.values, *(integer(0),) * missing)))


NUMBERS = """static __thread int64_t error[5];  // the numbers of the last failure's message, and its iteration

static inline int64_t *dcpy_own_error(void) { return error; }"""

C99 = CPP.but(
    "C",
    language="C",
    suffix=".c",
    prelude=C_PRELUDE,
    numbers={"f16": None, "c64": None, "c128": None},
    typedefs={"bool": "_Bool"},
    words={
        "null": "((void *)0)", "true": "1", "false": "0", "reference": "*", "queue": None, "aggregate": None,
        "aligned": "__attribute__((aligned(64))) ", "exported": "", "never inlined": "__attribute__((noinline)) static",
        "no parameters": "void", "foreign": "extern", "own numbers": "dcpy_own_error()", "numbers": NUMBERS,
        "local": "__thread", "combine": None, "exchange": None, "team": "",
    },
    operations={
        **{kind: dict.fromkeys(("gcd", "lcm", "reciprocal")) for kind in "iu"},
        "f": dict.fromkeys(
            ("gamma", "lgamma", "round_to", "ldexp", "exponent", "erfinv", "erfcinv", "digamma", "complex")
        ),
    },
    generic=generic,
    intrinsics={
        "is_set": "dcpy_is_set(&{0})", "truncate": "dcpy_truncate_to_{dtype}({0})",
        "truncate_number": "dcpy_truncate_to_{dtype}({0})",
        "elements_into_line": "dcpy_bytes_into_line({0})/(int64_t)sizeof({of})",
        "power": "dcpy_power_{dtype}({0}, {1})", "half_power": "dcpy_half_power_{dtype}({0}, {1})",
        "inverse_power": "dcpy_inverse_power_{dtype}({0}, {1})",
        "owned_buffer": "({of} *)dcpy_owned_buffer((void **){0}, {1}, sizeof({of}))",
        "take_kept": "__atomic_exchange_n({0}, (char *)0, __ATOMIC_ACQ_REL)",
        **dict.fromkeys(("truth", "convert", "push", "pop", "call_python", "call_through")),
        **dict.fromkeys(OF_DEVICES),
    },
    expressions={Name: name, Call: call},
    statements={
        tree.HeapBuffer: heap_buffer, tree.Grow: grow, tree.Update: update, tree.CheckFail: check_fail,
        **dict.fromkeys((tree.Queues, tree.ProcessNetwork, tree.Spawn, tree.Run)),
        **dict.fromkeys((tree.DeviceBuffer, tree.Transfer, tree.TransferBox, tree.Launch)),
    },
    loops=loop_directives,
    around=None,
    flags=("-std=gnu11",),
)  # fmt: skip
