"""Scalar expressions: every part has the dtype that NumPy gives it, and stands where it may."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dcpy.base.errors import UnknownName
from dcpy.ir import types
from dcpy.ir.data import Stream
from dcpy.ir.expressions.ops import op_info
from dcpy.ir.expressions.scalar import Cast, Const, Index, Load, Op, Ref, WrapIndex, children, depth_of, walk
from dcpy.ir.files.limits import DEEPEST_EXPRESSION
from dcpy.ir.nodes import Tasklet
from dcpy.ir.region import SymbolAssign
from dcpy.ir.types import DType
from dcpy.ir.verify.rule import Findings, rule
from dcpy.ir.verify.subjects import ExprUse, Scope


@rule("expr.operations", ExprUse)
def operations_have_numpys_dtypes(use: ExprUse, scope: Scope) -> Findings:
    """The arguments of an operation have one dtype, and its value the dtype that NumPy gives it."""
    for part in walk(use.expr):
        if isinstance(part, Op):
            problem = _operation_problem(part.name, tuple(arg.dtype for arg in part.args), part.dtype)
            if problem:
                yield f"{use.where}: {problem}"


@lru_cache(maxsize=4096)
def _operation_problem(name: str, args: tuple[DType, ...], dtype: DType) -> str:
    try:
        info = op_info(name)
    except UnknownName as error:
        return error.message
    if len(args) != info.arity:
        return f"{name!r} has {len(args)} arguments, not {info.arity}"
    given = ", ".join(map(str, args))
    same = args[1:] if name == "select" else args
    if len(set(same)) > 1 or (name == "select" and args[0] != types.bool_):
        return f"{name!r} of {given}: dtypes differ, and nothing is converted by itself"
    expected = _numpys_dtype(name, args)
    if expected is None:
        return f"NumPy has no {name!r} of {given}"
    if expected != dtype.numpy:
        return f"{name!r} of {given} is {types.from_numpy(expected)} in NumPy, not {dtype}"
    return ""


def _numpys_dtype(name: str, args: tuple[DType, ...]) -> np.dtype | None:
    """The dtype of NumPy's value; None where its function does not take such arguments."""
    function = op_info(name).numpy()
    if isinstance(function, np.ufunc):
        try:
            return function.resolve_dtypes((*(arg.numpy for arg in args), None))[-1]
        except TypeError:
            return None
    values = [np.zeros((), arg.numpy) for arg in args]
    return np.asarray(function(*values)).dtype


@rule("expr.depth", ExprUse)
def expressions_are_not_too_deep(use: ExprUse, scope: Scope) -> Findings:
    """The operations of an expression are nested at most a hundred deep."""
    if depth_of(use.expr) > DEEPEST_EXPRESSION:
        yield f"{use.where} nests operations more than {DEEPEST_EXPRESSION} deep", "compute it in steps"


@rule("expr.constants", ExprUse)
def constants_fit_their_dtype(use: ExprUse, scope: Scope) -> Findings:
    """A constant is a number that its dtype has."""
    for part in walk(use.expr):
        if isinstance(part, Const) and not _holds(part.dtype, part.value):
            yield f"{use.where}: {part.value!r} is no {part.dtype}"


def _holds(dtype: DType, value: object) -> bool:
    match dtype.kind:
        case "b":
            return isinstance(value, bool)
        case "i" | "u":
            limits = np.iinfo(dtype.numpy)
            return isinstance(value, int) and not isinstance(value, bool) and limits.min <= value <= limits.max
        case "f":
            return isinstance(value, int | float) and not isinstance(value, bool) and _is_in_range(value)
        case _:
            return isinstance(value, int | float | complex) and not isinstance(value, bool) and _is_in_range(value)


def _is_in_range(value: complex) -> bool:
    """Return whether a number is a float, too: Python's integers have no limits."""
    return not isinstance(value, int) or value.bit_length() <= 1000


@rule("expr.connectors", ExprUse)
def connectors_are_there(use: ExprUse, scope: Scope) -> Findings:
    """An expression of a node uses its inputs and earlier values, by their dtypes; others use no connectors."""
    for part in walk(use.expr):
        if not isinstance(part, Ref):
            continue
        if use.refs is None:
            yield f"{use.where} uses the connector {part.name!r}, but is in no node"
        elif part.name not in use.refs:
            yield f"{use.where} uses {part.name!r}, which is no input and no earlier value"
        elif use.refs[part.name] != part.dtype:
            yield f"{use.where} uses {part.name!r} as {part.dtype}, but it is {use.refs[part.name]}"


@rule("expr.loads", ExprUse)
def loads_name_elements(use: ExprUse, scope: Scope) -> Findings:
    """Conditions, checks and values of symbols read single elements of visible containers; tasklets use memlets."""
    for part in walk(use.expr):
        if not isinstance(part, Load):
            continue
        desc = scope.desc(part.container)
        if use.refs is not None:
            yield f"{use.where} reads {part.container!r} without a memlet"
        elif desc is None:
            yield f"{use.where} reads {part.container!r}, which is not visible there"
        elif isinstance(desc, Stream):
            yield f"{use.where} reads the stream {part.container!r}", "pop an element first"
        elif len(part.indices) != len(desc.shape):
            yield f"{use.where} reads {part.container!r} with {len(part.indices)} indices for {len(desc.shape)}"
        elif part.dtype != desc.dtype:
            yield f"{use.where} reads {part.container!r} as {part.dtype}, but it is {desc.dtype}"


@rule("expr.indices", ExprUse)
def wrapped_indices_are_assigned(use: ExprUse, scope: Scope) -> Findings:
    """A wrapped index is the whole value of a symbol, and made of an integer."""
    for part in walk(use.expr):
        if not isinstance(part, WrapIndex):
            continue
        if part is not use.expr or not isinstance(use.place, SymbolAssign):
            yield f"{use.where} wraps an index inside of an expression", "assign it to a symbol"
        if not part.arg.dtype.is_integer:
            yield f"{use.where} wraps an index that is {part.arg.dtype}"


@rule("expr.symbols", ExprUse)
def symbolic_values_are_numbers(use: ExprUse, scope: Scope) -> Findings:
    """A symbolic expression is used as a number, not as a truth value; an expression is a tree of known parts."""
    for part in walk(use.expr):
        if isinstance(part, Index) and part.dtype.kind == "b":
            yield f"{use.where} uses {part.value} as a bool", "compare it with 0"
        if not isinstance(part, Const | Ref | Load | Index | Op | Cast | WrapIndex):
            yield f"{use.where} has a part that is no expression: {type(part).__name__} {children(part)}"


@rule("tasklet.outputs", Tasklet)
def outputs_are_assigned_once(node: Tasklet, scope: Scope) -> Findings:
    """The code of a tasklet assigns each output and each local value once, and no input."""
    assigned = [name for name, _ in node.code]
    for name in node.outputs:
        if name not in assigned:
            yield f"the output {name!r} is never assigned"
        if name in node.inputs:
            yield f"{name!r} is both an input and an output", "give the connectors different names"
    for name in dict.fromkeys(assigned):
        if assigned.count(name) > 1:
            yield f"{name!r} is assigned {assigned.count(name)} times"
        if name in node.inputs and name not in node.outputs:
            yield f"the input {name!r} is assigned"


@rule("tasklet.dtypes", Tasklet)
def outputs_have_the_dtype_of_their_container(node: Tasklet, scope: Scope) -> Findings:
    """The value of an output has the dtype of the container that it is written to."""
    values = dict(node.code)
    for name, memlet in node.outputs.items():
        desc, value = scope.desc(memlet.container), values.get(name)
        if desc is not None and value is not None and value.dtype != desc.dtype:
            yield f"{name!r} is {value.dtype}, but {memlet} is {desc.dtype}", "cast it"
