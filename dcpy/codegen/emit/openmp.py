"""OpenMP in C and C++: teams, divided and vectorized loops, reductions, and updates that no other thread interrupts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcpy.codegen.emit import statements
from dcpy.codegen.emit.expressions import CONDITIONAL, UNARY
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.combinations import Combination
from dcpy.codegen.lir.expr import Name

if TYPE_CHECKING:
    from dcpy.codegen.emit.printer import Printer

#: combinations that its clauses have a word for, and the kinds of dtypes on which that means the same
REDUCTIONS = {
    "add": ("+", "iuf"), "mul": ("*", "iuf"), "min": ("min", "iu"), "max": ("max", "iu"), "and": ("&&", "b"),
    "or": ("||", "b"), "bitand": ("&", "iu"), "bitor": ("|", "iu"), "bitxor": ("^", "iu"),
}  # fmt: skip
BITS = {8: "uint8_t", 16: "uint16_t", 32: "uint32_t", 64: "uint64_t"}


def reduction_word(op: Combination) -> str:
    """What a clause calls a combination: its own word, or the name under which `declared_reduction` declares it."""
    word, kinds = REDUCTIONS.get(op.op, ("", ""))
    return word if op.dtype.kind in kinds and op.dtype.name != "f16" else f"dcpy_{op.op}_{op.dtype.name}"


def loop_directives(out: Printer, loop: tree.Loop) -> list[str]:
    """What is said to the compiler before a loop."""
    if not loop.marks:
        return []
    marks = {type(mark): mark for mark in loop.marks}
    unroll = marks.get(tree.Unroll)
    if isinstance(unroll, tree.Unroll):
        return [f"#pragma GCC unroll {unroll.factor}"]
    divided, simd = marks.get(tree.Divided), marks.get(tree.Simd)
    words = ["#pragma omp"]
    words += ["for"] if divided else []
    words += ["simd"] if simd else []
    if isinstance(simd, tree.Simd) and simd.lanes:
        words.append(f"simdlen({simd.lanes})")
    if isinstance(divided, tree.Divided):
        words += [f"schedule(static, {divided.chunk})"] if divided.chunk else []
        words += [f"collapse({divided.collapse})"] if divided.collapse > 1 else []
    words += [f"reduction({reduction_word(reduction.op)} : {reduction.name})" for reduction in loop.reductions]
    return [" ".join(words + (["nowait"] if divided else []))]


def declared_reductions(out: Printer, module: tree.Module) -> list[str]:
    """The combinations of a file that no clause has a word for."""
    return [declared_reduction(out, op) for op in module.combinations if reduction_word(op).startswith("dcpy_")]


def declared_reduction(out: Printer, op: Combination) -> str:
    """``#pragma omp declare reduction``"""
    combined = out.text(op.of(Name("omp_out", op.dtype), Name("omp_in", op.dtype)))
    return (
        f"#pragma omp declare reduction({reduction_word(op)} : {out.type(op.dtype)} : omp_out = {combined}) "
        f"initializer(omp_priv = {out.text(op.neutral)})"
    )


def update(out: Printer, s: tree.Update) -> None:
    """``#pragma omp atomic``, or by compare and exchange; what is wider than a word, under a lock."""
    if not s.atomic or statements.operator_of(s):
        if s.atomic:
            out.out.directive("#pragma omp atomic")
        statements.update(out, s)
        return
    bits = BITS.get(8 * s.op.dtype.itemsize)
    if bits is None:
        out.out.directive("#pragma omp critical")
        out.out.line(out.dialect.word("combine").format(**_parts(out, s)))
        return
    out.out.line(out.dialect.word("exchange").format(bits=bits, **_parts(out, s)))


def _parts(out: Printer, s: tree.Update) -> dict[str, str]:
    dtype = s.op.dtype
    return {
        "type": out.type(dtype),
        "place": out.text(s.target),
        "address": f"&{out.text(s.target, UNARY)}",
        "value": out.text(s.value, CONDITIONAL),
        "combined": out.text(s.op.of(Name("a", dtype), Name("b", dtype))),
    }


def team(out: Printer, s: tree.Team) -> None:
    """A call inside ``omp parallel``, or alone."""
    call = f"{out.text(s.call)};"
    if s.condition is None:
        out.out.directive("#pragma omp parallel")
        out.out.line(call)
        return
    out.out.line(f"if ({out.text(s.condition)}) {{")
    with out.out.indented():
        out.out.directive("#pragma omp parallel")
        out.out.line(call)
    out.out.directive("} else {")
    with out.out.indented():
        out.out.line(call)
    out.out.directive("}")
