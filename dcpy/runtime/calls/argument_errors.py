"""Argument errors: messages for arguments that do not fit a signature. Off the fast path: the native dispatcher has
refused.

Number and names are parameters.py; the few conversions that dcpy makes are conversion.py. Lists are refused: NumPy's
functions would turn them into new arrays, and what is written to those is lost. So are subclasses of ndarray, which
have their own arithmetic, but for what is borrowed (borrowing.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from dcpy.base.articles import with_article
from dcpy.base.assumptions import refusal, too_long
from dcpy.base.bit_generators import is_generator
from dcpy.base.errors import ArgumentError, ArgumentShapeError, DcpyError, ReadOnlyArgument
from dcpy.base.foreign_arrays import CONVERTING, foreign_array
from dcpy.codegen.artifact import (
    Arg,
    ArrayArg,
    ConstantArg,
    Dim,
    GeneratorArg,
    IntegerArg,
    Linear,
    RecordArg,
    ScalarArg,
    Signature,
)
from dcpy.runtime.calls.parameters import plural


def explain_mismatch(signature: Signature, values: Sequence[Any], *, guarded: bool = False) -> DcpyError:
    """Return the error for `values`, one per `Signature.args`. With `guarded` the program depends on global names, too.

    An `ArgumentError`, `ArgumentShapeError` or `ReadOnlyArgument`, to be raised by the caller.
    """
    for arg, value in zip(signature.args, values, strict=True):
        if isinstance(arg, ArrayArg):
            problem = _array_problem(arg, value)
        elif isinstance(arg, GeneratorArg):
            problem = _generator_problem(arg, value)
        elif isinstance(arg, RecordArg):
            problem = _record_problem(arg, value, values)
        elif isinstance(arg, ConstantArg):
            problem = _constant_problem(arg, value)
        else:
            problem = _scalar_problem(arg, value)
        if problem is not None:
            problem.argument = arg.name
            return problem
    unknown = "no reason was found: this is a fault of dcpy, please report it"
    changed = "a global or enclosing variable that the program was compiled with has changed"
    return (
        _size_problem(signature, values)
        or _assumption_problem(signature, values)
        or _memory_problem(signature, values)
        or ArgumentError(
            f"the arguments do not fit {signature.name}{describe_all(signature)}",
            notes=(changed if guarded else unknown,),
        )
    )


def with_parts(values: Sequence[Any], sources: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    """The values, and the parts of records that stand behind them; None for a part that does not exist."""
    found = list(values)
    for kind, parent, step in (source for source in sources if source[0] in ("field", "item")):
        owner = found[parent]
        if kind == "field":
            found.append(getattr(owner, step, None))
        else:
            found.append(owner[step] if isinstance(owner, tuple) and step < len(owner) else None)
    return tuple(found)


def describe(arg: ArrayArg) -> str:
    """The type of an array as annotations write it: ``float64[N, 3]``."""
    return f"{arg.dtype}[{', '.join(map(str, arg.dims))}]"


def describe_all(signature: Signature) -> str:
    """The types of all arguments, with their names: ``(a: float64[N], k: int64)``."""
    return f"({', '.join(f'{arg.name}: {_type_of(arg)}' for arg in signature.args)})"


def _type_of(arg: Arg) -> str:
    match arg:
        case ArrayArg():
            return describe(arg)
        case ConstantArg(value=value):
            return repr(value)
        case GeneratorArg():
            return "Generator"
        case RecordArg(cls=cls):
            return cls.__name__
    return arg.dtype


def _kind_of(value: object) -> str:
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _array_problem(arg: ArrayArg, value: object) -> DcpyError | None:
    wanted = f"{with_article(describe(arg))} array is needed"
    if value is None:
        return ArgumentError(f"argument {arg.name!r} is None, but {wanted}")
    if type(value) is not np.ndarray:
        return _no_array(arg, value, wanted)
    if value.dtype.hasobject:
        return ArgumentError(
            f"argument {arg.name!r} holds Python objects (dtype {value.dtype}), but {wanted}",
            help=f"pass {arg.name}.astype(np.{arg.dtype})",
        )
    if value.dtype.newbyteorder("=") != np.dtype(arg.dtype):
        return ArgumentError(
            f"argument {arg.name!r} has dtype {value.dtype}, but {wanted}",
            notes=("dcpy does not convert arrays at a call: what the program writes to the new array would be lost",),
            help=f"pass {arg.name}.astype(np.{arg.dtype})" + (", and copy the result back" if arg.written else ""),
        )
    if value.ndim != len(arg.dims):
        count = f"{value.ndim} {plural('dimension', value.ndim)}"
        return ArgumentError(
            f"argument {arg.name!r} has {count}, shape {value.shape}, but {wanted}",
            notes=("a program is compiled for a fixed number of dimensions",),
            help=_as_rank(arg, value),
        )
    if arg.written and not value.flags.writeable:
        return ReadOnlyArgument(
            f"argument {arg.name!r} is read-only, but the program writes to it",
            notes=("NumPy raises ValueError at the write",),
            help="return the new values instead" if arg.on_device else f"pass {arg.name}.copy()",
        )
    return _stride_problem(arg, value)


def _stride_problem(arg: ArrayArg, value: np.ndarray[Any, Any]) -> DcpyError | None:
    """An array that does not repeat its elements where the sample that a program was compiled for did."""
    for axis, name in enumerate(arg.strides):
        if not name and value.shape[axis] > 1 and value.strides[axis] != 0:
            return ArgumentError(
                f"argument {arg.name!r} has stride {value.strides[axis]} in dimension {axis}, but 0 is needed",
                notes=("the program was compiled for an array that is broadcast along this dimension",),
                help=f"compile it for an array with this memory layout, or pass np.broadcast_to(..., {arg.name}.shape)",
            )
    return None


def _as_rank(arg: ArrayArg, value: np.ndarray[Any, Any]) -> str:
    """Return advice on making an array of the right rank."""
    wanted, missing = len(arg.dims), len(arg.dims) - value.ndim
    if missing > 0:
        return f"pass {arg.name}[{', '.join(['None'] * missing)}], or reshape it to {wanted} dimensions"
    return f"pass {arg.name}.reshape(...) with {wanted} {plural('dimension', wanted)}, or a part of it"


def _no_array(arg: ArrayArg, value: object, wanted: str) -> ArgumentError:
    message = f"argument {arg.name!r} is {with_article(_kind_of(value))}, but {wanted}"
    if isinstance(value, list | tuple):
        reason = "it is no list of such numbers, in rows of one length"
        if arg.written:
            reason = "the program writes to it, and a write to an array made of the list would not change the list"
        elif isinstance(value, tuple):
            reason = "a tuple is not converted"
        return ArgumentError(message, notes=(reason,), help=f"pass np.asarray({arg.name}, dtype=np.{arg.dtype})")
    if isinstance(value, np.ma.MaskedArray):
        return ArgumentError(message, notes=("dcpy would ignore the mask",), help=f"pass {arg.name}.filled(...)")
    if isinstance(value, np.ndarray):
        reason = f"{_kind_of(value)} has operators and indices that differ from those of arrays"
        further = CONVERTING if arg.name.isidentifier() else ""
        return ArgumentError(message, notes=(reason,), help=f"pass np.asarray({arg.name}){further}")
    found = foreign_array(value)
    if found is not None:
        message = f"argument {arg.name!r} is {found.message}, and {wanted}"
        return ArgumentError(message, notes=(found.note,), help=found.help(arg.name))
    return ArgumentError(message)


def _generator_problem(arg: GeneratorArg, value: object) -> DcpyError | None:
    if is_generator(value):
        return None
    message = f"argument {arg.name!r} is {with_article(_kind_of(value))}, but a numpy.random.Generator is needed"
    return ArgumentError(message, help="pass np.random.default_rng(seed)")


def _record_problem(arg: RecordArg, value: object, values: Sequence[Any]) -> DcpyError | None:
    if type(value) is not arg.cls or (isinstance(value, tuple) and len(value) != arg.length):
        wanted = with_article(arg.cls.__name__) + (f" of {arg.length}" if arg.length >= 0 else "")
        return ArgumentError(f"argument {arg.name!r} is {with_article(_kind_of(value))}, but {wanted} is needed")
    if (arg.same_as >= 0 and values[arg.same_as] is not value) or any(
        values[other] is value for other in arg.distinct_from
    ):
        return ArgumentError(f"the program was compiled for {arg.name!r} being another object, or the same one")
    return None


def _constant_problem(arg: ConstantArg, value: object) -> DcpyError | None:
    if value is arg.value or (type(value) is type(arg.value) and value == arg.value):
        return None
    return ArgumentError(f"argument {arg.name!r} is {value!r}, but the program was compiled for {arg.value!r}")


PYTHON_KINDS = {"b": bool, "i": int, "u": int, "f": float, "c": complex}


def _scalar_problem(arg: ScalarArg | IntegerArg, value: object) -> DcpyError | None:
    dtype = np.dtype(arg.dtype)
    python = PYTHON_KINDS[dtype.kind]
    converts = isinstance(arg, ScalarArg) and arg.converts
    takes = f"a Python {python.__name__}" if arg.weak else with_article(f"{arg.dtype} scalar")
    if converts and not arg.weak:
        takes += f" or a Python {python.__name__}"
    message = f"argument {arg.name!r} is {with_article(_kind_of(value))}, but {takes} is needed"
    kinds = list(PYTHON_KINDS.values())
    accepted = tuple(kinds[: kinds.index(python) + 1]) if converts else (python,)
    if type(value) in accepted and (arg.weak or converts):
        return _range_problem(arg, value, dtype)
    if isinstance(value, np.generic | np.ndarray) and not arg.weak and value.dtype == dtype and value.ndim == 0:
        return _symbol_problem(arg, value)
    cast = f"{python.__name__}({arg.name})" if arg.weak else f"np.{arg.dtype}({arg.name})"
    is_number = isinstance(value, bool | int | float | complex | np.number | np.bool_)
    return ArgumentError(message, help=f"pass {cast}" if is_number else "")


def _symbol_problem(arg: ScalarArg | IntegerArg, value: Any) -> DcpyError | None:
    if isinstance(arg, ScalarArg) or value <= np.iinfo(np.int64).max:
        return None
    return ArgumentError(
        f"argument {arg.name!r} is {value}, but it is part of a size or an index, which has 63 bits",
        help=f"pass a number below 2**63, or use np.float64({arg.name}) where it is no size",
    )


def _range_problem(arg: ScalarArg | IntegerArg, value: Any, dtype: np.dtype[Any]) -> DcpyError | None:
    if dtype.kind not in "iu" or np.iinfo(dtype).min <= value <= np.iinfo(dtype).max:
        return None
    return ArgumentError(f"argument {arg.name!r} is {value}, which {dtype} cannot hold")


def _size_problem(signature: Signature, values: Sequence[Any]) -> ArgumentShapeError | None:
    """The first size that contradicts a constant, or an earlier occurrence of its symbol."""
    known: dict[str, tuple[int, str]] = {}
    for arg, value in zip(signature.args, values, strict=True):
        if isinstance(arg, IntegerArg):
            sizes = [(Dim(arg.name), int(value), f"argument {arg.name!r}")]
        elif isinstance(arg, ArrayArg):
            shape = np.shape(value)
            sizes = [
                (dim, size, f"dimension {d} of {arg.name!r}")
                for d, (dim, size) in enumerate(zip(arg.dims, shape, strict=True))
            ]
        else:
            continue
        for dim, size, place in sizes:
            number = size - dim.offset
            first, where = (dim.constant, "the program")
            if dim.symbol:
                first, where = known.setdefault(dim.symbol, (number, place))
            reason = f"{dim.symbol or 'the size'} is {first} by {where}, but {number} by {place}"
            if number == first and (number >= 0 or isinstance(arg, IntegerArg)):
                reason = ""
            if dim.not_one and size == 1:
                reason = f"{place} is 1, but was compiled for sizes other than 1"
            if reason:
                given = f"argument {arg.name!r} has shape {np.shape(value)}"
                wanted = f", but {with_article(describe(arg))} is needed" if isinstance(arg, ArrayArg) else ""
                problem = ArgumentShapeError(given + wanted, notes=(reason,), help=_help_for_size(dim))
                problem.argument = arg.name
                return problem
    return None


def _help_for_size(dim: Dim) -> str:
    if dim.symbol:
        return "dimensions with the same name need the same size"
    return 'pass an array of this size, or annotate a size that may vary by a symbol: N = dcpy.symbol("N")'


def _assumption_problem(signature: Signature, values: Sequence[Any]) -> ArgumentShapeError | None:
    """Return the error for an assumption that does not hold."""
    for arg, value in zip(signature.args, values, strict=False):
        if isinstance(arg, ArrayArg) and (error := too_long(arg.name, np.shape(value))) is not None:
            return error
    known = symbol_values(signature, values)
    for name, assumed in signature.assumed:
        problem = refusal(name, known[name], assumed, *told_by(signature, values, name))
        if problem is not None:
            return problem
    for condition in signature.assumes:
        if not _holds(condition, known):
            names = ", ".join(f"{name} is {known[name]}" for name, _ in condition.terms)
            return ArgumentShapeError(
                f"{signature.name} was compiled for {condition}, but {names}",
                notes=("a program compiled for sample arguments may rely on their sizes",),
                help="call the function that it was made from, or compile it for arguments like these",
            )
    return None


def conditions_hold(signature: Signature, values: Sequence[Any]) -> bool:
    """Return whether a program is right, and the best there is, for arguments of the types that it was compiled for.

    Of other arguments it says nothing: the call will.
    """
    if not all(map(_has_sizes, signature.args, values)):
        return True
    if _size_problem(signature, values) is not None:  # an integer argument may stand for a size: types do not show that
        return False
    known = symbol_values(signature, values)
    if not all(
        name in known for condition in (*signature.assumes, *signature.better_if) for name, _ in condition.terms
    ):
        return False
    best = not signature.better_if or not all(_holds(condition, known) for condition in signature.better_if)
    kept = all(name in known and not assumed.broken_by(known[name]) for name, assumed in signature.assumed)
    return best and kept and all(_holds(condition, known) for condition in signature.assumes)


def _has_sizes(arg: Arg, value: Any) -> bool:
    """Return whether an argument is of the kind whose type has sizes."""
    if isinstance(arg, IntegerArg):
        return isinstance(value, int | np.integer)
    return not isinstance(arg, ArrayArg) or getattr(value, "ndim", -1) == len(arg.dims)


def symbol_values(signature: Signature, values: Sequence[Any]) -> dict[str, int]:
    """The values of symbols in the sizes of arguments and in integer arguments."""
    known: dict[str, int] = {}
    for arg, value in zip(signature.args, values, strict=False):
        if isinstance(arg, IntegerArg):
            known.setdefault(arg.name, int(value))
        elif isinstance(arg, ArrayArg):
            for dim, size in zip(arg.dims, np.shape(value), strict=False):
                known.setdefault(dim.symbol, size - dim.offset)
    return known


def told_by(signature: Signature, values: Sequence[Any], symbol: str) -> tuple[str, str]:
    """Return the argument that implies the value of a symbol, in words and by name."""
    for arg, value in zip(signature.args, values, strict=False):
        for axis, dim in enumerate(arg.dims if isinstance(arg, ArrayArg) else ()):
            if dim.symbol == symbol:
                said = f", which is {dim} with {symbol} = {np.shape(value)[axis] - dim.offset}" if dim.offset else ""
                return f"argument {arg.name!r} has the size {np.shape(value)[axis]} along axis {axis}{said}", arg.name
        if isinstance(arg, IntegerArg) and arg.name == symbol:
            return f"argument {symbol!r} is {value}", symbol
    return f"{symbol} is given", ""


def _holds(condition: Linear, known: dict[str, int]) -> bool:
    return sum(factor * known[name] for name, factor in condition.terms) + condition.constant >= 0


def _memory_problem(signature: Signature, values: Sequence[Any]) -> ArgumentError | None:
    arrays = [(arg, value) for arg, value in zip(signature.args, values, strict=True) if isinstance(arg, ArrayArg)]
    for arg, value in arrays:
        problem = _layout_problem(arg, value)
        if problem:
            return ArgumentError(
                f"argument {arg.name!r} {problem}", help=f"pass {arg.name}.copy(order={arg.order or 'C'!r})"
            )
    for (a, left), (b, right) in combinations(arrays, 2):
        apart = (a.written or b.written) and not (a.alias and a.alias == b.alias)
        if apart and np.may_share_memory(left, right):
            return ArgumentError(
                f"arguments {a.name!r} and {b.name!r} overlap in memory, and the program writes to one of them",
                help=f"pass a copy of one of them, or compile the program for overlapping {a.name!r} and {b.name!r}",
            )
    return None


def _layout_problem(arg: ArrayArg, value: np.ndarray[Any, Any]) -> str:
    if not value.dtype.isnative:
        return f"is byte-swapped (dtype {value.dtype.str})"
    if not value.flags.aligned:
        return "is not aligned in memory"
    if not arg.strides and arg.axes and not value.transpose(arg.axes).flags.c_contiguous:
        return f"is not packed in the order of its axes {arg.axes} (strides {value.strides})"
    if not arg.strides and not arg.axes and not is_packed(value, arg.order):
        return f"is not packed in {arg.order} order (strides {value.strides})"
    if arg.strides and arg.axes and not _is_ordered(value, arg.axes):
        return f"has strides {value.strides}, and is compiled for axes in the order {arg.axes}, the slowest first"
    odd = (s % value.itemsize for s, n in zip(value.strides, value.shape, strict=True) if n > 1)
    return f"has strides {value.strides}, not multiples of {value.itemsize} bytes" if arg.strides and any(odd) else ""


def _is_ordered(value: np.ndarray[Any, Any], axes: tuple[int, ...]) -> bool:
    """Return whether the strides of these axes are in this order, equal ones in C order; not of arrays in Fortran
    order.
    """
    places = [(-abs(value.strides[axis]), axis) for axis in axes]
    fortran = value.flags.f_contiguous and not value.flags.c_contiguous
    return places == sorted(places) and not fortran and all(value.strides[axis] for axis in axes)


def is_packed(value: np.ndarray[Any, Any], order: str) -> bool:
    """Contiguous in C or Fortran order, as NumPy's flags say."""
    return bool(value.flags.c_contiguous if order == "C" else value.flags.f_contiguous)
