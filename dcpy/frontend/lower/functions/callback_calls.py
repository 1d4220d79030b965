"""Callback calls: Python functions that stay Python functions, as `Callback` nodes in program order.

All callbacks of a program read and write one scalar, `LoweringState.effect_token`: what is outside of the program. So
no pass drops one, moves it past another, or runs a loop around it in parallel. A function that calls back is evaluated
in its caller.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import BuiltinMethodType, MethodType
from typing import TYPE_CHECKING, Any

from dcpy.base.callback_sites import PYTHON, is_literal
from dcpy.base.errors import DcpyError, FrontendError
from dcpy.base.string_formatting import CHOSEN, REPEATED, TextTemplate
from dcpy.frontend.abstract_values.list_values import JoinedList, ListValue
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    DictValue,
    ObjectValue,
    RecordValue,
    Scalar,
    Static,
    SymInt,
    TextValue,
    TupleValue,
    Value,
    as_integer,
    is_weak,
    kind_of,
    scalar_expr,
)
from dcpy.frontend.annotations import annotation_of
from dcpy.frontend.callback_decorator import UNKNOWN, Callback, ConvertedFunction, LearnedCallback
from dcpy.frontend.lower.arithmetic.promotion import kind_matters, mixed_kinds
from dcpy.frontend.lower.arrays import stores
from dcpy.frontend.lower.lowering_signals import ResultUnknown
from dcpy.frontend.lower.name_binding import materialize
from dcpy.frontend.specialize.argument_types import ArrayType, ScalarType
from dcpy.frontend.specialize.record_arguments import ListMaker
from dcpy.ir import data, nodes, types
from dcpy.ir.expressions.scalar import Const, Load
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Tasklet
from dcpy.ir.region import State
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import Expr

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame


_SHOWN_AS = {types.int64: int, types.float64: float, types.complex128: complex}


class CallbackInMap(Exception):
    """A callback was met in a parallel map, whose iterations it orders: the map becomes a loop."""


def call_back(
    frame: Frame, callback: Callback, args: Sequence[Value], kwargs: Mapping[str, Value], *, unused: bool,
    because: DcpyError | None = None,
) -> Value:  # fmt: skip
    """Emit the call; its value has the declared type, and is None where the result is `unused`.

    `because`: why a function that is not declared as a callback is not compiled.
    """
    if frame.map_scopes():
        raise CallbackInMap
    materialize(frame)
    returned = callback.result_type()
    if returned is UNKNOWN:
        returned = _declared(frame, callback)
        if isinstance(returned, ScalarType) and not returned.weak:
            callback = Callback(ConvertedFunction(callback.function, returned.dtype.numpy_name), writes=callback.writes)
    if returned is UNKNOWN and not unused and callback.learned() is not UNKNOWN:
        returned = callback.learned()
        callback = Callback(LearnedCallback(callback.function, returned, callback.first), writes=callback.writes)
    if returned is UNKNOWN and not unused:
        raise (ResultUnknown if callback.infers_types and not callback.first else FrontendError)(
            f"the type of the result of {callback.__name__}() is not known",
            notes=(_why_unknown(callback),) if because is None
            else (f"dcpy does not compile it: {because.message} ({because.span})",),
            help=f"declare it: @dcpy.callback(returns=dcpy.float64[N]), `def {callback.__name__}(...) -> float`, or "
            "`x: dcpy.float64 = ...` where it is called; or call the program: its first call runs in Python, and shows "
            "the type",
        ) from because  # fmt: skip
    operands = _CallConnectors(frame, callback)
    values = [*args, *kwargs.values()]
    names = callback.bound_names(len(args), tuple(kwargs))
    for value in values:
        require_one_kind(value, f"{callback.__name__}()", as_text=callback.function is print)
    texts = [operands.argument(value, name) for value, name in zip(values, names, strict=True)]
    texts[len(args) :] = [f"{key}={text}" for key, text in zip(kwargs, texts[len(args) :], strict=True)]
    sizes = _sizes(frame, callback, dict(zip(names, values, strict=True)))
    returns, result = ("", Static(None)) if returned is UNKNOWN else operands.result(returned, sizes)
    operands.order_effects()
    node = nodes.Callback(
        operands.inputs, operands.outputs, operands.bind(callback.name, callback.function), ", ".join(texts), returns
    )
    frame.emit.node(node)
    return result


def _why_unknown(callback: Callback) -> str:
    return f"its first call has returned {callback.first}" if callback.first else (
        "it is a Python function, which the program calls as it is")  # fmt: skip


def _declared(frame: Frame, callback: Callback) -> Any:
    """The type that the call's assignment declares: ``x: dcpy.float64 = f(a)``."""
    declared, place = frame.program.declared_type, frame.emit.place
    if declared is None or place is None or place[1] is not declared[0]:
        return UNKNOWN
    found = annotation_of(declared[1], place[0].closure)
    return UNKNOWN if found is None else callback.read(found)


def require_one_kind(value: Value, reader: str, *, as_text: bool = False) -> None:
    """Refuse a number that is Python's own on one path and NumPy's on another, where Python code sees which it is.

    As a text (without ``!r``), a float and an `np.float64` are the same, and so are an int and an `np.int64`.
    """
    match value:
        case Scalar(other_kinds=kinds, dtype=dtype) if kinds and not (as_text and set(kinds) == {_SHOWN_AS.get(dtype)}):
            converted = " or ".join(f"{kind}(...)" for kind in mixed_kinds(value)[-2:])
            raise kind_matters(
                value, f"{reader} gets a number whose kind depends on the path taken", f"pass {converted} of it"
            )
        case TextValue(parts=parts):
            for part in parts:
                if not isinstance(part, str):
                    require_one_kind(part[0], reader, as_text=part[1] not in map(ord, "ra"))
        case TupleValue(items=items):
            for item in items:
                require_one_kind(item, reader)
        case DictValue(items=pairs):
            for _, item in pairs:
                require_one_kind(item, reader)


def start_effect_token(sdfg: Sdfg, token: str) -> None:
    """Give the scalar that orders callbacks, if there is one, its first value."""
    if token:
        tasklet = Tasklet({}, {"out": Memlet(token, Subset())}, (("out", Const(0, types.int64)),))
        sdfg.body.insert(0, State(nodes=[tasklet]))


def holds_callback(sdfg: Sdfg) -> bool:
    """Return whether anything in an SDFG calls back."""
    return any(isinstance(node, nodes.Callback) for node in sdfg.body.walk_nodes())


@dataclass
class _CallConnectors:
    """The connectors of a call that is being written."""

    frame: Frame
    callback: Callback
    inputs: dict[str, Memlet] = field(default_factory=dict)
    outputs: dict[str, Memlet] = field(default_factory=dict)

    def argument(self, value: Value, parameter: str) -> str:  # noqa: C901  (one case per kind)
        """Return the spelling of an argument in the call."""
        match value:
            case Static(value=known) if is_literal(known):
                return repr(known)
            case Static(value=known):
                return self.bind("object", known)
            case TupleValue(items=items, is_list=is_list, cls=None):
                parts = ", ".join(self.argument(item, parameter) for item in items)
                return f"[{parts}]" if is_list else f"({parts}{',' * (len(items) == 1)})"
            case TupleValue(items=items, cls=cls) if cls is not None:
                return f"{self.bind(cls.__name__, cls)}({', '.join(self.argument(item, parameter) for item in items)})"
            case DictValue(items=pairs) if all(is_literal(key) for key, _ in pairs):
                return f"{{{', '.join(f'{key!r}: {self.argument(item, parameter)}' for key, item in pairs)}}}"
            case TextValue(parts=parts):
                return ast.unparse(ast.JoinedStr([self._text(part, parameter) for part in parts]))
            case JoinedList(separator=separator, items=items):
                return self._made(items, separator, parameter)
            case ListValue() if self.callback.writes == ():
                return self._made(value, None, parameter)
            case ArrayValue():
                return self._array(value, parameter)
            case SymInt() | Scalar():
                name = self._fresh(parameter)
                self.inputs[name] = self._element(value)
                return f"{PYTHON}({name})" if is_weak(value) else name
        raise FrontendError(
            f"{kind_of(value)} cannot be passed to the callback {self.callback.__name__}()",
            help="pass arrays, numbers, strings, and tuples, lists or dictionaries of them"
            + " (of an object, its fields)" * isinstance(value, ObjectValue | RecordValue),
        )

    def result(self, declared: Any, sizes: Mapping[str, Expr]) -> tuple[str, Value]:
        """Return the spelling of the results, and their values in the program."""
        b = self.frame.b
        if declared is None:
            return "None", Static(None)
        if isinstance(declared, tuple):
            parts = [self.result(part, sizes) for part in declared]
            text = ", ".join(part for part, _ in parts)
            return f"({text}{',' * (len(parts) == 1)})", TupleValue(tuple(value for _, value in parts))
        name = self._fresh("result")
        if isinstance(declared, ArrayType):
            shape = [b.exact(self._size(dim, sizes)) for dim in declared.dims]
            out = b.empty(shape, declared.dtype)
            self.outputs[name] = b.operand(out)
            return name, out
        assert isinstance(declared, ScalarType)
        holder, scalar = b.scalar_container(declared.dtype)
        self.outputs[name] = Memlet(holder.container, Subset())
        return (f"{PYTHON}({name})" if declared.weak else name), Scalar(scalar.expr, declared.weak)

    def order_effects(self) -> None:
        """Order this callback after those before it."""
        emit, program = self.frame.emit, self.frame.program
        if not program.effect_token:
            program.effect_token = emit.declare(
                "python_world", data.Scalar(types.int64, transient=True), emit.sdfg.body
            )
            emit.on_undo(lambda: setattr(program, "effect_token", ""))
        self.inputs["world"] = self.outputs["world"] = Memlet(program.effect_token, Subset())

    def bind(self, name: str, found: Any) -> str:
        """The name of a Python object in the table of the SDFG: `name`, with a number where that is another one."""
        table, taken = self.frame.emit.sdfg.callbacks, {*self.inputs, *self.outputs, PYTHON}
        spelled, count = name, 1
        while spelled in taken or (spelled in table and not _is_same(table[spelled], found)):
            count += 1
            spelled = f"{name}_{count}"
        table[spelled] = found
        return spelled

    def _text(self, part: str | tuple[Value, int, str], parameter: str) -> ast.expr:
        """A part of an f-string."""
        if isinstance(part, str):
            return ast.Constant(part)
        value, conversion, spec = part
        if conversion in (CHOSEN, REPEATED):
            assert isinstance(value, SymInt | Scalar)
            name, maker = self._fresh(parameter), self.bind("made", TextTemplate(((conversion, spec),)))
            self.inputs[name] = self._element(value)
            return ast.FormattedValue(ast.Call(ast.Name(maker), [ast.Name(name)], []), -1, None)
        shown = ast.parse(self.argument(value, parameter), mode="eval").body
        return ast.FormattedValue(shown, conversion, ast.JoinedStr([ast.Constant(spec)]) if spec else None)

    def _made(self, items: ListValue, separator: str | None, parameter: str) -> str:
        """A list that Python makes of the array that it is here, and does not change."""
        maker = self.bind("made", ListMaker(items.levels, items.weak, separator))
        return f"{maker}({self._array(items.array, parameter)})"

    def _array(self, value: ArrayValue, parameter: str) -> str:
        b, name = self.frame.b, self._fresh(parameter)
        self.inputs[name] = b.operand(value)
        writes = self.callback.writes
        if (writes is None or parameter in writes) and stores.is_writable(b, value):
            self.outputs[name] = self.inputs[name]
        return name

    def _element(self, value: SymInt | Scalar) -> Memlet:
        held = self.frame.b.keep(Scalar(scalar_expr(value), is_weak(value)))
        assert isinstance(held.expr, Load)
        return Memlet(held.expr.container, Subset(held.expr.indices))

    def _fresh(self, stem: str) -> str:
        taken = {*self.inputs, *self.outputs, *self.frame.emit.sdfg.callbacks, "world", PYTHON, "f"}
        stem, count = stem or "argument", 0
        name = stem
        while name in taken:
            count += 1
            name = f"{stem}_{count}"
        return name

    def _size(self, dim: Expr, sizes: Mapping[str, Expr]) -> Expr:
        known = self.frame.emit.sdfg.symbols
        for symbol in dim.symbols:
            if symbol not in sizes and symbol not in known:
                raise FrontendError(
                    f"the size {symbol!r} of the result of {self.callback.__name__}() is not known here",
                    notes=("neither an argument of the callback nor one of the program determines it",),
                    help=f"annotate an array parameter with it: `x: dcpy.float64[{symbol}]`",
                )
        return dim.subs({name: size for name, size in sizes.items() if name in dim.symbols})


def _is_same(known: Any, found: Any) -> bool:
    """Return whether two objects are one; Python makes a new object each time that a method is looked up."""
    made_anew = MethodType | BuiltinMethodType | ConvertedFunction | LearnedCallback
    return known is found or (isinstance(found, made_anew) and known == found)


def _sizes(frame: Frame, callback: Callback, bound: Mapping[str, Value]) -> dict[str, Expr]:
    """Return the values of symbols in the types of results: integer parameters, and sizes of annotated arrays."""
    sizes = {name: size for name, value in bound.items() if (size := as_integer(value)) is not None}
    for name, kind in callback.argument_types().items():
        value = bound.get(name)
        if not isinstance(kind, ArrayType) or value is None:
            continue
        if not isinstance(value, ArrayValue) or value.rank != len(kind.dims) or value.dtype != kind.dtype:
            raise FrontendError(
                f"{kind_of(value)} is passed for {name!r} of the callback {callback.__name__}()",
                notes=(f"it is annotated as {kind.dtype.numpy_name}[{', '.join(map(str, kind.dims))}]",),
                help="convert it first (`x.astype(...)`), or change the annotation",
            )
        for dim, size in zip(kind.dims, value.shape, strict=True):
            if dim.name is None or dim.name in sizes:
                message = f"{callback.__name__}() takes {name!r} with a size of {dim}: {{0}}"
                frame.b.same_size(dim.subs(sizes), size, message, (size,))
            else:
                sizes[dim.name] = size
    return sizes
