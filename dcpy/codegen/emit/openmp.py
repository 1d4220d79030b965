"""OpenMP in C and C++: teams, divided and vectorized loops, reductions, and updates that no other thread interrupts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dcpy.codegen.emit import statements
from dcpy.codegen.emit.expressions import CONDITIONAL, POSTFIX, UNARY
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Name, Prefix
from dcpy.codegen.lir.reduction_operators import ReductionOperator
from dcpy.codegen.lir.types import Pointer, Reference

if TYPE_CHECKING:
    from dcpy.codegen.emit.dialect import Text
    from dcpy.codegen.emit.lir_printer import Printer

#: combinations that its clauses have a word for, and the kinds of dtypes on which that means the same
REDUCTIONS = {
    "add": ("+", "iuf"), "mul": ("*", "iuf"), "min": ("min", "iu"), "max": ("max", "iu"), "and": ("&&", "b"),
    "or": ("||", "b"), "bitand": ("&", "iu"), "bitor": ("|", "iu"), "bitxor": ("^", "iu"),
}  # fmt: skip
BITS = {8: "uint8_t", 16: "uint16_t", 32: "uint32_t", 64: "uint64_t"}


def reduction_word(op: ReductionOperator) -> str:
    """Return a reduction's identifier in clauses: OpenMP's own, or the name that `declared_reduction` declares."""
    word, kinds = REDUCTIONS.get(op.op, ("", ""))
    return word if op.dtype.kind in kinds and op.dtype.name != "f16" else f"dcpy_{op.op}_{op.dtype.name}"


def loop_directives(out: Printer, loop: tree.Loop) -> list[str]:
    """Return the directives for the compiler before a loop."""
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
    for reduction in loop.reductions:
        name = out.text(Name(reduction.name, reduction.op.dtype))
        words.append(f"reduction({reduction_word(reduction.op)} : {name})")
    return [" ".join(words + (["nowait"] if divided else []))]


def shared_references(out: Printer, function: tree.Function | tree.Kernel) -> tuple[list[str], list[str]]:
    """Other names of the caller's variables that divided loops fold: lines before the body, and behind the function.

    To clang a reference is not shared by the team, as g++ knows it is: there it is an element of an array. g++ in turn
    makes no vectors of such elements, so the text leaves the choice to the compiler that reads it.
    """
    types = {param.name: param.type.element for param in function.params if isinstance(param.type, Reference)}
    names = [name for name in types if name in out.folded]
    if not names:
        return [], []
    lines = ["#ifdef __clang__"]
    for name in names:
        lines.append(f"{out.type(types[name])} *const {name}_element_ = &{name};")
        lines.append(f"#define {shared(name)} {name}_element_[0]")
    lines += ["#else", *(f"#define {shared(name)} {name}" for name in names), "#endif"]
    return lines, [f"#undef {shared(name)}" for name in names]


def shared(name: str) -> str:
    """The other name of a caller's variable that a divided loop folds."""
    return f"{name}_shared_"


def variable(out: Printer, expr: Name) -> Text:
    """A variable, by its other name where it has one."""
    return (shared(expr.name) if expr.name in out.folded else expr.name), POSTFIX


def declared_reductions(out: Printer, module: tree.Module) -> list[str]:
    """The combinations of a file that no clause has a word for."""
    return [declared_reduction(out, op) for op in module.combinations if reduction_word(op).startswith("dcpy_")]


def declared_reduction(out: Printer, op: ReductionOperator) -> str:
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


def team(out: Printer, s: tree.TeamCall) -> None:
    """A call by the threads of ``omp parallel``, or by this one alone; in C++, teams may rest (teams.h)."""
    call = f"{out.text(s.call)};"
    if s.condition is None:
        _by_all(out, call, s)
        return
    out.out.line(f"if ({out.text(s.condition)}) {{")
    with out.out.indented():
        _by_all(out, call, s)
    out.out.directive("} else {")
    with out.out.indented():
        out.out.line(call)
    out.out.directive("}")


def _captured(s: tree.TeamCall) -> Iterator[str]:
    """The variables of a call that its function object has in another way than as copies.

    It refers to those that change. Others would be read anew behind each store then, as any number in memory; of an
    array it has the address of the first element.
    """
    for place, arg in enumerate(s.call.args):
        match arg:
            case Name(name=name) if place in s.changed:
                yield f"&{name}"
            case Name(name=name, type=Pointer()):
                yield f"{name} = {name} + 0"
            case Prefix(op="&", arg=Name(name=name)):
                yield f"&{name}"


def _by_all(out: Printer, call: str, s: tree.TeamCall) -> None:
    rests = out.dialect.word("team")
    if rests:
        out.out.line(rests.format(captured=", ".join(dict.fromkeys(("=", *_captured(s)))), call=call))
        return
    out.out.directive("#pragma omp parallel")
    out.out.line(call)
