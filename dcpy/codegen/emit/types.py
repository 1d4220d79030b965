"""Types as C++ spells them."""

from __future__ import annotations

from functools import lru_cache

from dcpy.base.errors import CodegenError
from dcpy.codegen.lir.types import Basic, Fifo, LirType, Pointer, Reference
from dcpy.ir.data import Space
from dcpy.ir.types import DType

NUMBERS = {
    "bool": "bool", "i8": "int8_t", "i16": "int16_t", "i32": "int32_t", "i64": "int64_t", "u8": "uint8_t",
    "u16": "uint16_t", "u32": "uint32_t", "u64": "uint64_t", "f16": "_Float16", "f32": "float", "f64": "double",
    "c64": "dcpy_complex64", "c128": "dcpy_complex128",
}  # fmt: skip
BASIC = {Basic.VOID: "void", Basic.BYTE: "char", Basic.SIZE: "size_t", Basic.INT: "int"}


@lru_cache(maxsize=512)
def spelled(kind: LirType) -> str:
    """``double``, ``const double *``, ``void *const *``; what comes behind it needs a space unless this ends in * or &.

    `CodegenError` for a memory that programs on the host cannot address.
    """
    match kind:
        case DType(name=name):
            return NUMBERS[name]
        case Basic():
            return BASIC[kind]
        case Fifo(element=element):
            return f"dcpy_stream<{spelled(element)}>"
        case Reference(element=element):
            return _behind(spelled(element), "&")
        case Pointer(element=element, const=const, space=space):
            if space is not Space.HOST:
                raise CodegenError(f"a program on the host has no pointer into the {space.value} memory of a device")
            text = spelled(element)
            if const:
                text = f"{text}const" if text.endswith("*") else f"const {text}"
            return _behind(text, "*")


def declared(kind: LirType, name: str, *, constant: bool = False, restrict: bool = False) -> str:
    """A variable or a parameter: ``double x``, ``const double *__restrict x``, ``void *const x``."""
    text = spelled(kind)
    if restrict:
        text += "__restrict"
    if constant:
        text = f"{text}const" if text.endswith("*") else f"const {text}"
    return f"{text}{name}" if text.endswith(("*", "&")) else f"{text} {name}"


def _behind(text: str, mark: str) -> str:
    return f"{text}{mark}" if text.endswith("*") else f"{text} {mark}"
