"""Types as a dialect of C spells them."""

from __future__ import annotations

from functools import lru_cache

from dcpy.base.errors import CodegenError
from dcpy.codegen.emit.dialect import Dialect
from dcpy.codegen.lir.types import Basic, Fifo, Lanes, LirType, Pointer, Reference, VectorType
from dcpy.ir.types import DType


@lru_cache(maxsize=1024)
def spelled(dialect: Dialect, kind: LirType) -> str:
    """``double``, ``const double *``, ``void *const *``; what comes behind it needs a space unless this ends in * or &.

    `CodegenError` for what the language has no type for.
    """
    match kind:
        case DType(name=name):
            return str(dialect.entry(dialect.numbers, name, f"numbers of dtype {name}"))
        case Basic():
            return str(dialect.entry(dialect.basic, kind, f"the type {kind.value}"))
        case Fifo(element=element, depth=depth):
            return dialect.word("queue").format(spelled(dialect, element), depth)
        case Lanes(element=element, count=count):
            return dialect.word("token").format(spelled(dialect, element), count)
        case VectorType(element=element):
            return dialect.word("vector").format(spelled(dialect, element))
        case Reference(element=element):
            return _behind(spelled(dialect, element), dialect.word("reference"))
        case Pointer(element=element, const=const, space=space):
            words = dialect.spaces.get(space)
            if words is None:
                raise CodegenError(f"{dialect.name} has no pointer into the {space.value} memory of a device")
            text = spelled(dialect, element)
            if const:
                text = f"{text}const" if text.endswith("*") else f"const {text}"
            return _behind(f"{words}{text}", "*")


def declared(
    dialect: Dialect, kind: LirType, name: str, *, constant: bool = False, restrict: bool = False
) -> str:
    """A variable or a parameter: ``double x``, ``const double *__restrict x``, ``void *const x``."""
    text = spelled(dialect, kind)
    if restrict:
        text += dialect.word("restrict")
    if constant:
        text = f"{text}const" if text.endswith("*") else f"const {text}"
    return f"{text}{name}" if text.endswith(("*", "&")) else f"{text} {name}"


def _behind(text: str, mark: str) -> str:
    return f"{text}{mark}" if text.endswith("*") else f"{text} {mark}"
