"""How a program is called natively: the `Signature` of an SDFG, from its descriptors and the types of a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dcpy.base.errors import CodegenError
from dcpy.codegen.artifact import (
    Arg,
    ArgumentResult,
    ArrayArg,
    ConstantArg,
    ConstantResult,
    Dim,
    FreshArray,
    IntegerArg,
    Result,
    ScalarArg,
    ScalarResult,
    Signature,
    ViewResult,
)
from dcpy.frontend.specialize.types import ArgType, ArrayType, ConstantType, ScalarType
from dcpy.ir import sdfg as ir
from dcpy.ir.analysis.accesses import accesses_of_region
from dcpy.ir.analysis.scopes import root_of
from dcpy.ir.data import Array, Scalar, packed_strides
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.symbolic import Expr


def signature_of(sdfg: Sdfg, types: Mapping[str, ArgType] | None = None) -> Signature:
    """The signature of a call with these types; without them (ahead of time), scalars of both kinds are taken.

    Raises `CodegenError` for an SDFG whose sizes no argument tells.
    """
    written = written_arguments(sdfg)
    names = list(types) if types is not None else sdfg.arguments
    args = tuple(_arg(sdfg, name, (types or {}).get(name), name in written) for name in names)
    _require_bound(sdfg, args)
    results = tuple(_result(sdfg, result, names) for result in sdfg.results)
    return Signature(sdfg.name, args, tuple(sdfg.symbols), results, sdfg.structure)


def written_arguments(sdfg: Sdfg) -> dict[str, None]:
    """The arguments that the program writes to, through views too."""
    accesses = accesses_of_region(sdfg.body)
    return dict.fromkeys(root_of(sdfg, access.container) for access in accesses if access.is_write)


def _arg(sdfg: Sdfg, name: str, kind: ArgType | None, written: bool) -> Arg:
    if isinstance(kind, ConstantType):
        return ConstantArg(name, kind.value)
    scalar = kind if isinstance(kind, ScalarType) else ScalarType(_dtype_of(sdfg, name), converts=True)
    if name in sdfg.symbols:
        return IntegerArg(name, scalar.dtype.numpy_name, weak=scalar.weak or kind is None)
    desc = sdfg.containers[name]
    if isinstance(desc, Scalar):
        return ScalarArg(name, desc.dtype.numpy_name, scalar.weak, scalar.converts)
    if not isinstance(desc, Array):
        raise CodegenError(f"argument {name!r} of {sdfg.name!r} is a {type(desc).__name__}, which Python cannot pass")
    not_one = kind.not_one if isinstance(kind, ArrayType) else ()
    dims = tuple(_dim(sdfg, name, size, not_one) for size in desc.shape)
    order, strides = _layout(name, desc)
    return ArrayArg(name, desc.dtype.numpy_name, dims, order, strides, written, desc.alias)


def _dtype_of(sdfg: Sdfg, name: str) -> Any:
    return sdfg.symbols[name] if name in sdfg.symbols else sdfg.desc(name).dtype


def _dim(sdfg: Sdfg, name: str, size: Expr, not_one: Sequence[str]) -> Dim:
    if size.constant is not None:
        return Dim(constant=size.constant)
    if size.name is not None:
        return Dim(symbol=size.name, not_one=size.name in not_one)
    raise CodegenError(
        f"the size {size} of argument {name!r} of {sdfg.name!r} is neither a symbol nor a number",
        help="give the dimension a symbol of its own",
    )


def _layout(name: str, desc: Array) -> tuple[str, tuple[str, ...]]:
    for order in ("C", "F"):
        if desc.strides == packed_strides(desc.shape, order):
            return order, ()
    symbols = tuple(stride.name or "" for stride in desc.strides)
    if not all(symbols):
        raise CodegenError(f"the strides of argument {name!r} are neither packed nor symbols of their own")
    return "", symbols


def _require_bound(sdfg: Sdfg, args: Sequence[Arg]) -> None:
    bound: dict[str, None] = {}
    for arg in args:
        match arg:
            case ArrayArg(dims=dims, strides=strides):
                bound.update(dict.fromkeys((*(dim.symbol for dim in dims), *strides)))
            case IntegerArg(name=name):
                bound[name] = None
    missing = [name for name in sdfg.symbols if name not in bound]
    if missing:
        raise CodegenError(
            f"no argument of {sdfg.name!r} tells the value of {', '.join(missing)}",
            help="pass it as an integer argument: sdfg.add_symbol(name, argument=True)",
        )


def _result(sdfg: Sdfg, result: ir.Result, names: Sequence[str]) -> Result:
    match result.kind:
        case "constant":
            return ConstantResult(result.value)
        case "argument":
            return ArgumentResult(list(names).index(result.container))
    desc = sdfg.desc(result.container)
    dtype = desc.dtype.numpy_name
    match result.kind:
        case "array":
            return FreshArray(dtype, len(desc.shape))
        case "view":
            return ViewResult(list(names).index(root_of(sdfg, result.container)), dtype, len(desc.shape))
        case _:
            return ScalarResult(dtype, python=result.kind == "python")
