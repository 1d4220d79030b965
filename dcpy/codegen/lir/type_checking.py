"""Type checking of LIR expressions: the operands of each have the types that it is for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dcpy.base.prototypes import CType, Prototype
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import (
    Aggregate,
    Call,
    Cast,
    Conditional,
    Convert,
    Field,
    Infix,
    Intrinsic,
    Item,
    LirExpr,
    Literal,
    Name,
    Operation,
    Prefix,
    SizeOf,
)
from dcpy.codegen.lir.intrinsics import INTRINSICS
from dcpy.codegen.lir.text import expr_text, type_text
from dcpy.codegen.lir.traversal import children
from dcpy.codegen.lir.types import (
    INDEX,
    SMALL_INDEX,
    TRUTH,
    Basic,
    Fifo,
    Lanes,
    LirType,
    Pointer,
    Reference,
    VectorType,
)
from dcpy.ir import types
from dcpy.ir.types import DType

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
LOGIC = ("&&", "||")
C_TYPES: dict[str, LirType] = {
    "void": Basic.VOID, "char": Basic.BYTE, "int": types.int32, "float": types.float32, "double": types.float64,
    "bool": types.bool_, "size_t": types.uint64,
    **{f"{word}{8 * dtype.itemsize}_t": dtype for word, dtypes in (
        ("int", (types.int8, types.int16, types.int32, types.int64)),
        ("uint", (types.uint8, types.uint16, types.uint32, types.uint64)),
    ) for dtype in dtypes},
}  # fmt: skip
SCALED = ("ldexp", "round_to")  # operations whose second operand is an integer
Names = Mapping[str, LirType]
Said = Iterator[str]


@dataclass(frozen=True, slots=True)
class FunctionTypes:
    """Types of the parameters and the result of a function; None is an unknown type."""

    params: tuple[LirType | None, ...]
    result: LirType | None

    @classmethod
    def of_function(cls, function: tree.Function) -> FunctionTypes:
        """The types of a function of the module's."""
        return cls(tuple(param.type for param in function.params), function.result)

    @classmethod
    def of_kernel(cls, kernel: tree.Kernel) -> FunctionTypes:
        """The types of a kernel of the module's: launching it gives nothing."""
        return cls(tuple(param.type for param in kernel.params), Basic.VOID)

    @classmethod
    def of_prototype(cls, prototype: Prototype) -> FunctionTypes:
        """The types of a foreign function."""
        return cls(tuple(map(_c_type, prototype.parameters)), _c_type(prototype.result))


def _c_type(kind: CType) -> LirType | None:
    """A type of C as one of LIR; None for numbers, which are converted at a call, as in C."""
    if kind.pointers == 1:
        return Pointer(C_TYPES[kind.name], kind.const)
    return Basic.VOID if kind.name == "void" and not kind.pointers else None


def agrees(given: LirType, wanted: LirType) -> bool:
    """Return whether a value of one type may stand where another is asked for."""
    if given == wanted or (given == INDEX and wanted is Basic.WIDE):
        return True
    if isinstance(given, Reference) or isinstance(wanted, Reference):
        return agrees(_own(given), _own(wanted))
    if isinstance(given, Fifo) and isinstance(wanted, Fifo):
        return given.element == wanted.element and not wanted.depth
    if not (isinstance(given, Pointer) and isinstance(wanted, Pointer)):
        return False
    same = given.element == wanted.element or Basic.VOID in (given.element, wanted.element)
    return same and given.space is wanted.space and (wanted.const or not given.const)


def _own(kind: LirType) -> LirType:
    return kind.element if isinstance(kind, Reference) else kind


def is_place(target: LirExpr) -> str:
    """Return why an expression is not assignable; "" where it is."""
    match target:
        case Name():
            return ""
        case Item(base=base):
            if isinstance(base.type, Pointer) and base.type.const:
                return f"{expr_text(target)} is written, but its pointer is const"
            return ""
    return f"{expr_text(target)} is no place to write to"


class Types:
    """Checks expressions; `functions` are those that may be called."""

    def __init__(self, functions: Mapping[str, FunctionTypes | None]) -> None:
        self.functions = functions

    def problems(self, expr: LirExpr, names: Names) -> Said:
        """Yield the type errors in an expression and its parts."""
        for child in children(expr):
            yield from self.problems(child, names)
        check = _CHECKS.get(type(expr))
        for message in check(self, expr, names) if check is not None else ():
            yield f"{message}, in {expr_text(expr)}"

    def _name(self, e: Name, names: Names) -> Said:
        kind = names.get(e.name)
        if kind is None:
            yield f"{e.name!r} is not declared"
        elif not agrees(kind, e.type):
            yield f"{e.name!r} is {type_text(kind)}, not {type_text(e.type)}"

    def _item(self, e: Item, names: Names) -> Said:
        if not isinstance(e.base.type, Pointer | VectorType | Lanes):
            yield f"{type_text(e.base.type)} has no elements"
        elif e.base.type.element != e.type:
            yield f"an element is {type_text(e.base.type.element)}, not {type_text(e.type)}"
        if e.index.type not in (INDEX, SMALL_INDEX):
            yield f"an index is {type_text(e.index.type)}"

    def _field(self, e: Field, names: Names) -> Said:
        kind = e.arg.type
        if not isinstance(kind, DType) or kind.kind != "c" or e.name not in ("real", "imag") or e.type != kind.real:
            yield f"{type_text(kind)} has no {e.name!r} of type {type_text(e.type)}"

    def _infix(self, e: Infix, names: Names) -> Said:
        left, right = e.left.type, e.right.type
        if e.op in LOGIC and (left, right) != (TRUTH, TRUTH):
            yield f"{e.op} of {type_text(left)} and {type_text(right)}"
        if e.op in (*COMPARISONS, *LOGIC):
            if e.type != TRUTH:
                yield f"{e.op} gives {type_text(e.type)}"
            if not (agrees(left, right) or agrees(right, left)):
                yield f"{e.op} of {type_text(left)} and {type_text(right)}"
        elif {left, right} != {e.type} and not (e.type is Basic.SIZE and {left, right} <= {INDEX, Basic.SIZE}):
            yield f"{e.op} of {type_text(left)} and {type_text(right)} gives {type_text(e.type)}"

    def _prefix(self, e: Prefix, names: Names) -> Said:
        if e.op == "&":
            yield from self._address(e)
        elif e.arg.type != e.type or (e.op == "!" and e.type != TRUTH):
            yield f"{e.op} of {type_text(e.arg.type)} gives {type_text(e.type)}"

    def _address(self, e: Prefix) -> Said:
        if not isinstance(e.type, Pointer) or e.type.element != e.arg.type:
            yield f"the address of {type_text(e.arg.type)} is {type_text(e.type)}"
            return
        base = e.arg.base.type if isinstance(e.arg, Item) else Pointer(e.arg.type)
        if isinstance(base, Pointer) and (base.space is not e.type.space or (base.const and not e.type.const)):
            yield f"the address of a part of {type_text(base)} is {type_text(e.type)}"
        if not isinstance(e.arg, Item | Name):
            yield "has no address"

    def _call(self, e: Call, names: Names) -> Said:
        name = e.function.partition("<")[0].rpartition("::")[2]  # foreign text may be a template, in a namespace
        signature = self.functions.get(name)
        if signature is None:
            if name not in self.functions and "#include" not in self.functions:
                yield f"the function {e.function!r} is not declared"
            return
        if len(signature.params) != len(e.args):
            yield f"{len(e.args)} arguments for {len(signature.params)} parameters"
        for position, (param, arg) in enumerate(zip(signature.params, e.args, strict=False)):
            if param is not None and not agrees(arg.type, param):
                yield f"argument {position} is {type_text(arg.type)}, not {type_text(param)}"
            if isinstance(param, Reference) and not isinstance(arg, Name):
                yield f"argument {position} is no variable"
        if signature.result is not None and signature.result != e.type:
            yield f"the result is {type_text(signature.result)}, not {type_text(e.type)}"

    def _intrinsic(self, e: Intrinsic, names: Names) -> Said:
        if e.name not in INTRINSICS:
            yield f"there is no intrinsic {e.name!r}"
            return
        rule = INTRINSICS[e.name](e.of or INDEX)
        if len(e.args) != len(rule.params) and not (rule.numbers and len(e.args) > len(rule.params)):
            yield f"{len(e.args)} arguments for {len(rule.params)}"
        for position, (param, arg) in enumerate(zip(rule.params, e.args, strict=False)):
            if not agrees(arg.type, param):
                yield f"argument {position} is {type_text(arg.type)}, not {type_text(param)}"
        if not agrees(rule.result, e.type):
            yield f"the result is {type_text(rule.result)}, not {type_text(e.type)}"

    def _operation(self, e: Operation, names: Names) -> Said:
        for arg in e.args[:1] if e.name in SCALED else e.args:
            if arg.type != e.dtype:
                yield f"{e.name}.{e.dtype} of {type_text(arg.type)}"

    def _cast(self, e: Cast, names: Names) -> Said:
        if e.arg.type != e.source:
            yield f"{type_text(e.arg.type)} is converted as if it were {e.source}"

    def _convert(self, e: Convert, names: Names) -> Said:
        given = e.arg.type
        if not isinstance(e.type, Pointer) or not isinstance(given, Pointer):
            if {given, e.type} - {INDEX} and not (isinstance(given, Pointer) or isinstance(e.type, Pointer)):
                yield f"{type_text(given)} is seen as {type_text(e.type)}"
        elif given.space is not e.type.space and given.element is not Basic.VOID:  # that says what callers pass
            yield f"a pointer into the {given.space.value} memory is seen as one into the {e.type.space.value} memory"

    def _conditional(self, e: Conditional, names: Names) -> Said:
        if e.condition.type != TRUTH:
            yield f"a condition is {type_text(e.condition.type)}"
        for value in (e.yes, e.no):
            if not agrees(value.type, e.type):
                yield f"{type_text(value.type)} is selected as {type_text(e.type)}"

    def _aggregate(self, e: Aggregate, names: Names) -> Said:
        kind = e.type
        if not isinstance(kind, DType) or kind.kind != "c" or [arg.type for arg in e.args] != [kind.real, kind.real]:
            yield f"{type_text(kind)} is not made of these parts"

    def _literal(self, e: Literal, names: Names) -> Said:
        if e.value is None and not isinstance(e.type, Pointer):
            yield f"null is {type_text(e.type)}"
        elif isinstance(e.value, bool) and e.type != TRUTH:
            yield f"a truth is {type_text(e.type)}"
        elif isinstance(e.value, float) and (not isinstance(e.type, DType) or e.type.kind != "f"):
            yield f"a float is {type_text(e.type)}"

    def _size(self, e: SizeOf, names: Names) -> Said:
        if e.type is not Basic.SIZE:
            yield f"a number of bytes is {type_text(e.type)}"


_CHECKS: dict[type, Callable[[Types, Any, Names], Said]] = {
    Name: Types._name, Item: Types._item, Field: Types._field, Infix: Types._infix, Prefix: Types._prefix,
    Call: Types._call, Intrinsic: Types._intrinsic, Operation: Types._operation, Cast: Types._cast,
    Convert: Types._convert, Conditional: Types._conditional, Aggregate: Types._aggregate, Literal: Types._literal,
    SizeOf: Types._size,
}  # fmt: skip
