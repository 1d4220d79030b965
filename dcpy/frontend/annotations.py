"""Type annotations: ``dcpy.float64[N, M]``, ``dcpy.int32``, ``dcpy.symbol("N")``, ``N + 1``.

The objects also work in plain Python: ``dcpy.float32(x)`` converts, ``dtype=dcpy.float64`` is a dtype. Annotations may
be strings (``from __future__ import annotations``): these are read as trees, never evaluated.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from types import FunctionType
from typing import Any

import numpy as np

from dcpy.base.assumptions import NOTHING, Assumption
from dcpy.base.errors import FrontendError
from dcpy.base.source import SrcSpan
from dcpy.frontend.dataflow.storage_and_schedules import require_host
from dcpy.frontend.introspection.closure import Closure
from dcpy.frontend.specialize.argument_types import ArgType, ArrayType, Assumed, ConstantType, GeneratorType, ScalarType
from dcpy.frontend.specialize.record_arguments import MAX_DEPTH, Record, RecordMember, fields_of_class, is_named_tuple
from dcpy.ir import types
from dcpy.ir.symbolic import Expr, as_expr, sym
from dcpy.ir.types import DType

_ANONYMOUS = itertools.count()
#: what SymPy calls assumptions, and what they say of values
_PROMISES = {
    "integer": Assumption(),
    "positive": Assumption(least=1),
    "nonnegative": Assumption(least=0),
    "negative": Assumption(most=-1),
    "nonpositive": Assumption(most=0),
}
_PYTHON = {int: types.int64, float: types.float64, complex: types.complex128}


@dataclass(frozen=True, slots=True)
class Symbol:
    """A size, or an integer expression of sizes: supports ``+ - * // %`` with integers and other symbols.

    `assumed` has what is assumed of the symbols in it, by name.
    """

    expr: Expr
    assumed: Assumed = ()

    def __add__(self, other: Any) -> Symbol:
        return self._with(other, self.expr + _operand(other))

    def __sub__(self, other: Any) -> Symbol:
        return self._with(other, self.expr - _operand(other))

    def __mul__(self, other: Any) -> Symbol:
        return self._with(other, self.expr * _operand(other))

    def __floordiv__(self, other: Any) -> Symbol:
        return self._with(other, self.expr // _operand(other))

    def __mod__(self, other: Any) -> Symbol:
        return self._with(other, self.expr % _operand(other))

    def __pow__(self, power: int) -> Symbol:
        return Symbol(self.expr**power, self.assumed)

    def __radd__(self, other: Any) -> Symbol:
        return Symbol(_operand(other) + self.expr, self.assumed)

    def __rsub__(self, other: Any) -> Symbol:
        return Symbol(_operand(other) - self.expr, self.assumed)

    def __rmul__(self, other: Any) -> Symbol:
        return Symbol(_operand(other) * self.expr, self.assumed)

    def _with(self, other: Any, expr: Expr) -> Symbol:
        return Symbol(expr, assumed_together(self.assumed, other.assumed if isinstance(other, Symbol) else ()))

    def __str__(self) -> str:
        return str(self.expr)

    def __repr__(self) -> str:
        return f"dcpy.symbol({str(self.expr)!r})"


def symbol(
    name: str = "",
    dtype: Any = None,
    *,
    range: tuple[int | None, int | None] = (None, None),
    multiple_of: int = 1,
    typical: int | None = None,
    **promises: bool,
) -> Symbol:
    """A size that a program does not know: ``N = dcpy.symbol("N")``; without a name, one of its own.

    Symbols are exact integers whatever their `dtype` (an integer's). What is assumed of one makes better code, and
    calls that break it are refused: that its value is in ``range=(1, 4096)``, both ends included, None for no end; that
    it is a ``multiple_of=8``; ``positive=True`` and the other words of SymPy. The `typical` value is a hint: what pays
    is decided for it.
    """
    assumed = _assumption(range, multiple_of, typical, promises)
    if problem := assumed.problem():
        raise FrontendError(f"the assumptions about the symbol {name!r} cannot hold: {problem}")
    if dtype is not None and not np.issubdtype(np.dtype(dtype), np.integer):
        raise FrontendError("symbols are integers", help="pass a number as an argument: `x: dcpy.float64`")
    name = name or f"n_{next(_ANONYMOUS)}"
    if not name.isidentifier():
        raise FrontendError(f"{name!r} is no name for a symbol", help="use a Python identifier")
    return Symbol(sym(name), ((name, assumed),) if assumed != NOTHING else ())


def symbols(names: str, dtype: Any = None, **assumed: Any) -> tuple[Symbol, ...]:
    """Several symbols: ``N, M = dcpy.symbols("N M")`` (names separated by spaces or commas), each as `symbol` says."""
    return tuple(symbol(name, dtype, **assumed) for name in names.replace(",", " ").split())


def _assumption(
    values: tuple[int | None, int | None], multiple_of: int, typical: int | None, promises: Mapping[str, bool]
) -> Assumption:
    """Return the assumption that the keywords of `symbol` make; `FrontendError` for unknown or invalid ones."""
    if unknown := [promise for promise in promises if promise not in _PROMISES]:
        known = ", ".join(("range", "multiple_of", "typical", *_PROMISES))
        raise FrontendError(f"symbols take no {unknown[0]}=", help=f"they take {known}")
    if not isinstance(values, tuple | list) or len(values) != 2:
        message = f"the range of a symbol is {values!r}, which are no two ends"
        raise FrontendError(message, help="pass both: range=(1, 4096), or range=(1, None)")
    least, most = values
    for number in (least, most, multiple_of, typical):
        if number is not None and (isinstance(number, bool) or not isinstance(number, int | np.integer)):
            raise FrontendError(f"assumptions about a symbol are integers, not {number!r}")
    given = [None if number is None else int(number) for number in (least, most, typical)]
    found = Assumption(given[0], given[1], int(multiple_of), given[2])
    for promise, holds in promises.items():
        found = found.and_also(_PROMISES[promise]) if holds else found
    return found


def assumed_together(*parts: Assumed) -> Assumed:
    """Return the conjunction of several assumptions about symbols."""
    found: dict[str, Assumption] = {}
    for name, assumed in itertools.chain(*parts):
        found[name] = found.get(name, NOTHING).and_also(assumed)
    return tuple(found.items())


@dataclass(frozen=True, slots=True, eq=False)
class ScalarAnnotation:
    """``dcpy.float64``: the type of a scalar argument; with sizes in brackets, of an array.

    It equals the dtype of the IR that it stands for: ``sdfg.symbols["N"] == dcpy.int64``.
    """

    element: DType

    def __eq__(self, other: object) -> bool:
        found = other.element if isinstance(other, ScalarAnnotation) else other
        return self.element == found if isinstance(found, DType) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.element)

    def __getitem__(self, dims: Any) -> ArrayAnnotation:
        parts = dims if isinstance(dims, tuple) else (dims,)
        assumed = assumed_together(*(part.assumed for part in parts if isinstance(part, Symbol)))
        return ArrayAnnotation(self.element, tuple(_operand(part) for part in parts), assumed)

    def __matmul__(self, storage: Any) -> ScalarAnnotation:
        """``dcpy.float64 @ dcpy.StorageType.X``: the caller's memory is where it is; devices' are refused."""
        require_host(storage)
        return self

    def __call__(self, value: Any = 0) -> Any:
        """A NumPy scalar of this type."""
        return self.element.numpy.type(value)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype; ``np.dtype(dcpy.float64)`` finds it here."""
        return self.element.numpy

    def __repr__(self) -> str:
        return f"dcpy.{self.element.numpy_name}"


@dataclass(frozen=True, slots=True)
class ArrayAnnotation:
    """``dcpy.float64[N, M]``: the type of an array argument."""

    element: DType
    dims: tuple[Expr, ...]
    assumed: Assumed = ()
    on: Any = None  #: where it is, of an array that is dealt out to ranks: what `dcpy.on` makes

    def __matmul__(self, storage: Any) -> ArrayAnnotation:
        """``dcpy.float64[N] @ dcpy.StorageType.X``: the caller's memory is where it is; devices' are refused.

        ``dcpy.float64[N] @ dcpy.on(grid, "block")``: of a distributed program, which part of it each rank has.
        """
        if hasattr(storage, "grid") and hasattr(storage, "axes"):
            return replace(self, on=storage)
        require_host(storage)
        return self

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of an element."""
        return self.element.numpy

    @property
    def shape(self) -> tuple[Symbol, ...]:
        """The sizes."""
        known = [tuple(part for part in self.assumed if part[0] in dim.symbols) for dim in self.dims]
        return tuple(map(Symbol, self.dims, known))

    def __repr__(self) -> str:
        return f"dcpy.{self.element.numpy_name}[{', '.join(map(str, self.dims))}]"


class CompileTime:
    """``n: dcpy.compiletime``: an argument whose value is part of the program, which is compiled for each."""

    def __repr__(self) -> str:
        return "dcpy.compiletime"


compiletime = CompileTime()  # the name that users type, as dcpy.compiletime

#: ``dcpy.float64`` and the others, by the name that users type.
ANNOTATIONS: dict[str, ScalarAnnotation] = {
    dtype.numpy_name: ScalarAnnotation(dtype) for dtype in types.DTYPES if dtype is not types.bool_
} | {"bool_": ScalarAnnotation(types.bool_)}


def types_from_annotations(function: Callable[..., Any]) -> dict[str, ArgType]:
    """The types of the annotated parameters; those without an annotation (or with another's) are left out.

    Of a dataclass or named tuple, those of its annotated fields, by path: ``p.x``.
    """
    return parts_from_annotations(function)[0]


def parts_from_annotations(
    function: Callable[..., Any], owner: type | None = None
) -> tuple[dict[str, ArgType], dict[str, Record]]:
    """The same, with the records that hold the parts. `owner`: the class of which the function is a method."""
    found: dict[str, ArgType] = {}
    records: dict[str, Record] = {}
    closure = Closure(function, {})
    for position, (name, parameter) in enumerate(inspect.signature(function).parameters.items()):
        annotation = parameter.annotation
        if annotation is inspect.Parameter.empty:
            if position or owner is None:
                continue
            annotation = owner
        if isinstance(annotation, str):
            annotation = _read(annotation, closure, function, name)
        _add(found, records, name, annotation)
    _require_wide_sizes(found, function)
    return found, records


def _require_wide_sizes(found: Mapping[str, ArgType], function: Callable[..., Any]) -> None:
    """Refuse a parameter that is the size of an array, and has another type than sizes have."""
    arrays = {name: kind for name, kind in found.items() if isinstance(kind, ArrayType)}
    for name, kind in found.items():
        if not isinstance(kind, ScalarType) or kind.dtype == types.int64:
            continue
        for array, other in arrays.items():
            if any(name in dim.symbols for dim in other.dims):
                code = function.__code__
                raise FrontendError(
                    f"the parameter {name!r} is a size of {array!r}, and declared as {kind.dtype.numpy_name}",
                    span=SrcSpan(code.co_filename, code.co_firstlineno),
                    help=f"sizes have 64 bits: declare {name}: dcpy.int64, or name the size otherwise",
                )


def _add(found: dict[str, ArgType], records: dict[str, Record], path: str, annotation: Any, depth: int = 0) -> None:
    annotation = getattr(annotation, "record_class", annotation)  # of a dcpy.data.Structure
    if isinstance(annotation, type) and depth < MAX_DEPTH and (is_dataclass(annotation) or is_named_tuple(annotation)):
        steps = fields_of_class(annotation)
        is_tuple = issubclass(annotation, tuple)
        members = tuple(RecordMember(k if is_tuple else name, f"{path}.{name}") for k, name in enumerate(steps))
        records[path] = Record(path, annotation, members, length=len(members) if is_tuple else -1)
        for member, inner in zip(members, steps.values(), strict=True):
            _add(found, records, member.path, _of_field(annotation, inner), depth + 1)
        return
    arg_type = as_type(annotation)
    if arg_type is not None:
        found[path] = arg_type


def _of_field(cls: type, annotation: Any) -> Any:
    """The annotation of a field; where it is a text, it is read with the names of the module of the class."""
    if not isinstance(annotation, str):
        return annotation

    def names() -> None:
        """Stand for the module: only the types of its names are used."""

    module = sys.modules.get(cls.__module__)
    inside = FunctionType(names.__code__, vars(module) if module is not None else {})
    return _read(annotation, Closure(inside, {}), inside, f"a field of {cls.__name__}")


def placements_from_annotations(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the distributions of arrays in annotations, by parameter."""
    closure, found = Closure(function, {}), {}
    for name, parameter in inspect.signature(function).parameters.items():
        kind = parameter.annotation
        kind = _read(kind, closure, function, name) if isinstance(kind, str) else kind
        if isinstance(kind, ArrayAnnotation) and kind.on is not None:
            found[name] = kind.on
    return found


def return_annotation(function: Callable[..., Any]) -> Any:
    """The annotation of the result, textual ones read; `inspect.Signature.empty` where there is none."""
    annotation = inspect.signature(function).return_annotation
    return _read(annotation, Closure(function, {}), function, "return") if isinstance(annotation, str) else annotation


def annotation_of_parameter(function: Callable[..., Any], name: str) -> Any:
    """The annotation of a parameter, a textual one read; `inspect.Parameter.empty` where there is none."""
    annotation = inspect.signature(function).parameters[name].annotation
    return _read(annotation, Closure(function, {}), function, name) if isinstance(annotation, str) else annotation


def as_type(annotation: Any) -> ArgType | None:
    """The argument type of an annotation object; None for annotations that are not dcpy's."""
    match annotation:
        case ArrayAnnotation(element=element, dims=dims, assumed=assumed):
            return ArrayType(element, dims, assumed=assumed)
        case ScalarAnnotation(element=element):
            return ScalarType(element, converts=True)
        case CompileTime():
            return ConstantType(compiletime)
        case type() if annotation in _PYTHON:
            return ScalarType(_PYTHON[annotation], weak=True)
        case type() if annotation.__module__.startswith("numpy.random") and annotation.__name__ == "Generator":
            return GeneratorType()
        case type() if issubclass(annotation, np.generic):
            try:
                return ScalarType(types.from_numpy(annotation), converts=True)
            except (KeyError, TypeError):
                return None
    return None


def annotated(function: Callable[..., Any], kinds: Sequence[Any]) -> Callable[..., Any]:
    """The function with types for its parameters, in order, as annotations; returns the function itself."""
    names = list(inspect.signature(function).parameters)
    if len(kinds) > len(names):
        message = f"{len(kinds)} types are given for the {len(names)} parameters of {function.__name__}"
        raise FrontendError(message, span=SrcSpan(function.__code__.co_filename, function.__code__.co_firstlineno))
    function.__annotations__ |= dict(zip(names, kinds, strict=False))
    return function


def _operand(value: Any) -> Expr:
    if isinstance(value, Symbol):
        return value.expr
    if isinstance(value, int | np.integer):
        return as_expr(int(value))
    raise FrontendError(f"{value!r} is not a size", help="use an integer or dcpy.symbol(...)")


class _Unreadable(Exception):
    """Part of an annotation that is no arithmetic on symbols."""


def _read(text: str, closure: Closure, function: Callable[..., Any], name: str) -> Any:
    """The object that a textual annotation stands for; None where it is something else than dcpy's."""
    try:
        return _evaluate(ast.parse(text, mode="eval").body, closure)
    except (_Unreadable, SyntaxError):
        if "dcpy." not in text:
            return None
        code = function.__code__
        raise FrontendError(
            f"the annotation {text!r} of {name!r} cannot be read",
            span=SrcSpan(code.co_filename, code.co_firstlineno),
            help="write dcpy.float64[N, M] with symbols that are visible in the module",
        ) from None


def annotations_from_text(text: str) -> tuple[Any, ...]:
    """The annotations that a text lists, ``float64[N, M], int64``; names that are no dtypes are symbols.

    Raises `FrontendError`.
    """
    try:
        tree = ast.parse(f"({text},)", mode="eval").body
        names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
        known = {name: ANNOTATIONS.get(name) or symbol(name) for name in names}
        found = _evaluate(tree, Closure(FunctionType(symbols.__code__, known), {}))
    except (_Unreadable, SyntaxError, TypeError):
        found = (None,)
    if any(as_type(each) is None for each in found):
        raise FrontendError(f"{text!r} is no list of types", help="write float64[N, M], float64, int64")
    return tuple(found)


def annotation_of(tree: ast.expr, closure: Closure) -> Any:
    """The object that an annotation inside a function stands for; None where it is none of dcpy's."""
    try:
        return _evaluate(tree, closure)
    except _Unreadable:
        return None


def _evaluate(node: ast.expr, closure: Closure) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            known, value = closure.lookup(name)
        case ast.Attribute(value=owner, attr=name):
            known, value = closure.attribute(_evaluate(owner, closure), name)
        case ast.Subscript(value=owner, slice=key):
            return _evaluate(owner, closure)[_evaluate(key, closure)]
        case ast.Tuple(elts=parts):
            return tuple(_evaluate(part, closure) for part in parts)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
            return _ARITHMETIC[type(op)](_evaluate(left, closure), _evaluate(right, closure))
        case _:
            raise _Unreadable
    if not known:
        raise _Unreadable
    return value


_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
    ast.Pow: lambda a, b: a**b,
    ast.MatMult: lambda a, b: a @ b,
}
