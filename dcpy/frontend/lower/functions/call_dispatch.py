"""Call dispatch: implemented functions, the user's own, methods, nested functions."""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import itertools
import sys
import types as python_types
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dcpy.base.errors import DcpyError, FrontendError
from dcpy.base.library_modules import is_installed, is_library
from dcpy.frontend.abstract_values.list_values import LazyGenerator, ListValue, YieldingValue
from dcpy.frontend.abstract_values.stream_values import StreamValue
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    BoundMethod,
    DictValue,
    FunctionValue,
    GeneratorValue,
    Method,
    ObjectValue,
    PartialValue,
    RecordValue,
    Scalar,
    Static,
    TextValue,
    TupleValue,
    Value,
    is_cheap,
    is_weak,
    kind_of,
)
from dcpy.frontend.annotations import ScalarAnnotation, types_from_annotations
from dcpy.frontend.callback_decorator import Callback
from dcpy.frontend.comm.mpi4py_names import refusal_of_mpi4py
from dcpy.frontend.dataflow import stream_operations
from dcpy.frontend.dataflow.sdfg_calls import call_sdfg
from dcpy.frontend.desugar.bound_and_free_names import parameter_names
from dcpy.frontend.desugar.early_returns import without_returns_in_loops
from dcpy.frontend.desugar.statements import desugar
from dcpy.frontend.implements import call_entry, close_names, find, find_member, find_method, full_name
from dcpy.frontend.introspection.closure import Closure
from dcpy.frontend.introspection.errstate_decorators import without_errstate
from dcpy.frontend.introspection.function_source import Source, read_source
from dcpy.frontend.lower.arithmetic.range_checks import stored
from dcpy.frontend.lower.arrays import dynamic_sizes
from dcpy.frontend.lower.frame import Frame
from dcpy.frontend.lower.functions import memoized_functions, nonlocals, recursion, text_methods
from dcpy.frontend.lower.functions.annotation_agreement import require_annotated
from dcpy.frontend.lower.functions.attribute_functions import call_attribute_function
from dcpy.frontend.lower.functions.call_chains import with_call_note
from dcpy.frontend.lower.functions.call_nodes import annotated_sizes
from dcpy.frontend.lower.functions.callback_calls import call_back
from dcpy.frontend.lower.functions.outlined_calls import call_node
from dcpy.frontend.lower.lowering_signals import WillRaise
from dcpy.frontend.lower.name_binding import bind_name, forget_global_array, from_python, materialize
from dcpy.frontend.lower.objects import constructors
from dcpy.frontend.lower.objects import dataclass_objects as objects
from dcpy.frontend.lower.objects import random_generators as generators
from dcpy.frontend.lower.objects import special_methods as special
from dcpy.frontend.lower.objects.legacy_random_generators import call_method_of_shared
from dcpy.frontend.lower.sequences import items as sequences
from dcpy.frontend.lower.sequences import iterator_uses, list_references
from dcpy.frontend.numpy.python_implementations import shown_at_the_call
from dcpy.frontend.numpy.unsupported_functions import OUTSIDE_OBJECT, refusal
from dcpy.frontend.python import itertools_functions
from dcpy.frontend.python.unsupported_functions import known_as, refusal_of_python
from dcpy.frontend.scipy.unsupported_functions import refusal_of_scipy
from dcpy.frontend.specialize.free_symbols import free_symbols
from dcpy.frontend.specialize.record_arguments import is_plain_class
from dcpy.ir import types
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.symbolic import Expr


def call(
    frame: Frame, function: Value, args: Sequence[Value], kwargs: Mapping[str, Value], *, unused: bool = False
) -> Value:
    """``function(*args, **kwargs)``. A result that is `unused` need not have a known type."""
    match function:
        case Method(owner=owner, name=name):
            return _method(frame, owner, name, args, kwargs)
        case PartialValue(function=inner, args=first, keywords=keywords):
            return call(frame, inner, [*first, *args], {**dict(keywords), **kwargs}, unused=unused)
        case BoundMethod(owner=TupleValue(cls=cls) as owner, function=found) if found is getattr(cls, "_replace", None):
            assert cls is not None
            parts = dict(zip(owner.names, owner.items, strict=True))
            return constructors.named_tuple(frame, cls, [], parts | dict(kwargs))
        case BoundMethod(owner=owner, function=found):
            refused = _refusal(frame, found, [owner, *args], kwargs) if isinstance(owner, Static) else None
            if refused is not None and isinstance(owner, Static):
                method = Callback(python_types.MethodType(found, owner.value))
                return call_back(frame, method, args, kwargs, unused=unused, because=refused)
            return _compiled(frame, found, [owner, *args], kwargs)
        case FunctionValue():
            return _nested(frame, function, args, kwargs)
        case Static(value=found):
            return _static(frame, found, args, kwargs, unused)
        case ObjectValue() | RecordValue():
            result = special.call(frame, function, "__call__", args, kwargs)
            if result is not None:
                return result
    raise FrontendError(
        f"{kind_of(function)} cannot be called",
        notes=("Python raises TypeError here",),
        help="leave the parentheses out, or index with brackets",
    )


def _method(frame: Frame, owner: Value, name: str, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
    if isinstance(owner, TupleValue | ListValue | DictValue | TextValue):
        found = frame.program.evaluator.call_list(frame, owner, name, args, kwargs)
        if found is not None:
            return found
    if isinstance(owner, StreamValue):
        return stream_operations.call_method(frame, owner, name, args, kwargs)
    if isinstance(owner, GeneratorValue):
        return generators.call_method(frame, owner, name, args, kwargs)
    entry = None if isinstance(owner, TupleValue | ListValue | DictValue) else find_method(name)
    if entry is None:
        kind = {TupleValue: "list", DictValue: "dictionary"}.get(type(owner), "")
        raise FrontendError(
            f".{name}() of {kind_of(owner)} is not supported",
            notes=(f"the length of a {kind} is known when the program is compiled",) if kind else (),
            help="make an array of known size, and fill it" if name in ("append", "extend", "insert") else "",
        )
    return call_entry(frame.b, entry, [owner, *args], kwargs)


def _static(frame: Frame, found: Any, args: Sequence[Value], kwargs: Mapping[str, Value], unused: bool) -> Value:
    if isinstance(found, Callback):
        return call_back(frame, found, args, kwargs, unused=unused)
    if isinstance(found, Sdfg):
        return call_sdfg(frame, found, args, kwargs)
    of_python = _of_python(frame, found, args, kwargs, unused)
    if of_python is not None:
        return of_python
    if (dtype := _dtype_of(found)) is not None and not kwargs and len(args) == 1:
        return _as_dtype(frame, args[0], dtype)
    own = call_attribute_function(frame, found, args) if not kwargs else None
    own = own or _of_items(frame, found, args, kwargs) or call_method_of_shared(frame, found, args, kwargs, unused)
    if own is not None:
        return own
    own = _implemented(frame, found, args, kwargs)
    if own is not None:
        return own
    if found is dataclasses.replace and len(args) == 1:
        return constructors.replaced(frame, args[0], kwargs)
    if isinstance(found, type) and (dataclasses.is_dataclass(found) or is_plain_class(found)):
        return constructors.construct(frame, found, args, kwargs)
    made = constructors.named_value(frame, found, args, kwargs)
    return _user_function(frame, found, args, kwargs, unused) if made is None else made


def _implemented(frame: Frame, found: Any, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value | None:
    """A function of the registry, or a method in it of an object that is a constant (a communicator of mpi4py's)."""
    entry = find(found)
    if entry is None:
        owner = getattr(found, "__self__", None)
        entry, args = find_member(owner, getattr(found, "__name__", "")), [Static(owner), *args]
    return None if entry is None else call_entry(frame.b, entry, _taken_at_once(frame, found, args), kwargs)


def _taken_at_once(frame: Frame, found: Any, args: Sequence[Value]) -> list[Value]:
    """The arguments, with the few items of a generator expression as a list where Python's function asks for all."""
    if found in (iter, len) or (getattr(found, "__module__", None) or "").startswith(("numpy", "scipy")):
        return list(args)
    evaluator, b = frame.program.evaluator, frame.b
    args = special.iterated_arguments(frame, found, args)
    return [
        evaluator.all_items(frame, arg) if isinstance(arg, LazyGenerator) and sequences.is_short(b, arg.first) else arg
        for arg in args
    ]


def _of_items(frame: Frame, found: Any, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value | None:
    """``abs(x)`` where the class of `x` says what that is; ``sum(...)`` of items whose number is not known."""
    own = special.builtin(frame, found, args) if not kwargs else None
    return frame.program.evaluator.reduce_items(frame, found, args, kwargs) if own is None else own


def _of_python(
    frame: Frame, found: Any, args: Sequence[Value], kwargs: Mapping[str, Value], unused: bool
) -> Value | None:
    """``print``, which Python does; methods of strings that are known; `functools.partial`."""
    if isinstance(getattr(found, "__self__", None), str):
        return text_methods.call(frame, found, args, kwargs)
    if found is print:
        return call_back(frame, Callback(print, returns=None, writes=()), args, kwargs, unused=unused)
    if found is functools.partial:
        return PartialValue(args[0], tuple(args[1:]), tuple(kwargs.items()))
    if isinstance(found, functools.partial):
        return call(frame, _known_partial(frame, found), args, kwargs)
    if isinstance(found, np.vectorize):
        given = {name: from_python(frame, getattr(found, name)) for name in ("otypes", "signature", "excluded")}
        made = call(frame, Static(np.vectorize), [from_python(frame, found.pyfunc)], given)
        return call(frame, made, args, kwargs)
    if found is itertools.product and "repeat" in kwargs:
        pools = [frame.program.evaluator.all_items(frame, value) for value in args]
        args, kwargs = pools * int(frame.b.static(kwargs["repeat"], "repeat")), {}
    stands_for = itertools_functions.written(found, len(args))
    if stands_for is None:
        return None
    if not inspect.isgeneratorfunction(stands_for):  # it asks for all items
        args = [frame.program.evaluator.all_items(frame, value) if isinstance(value, LazyGenerator) else value
                for value in args]  # fmt: skip
    return call(frame, Static(stands_for), args, kwargs, unused=unused)


def _as_dtype(frame: Frame, value: Value, dtype: types.DType) -> Value:
    """``np.float32(value)``: an array without dimensions gives its element."""
    if isinstance(value, TupleValue):
        value = frame.b.array(value)
    if isinstance(value, ArrayValue) and not value.shape:
        value = Scalar(value.load(()))
    return frame.b.cast(stored(frame.b, value, dtype) if is_weak(value) else value, dtype)


def _known_partial(frame: Frame, found: functools.partial[Any]) -> PartialValue:
    keywords = tuple((key, from_python(frame, value)) for key, value in found.keywords.items())
    return PartialValue(
        from_python(frame, found.func), tuple(from_python(frame, value) for value in found.args), keywords
    )


def _user_function(
    frame: Frame, found: Any, args: Sequence[Value], kwargs: Mapping[str, Value], unused: bool
) -> Value:
    """Compile a function that dcpy does not know from its source, or call it in Python where that is allowed."""
    allowed, function = frame.program.options.allow_callbacks, unwrap(found)
    if isinstance(found, python_types.MethodType) and dataclasses.is_dataclass(found.__self__):
        return _compiled(frame, unwrap(found.__func__), [from_python(frame, found.__self__), *args], kwargs)
    if refusal(function) is not None and function.__module__ == "dcpy.distributed":
        raise _unsupported(function)
    if isinstance(function, python_types.FunctionType) and not _is_numpy(function):
        if getattr(found, "uses_annotations", False):
            require_annotated(frame, function, args, kwargs)
        refused = _refusal(frame, function, args, kwargs)
        if refused is not None:
            return call_back(frame, Callback(function), args, kwargs, unused=unused, because=refused)
        if hasattr(found, "cache_info"):
            return memoized_functions.call_cached(frame, function, args, kwargs, call_python)
        return _compiled(frame, function, args, kwargs)
    of_constant = type(getattr(found, "__self__", None)) in (str, bytes, int, float, complex)  # ``"name".lower``
    if of_constant and all(isinstance(value, Static) for value in (*args, *kwargs.values())):
        keywords = {name: frame.b.static(value) for name, value in kwargs.items()}
        return from_python(frame, found(*map(frame.b.static, args), **keywords))
    called = inspect.getattr_static(type(found), "__call__", None)
    called = getattr(called, "__wrapped__", called)  # a program stands for its function
    if isinstance(called, python_types.FunctionType) and not _is_numpy(called):
        frame.closure.attribute(type(found), "__call__")
        return call(frame, BoundMethod(Static(found), called), args, kwargs, unused=unused)
    if allowed and callable(found):
        return call_back(frame, Callback(found), args, kwargs, unused=unused)
    generators.require_supported(found)
    raise _unsupported(found)


def _compiled(
    frame: Frame, function: python_types.FunctionType, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> Value:
    """A function of the user's, or of Python's library: what is refused inside of that is refused at the call."""
    try:
        with shown_at_the_call():
            return call_python(frame, function, args, kwargs)
    except WillRaise:
        raise
    except FrontendError as error:
        if (function.__module__ or "").split(".")[0] not in sys.stdlib_module_names and not _is_numpy(function):
            raise
        reason = f"it contains code that does not compile: {error.message} ({error.span})"
        raise _unsupported(function, reason) from error


def _unsupported(found: Any, reason: str = "") -> FrontendError:
    name = full_name(found)
    refused = refusal(found) or refusal_of_mpi4py(name) or refusal_of_scipy(name) or refusal_of_python(found)
    name = known_as(name)
    if refused is not None:
        return FrontendError(f"{name}() is not supported", notes=(refused.reason,), help=refused.help)
    if isinstance(found, type) and not (is_library(found.__module__) or is_installed(found.__module__)):
        return FrontendError(
            f"the class {found.__qualname__} cannot be instantiated in a program",
            notes=("Python code makes its objects, which is not compiled",),
            help="make it a dataclass (@dataclasses.dataclass), or use variables and tuples",
        )
    if isinstance(found, type):
        notes = ("compiled code has no objects of this class",)
        return FrontendError(f"{name}() is not supported", notes=notes, help=OUTSIDE_OBJECT)
    near = close_names(name)
    if name.startswith("scipy."):
        reason = reason or "docs/reference/scipy.md lists the functions of SciPy that compile"
    elif name.startswith("numpy."):
        reason = reason or "docs/reference/numpy.md lists the functions of NumPy that compile"
    notes = (reason or "dcpy does not implement it, and it has no Python source to compile",)
    return FrontendError(
        f"{name}() is not supported",
        notes=(*notes, f"did you mean {' or '.join(near)}?") if near else notes,
        help="compute it outside of the program, and pass the result as an argument, or let the program call it in "
        f"Python: `{name.rpartition('.')[2]} = dcpy.callback({name}, returns=...)`",
    )


def _refusal(
    frame: Frame, function: python_types.FunctionType, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> DcpyError | None:
    """Return why dcpy does not compile a user's function, where callbacks are allowed; None where it does."""
    program = frame.program
    if not program.options.allow_callbacks:
        return None
    pending = program.pending_operands
    operands = [list(values) for values in pending]
    read, arrays = len(program.dependences), len(program.extra_arguments)
    try:
        with frame.emit.dry_run():
            call_python(frame, function, args, kwargs)
    except DcpyError as error:
        if isinstance(error, WillRaise):
            return None
        for key in list(program.dependences)[read:]:  # what Python will read is no part of the program
            del program.dependences[key]
        for number in list(program.extra_arguments)[arrays:]:
            forget_global_array(frame, number)
        return error
    finally:
        for values, before in zip(pending, operands, strict=True):
            values[:] = before
    return None


def _dtype_of(found: Any) -> types.DType | None:
    if isinstance(found, ScalarAnnotation):
        return found.element
    if isinstance(found, type) and issubclass(found, np.generic):
        try:
            return types.from_numpy(found)
        except (KeyError, TypeError):
            return None
    return None


def unwrap(found: Any) -> Any:
    """The Python function under a decorator that keeps its meaning (``@dcpy.program``, `functools.lru_cache`).

    A function that a decorator wrote (`functools.wraps`) is what Python calls, and so stays.
    """
    found = without_errstate(found)
    while hasattr(found, "__wrapped__") and not isinstance(found, python_types.FunctionType):
        found = without_errstate(found.__wrapped__)
    return found.__func__ if isinstance(found, python_types.MethodType) and found.__self__ is None else found


def _is_numpy(function: python_types.FunctionType) -> bool:
    return (function.__module__ or "").split(".")[0] in ("numpy", "scipy")


def call_python(
    frame: Frame, function: python_types.FunctionType, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> Value:
    """A user's function: specialized for these arguments."""
    recursion.enter(frame.program, function.__name__, function, function.__code__)
    source = read_source(function)
    with with_call_note(frame, function.__name__, own=source.is_own):
        return _call_of_source(frame, function, source, args, kwargs)


def _call_of_source(
    frame: Frame,
    function: python_types.FunctionType,
    source: Source,
    args: Sequence[Value],
    kwargs: Mapping[str, Value],
) -> Value:
    program = frame.program
    define = program.callees.inline_bodies.get(function) or without_returns_in_loops(desugar(source))
    program.callees.inline_bodies[function] = define
    closure = Closure(function, program.dependences)
    inner = Frame(program, source, define, closure, frame.emit.region, inline=True, caller=frame)
    defaults = tuple(from_python(inner, value) for value in function.__defaults__ or ())
    named = {key: from_python(inner, value) for key, value in (function.__kwdefaults__ or {}).items()}
    given, kwargs = _symbols_given(frame, function, kwargs)
    bound = bind_arguments(function.__name__, define.args, defaults, named, args, kwargs)
    if define.generator is not None:
        return YieldingValue(define.generator, source, tuple(bound.items()), inner)
    program.callees.stack.append((function, function.__code__))
    try:
        emitted = None if given else call_node(frame, function, bound)
        if emitted is None:
            inner.sizes = _sizes(frame, function, bound, given)
        return _run(frame, inner, bound) if emitted is None else emitted
    finally:
        program.callees.stack.pop()


def _symbols_given(
    frame: Frame, function: python_types.FunctionType, kwargs: Mapping[str, Value]
) -> tuple[dict[str, Expr], dict[str, Value]]:
    """Symbols of a function that are given by keyword, ``f(a, N=5)``; the other keywords."""
    unknown = [name for name in kwargs if name not in inspect.signature(function).parameters]
    symbols = free_symbols(function) if unknown else ()
    given = {name: frame.b.integer(kwargs[name], f"the symbol {name}") for name in unknown if name in symbols}
    return given, {name: value for name, value in kwargs.items() if name not in given}


def _sizes(
    frame: Frame, function: python_types.FunctionType, bound: Mapping[str, Value], given: Mapping[str, Expr]
) -> dict[str, Expr]:
    """Return the values of symbols in a function evaluated in place: passed by name, or implied by annotations."""
    told = annotated_sizes(frame, types_from_annotations(function), bound)
    for name, value in given.items():
        if name in told:
            message = f"{function.__name__}() got {name}={{0}}, but an argument with the size {{1}}"
            frame.b.same_size(told[name], value, message, (value, told[name]))
    return told | dict(given)


def _nested(frame: Frame, function: FunctionValue, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
    """A nested function or lambda, evaluated in place."""
    scope: Frame = function.scope
    define = function.definition
    recursion.enter(frame.program, define.name, (define, scope), define)
    body = frame.program.callees.inline_bodies.setdefault(define, None) or without_returns_in_loops(define)
    frame.program.callees.inline_bodies[define] = body
    inner = Frame(
        frame.program, scope.source, body, scope.closure, frame.emit.region, outer=scope, inline=True, caller=frame
    )
    bound = bind_arguments(define.name, define.args, function.defaults, function.keyword_defaults, args, kwargs)
    if define.generator is not None:
        return YieldingValue(define.generator, scope.source, tuple(bound.items()), inner, scope)
    frame.program.callees.stack.append(((define, scope), define))
    try:
        given = nonlocals.bind_shared_variables(frame, scope, inner)
        with with_call_note(frame, define.name, own=scope.source.is_own):
            result = _run(frame, inner, bound)
        nonlocals.return_shared_variables(frame, inner, given)
        return result
    finally:
        frame.program.callees.stack.pop()


def _run(frame: Frame, inner: Frame, bound: Mapping[str, Value]) -> Value:
    """Evaluate the body of a function in place, with its parameters bound."""
    materialize(frame)
    span = frame.emit.span
    inner.env |= objects.fields(frame.env)
    for name, value in bound.items():
        if name in inner.locals or (isinstance(value, Scalar) and not is_cheap(value.expr)):
            bind_name(inner, name, value)
        else:
            inner.env[name] = list_references.kept(frame, iterator_uses.named(inner, value))
    inner.env |= objects.fields(frame.env)
    with frame.emit.of_function(inner.define.name, own=inner.source.is_own), frame.emit.wrapping(inner.source.wraps):
        frame.program.evaluator.execute(inner, inner.define.body)
    returned = dynamic_sizes.materialized_sizes(frame, inner.env.get(".return", Static(None)))
    frame.env |= list_references.leaving(inner.env, frame.env, returned)
    frame.emit.statement(span)
    return list_references.shown(frame, returned)


def bind_arguments(
    name: str, args: ast.arguments, defaults: Sequence[Value], named_defaults: Mapping[str, Value],
    values: Sequence[Value], keywords: Mapping[str, Value],
) -> dict[str, Value]:  # fmt: skip
    """Parameters to values, as Python binds them; `FrontendError` where they do not fit."""
    positional = [arg.arg for arg in (*args.posonlyargs, *args.args)]
    bound: dict[str, Value] = dict(zip(positional, values, strict=False))
    extra = tuple(values[len(positional) :])
    if extra and args.vararg is None:
        raise FrontendError(f"{name}() takes {len(positional)} positional arguments but {len(values)} were given")
    rest: dict[str, Value] = {}
    known = {*(arg.arg for arg in args.args), *(arg.arg for arg in args.kwonlyargs)}
    for key, value in keywords.items():
        if key in bound:
            raise FrontendError(f"{name}() got multiple values for argument {key!r}")
        if key not in known and args.kwarg is None:
            raise FrontendError(f"{name}() got an unexpected keyword argument {key!r}")
        (bound if key in known else rest)[key] = value
    first = len(positional) - len(defaults)
    for parameter, default in zip(positional[first:], defaults, strict=True):
        bound.setdefault(parameter, default)
    for parameter, default in named_defaults.items():
        bound.setdefault(parameter, default)
    missing = [p for p in (*positional, *(arg.arg for arg in args.kwonlyargs)) if p not in bound]
    if missing:
        raise FrontendError(f"{name}() missing {len(missing)} required argument(s): {', '.join(map(repr, missing))}")
    if args.vararg is not None:
        bound[args.vararg.arg] = TupleValue(extra)
    if args.kwarg is not None:
        bound[args.kwarg.arg] = DictValue(tuple(rest.items()))
    return {parameter: bound[parameter] for parameter in parameter_names(args)}
