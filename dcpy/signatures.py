"""How a call of certain types is made natively: the default signature of an SDFG, with what only the call tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dcpy.codegen.artifact import (
    Arg,
    ArgumentResult,
    ArrayArg,
    ConstantArg,
    Dim,
    IntegerArg,
    Result,
    ScalarArg,
    Signature,
    ViewResult,
)
from dcpy.codegen.generate import default_signature
from dcpy.frontend.specialize.types import ArgType, ArrayType, ConstantType, ScalarType
from dcpy.ir.sdfg import Sdfg


def signature_of(sdfg: Sdfg, types: Mapping[str, ArgType] | None = None) -> Signature:
    """The signature for calls with arguments of these types, in this order; without them, the default one.

    Types add what descriptors do not have: constants that are no containers, numbers of Python's own, and sizes that
    must differ from 1. Raises `CodegenError` where no argument tells a size.
    """
    signature = default_signature(sdfg)
    if types is None:
        return signature
    known = {arg.name: arg for arg in signature.args}
    args = tuple(_refined(name, kind, known.get(name)) for name, kind in types.items())
    positions = {arg.name: position for position, arg in enumerate(args)}
    moved = [positions.get(arg.name, -1) for arg in signature.args]
    return replace(signature, args=args, results=tuple(_moved(result, moved) for result in signature.results))


def _refined(name: str, kind: ArgType, arg: Arg | None) -> Arg:
    match kind, arg:
        case ConstantType(value=value), _:
            return ConstantArg(name, value)
        case ArrayType(not_one=not_one), ArrayArg(dims=dims):
            return replace(arg, dims=tuple(_checked(dim, not_one) for dim in dims))
        case ScalarType(weak=weak, converts=converts), ScalarArg():
            return replace(arg, weak=weak, converts=converts)
        case ScalarType(weak=weak), IntegerArg():
            return replace(arg, weak=weak)
    raise AssertionError(f"argument {name!r}: {kind} does not go with {arg}")


def _checked(dim: Dim, not_one: tuple[str, ...]) -> Dim:
    return replace(dim, not_one=dim.symbol != "" and dim.symbol in not_one)


def _moved(result: Result, positions: list[int]) -> Result:
    if isinstance(result, ArgumentResult | ViewResult):
        return replace(result, index=positions[result.index])
    return result
