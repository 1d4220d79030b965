"""Lowering of a Python function for argument types to an SDFG: `lower_function`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Mapping
from types import FunctionType
from typing import Any

from dcpy.base.assumptions import Assumption
from dcpy.base.errors import DcpyError, FrontendError
from dcpy.base.garbage_collection import collector_paused
from dcpy.base.options import Options
from dcpy.base.source import Calls, call_chain
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    GeneratorValue,
    Missing,
    Scalar,
    Static,
    SymInt,
    Value,
    as_integer,
)
from dcpy.frontend.dataflow.processes import require_exclusive
from dcpy.frontend.desugar import core
from dcpy.frontend.desugar.statements import desugar
from dcpy.frontend.introspection.closure import Closure
from dcpy.frontend.introspection.function_source import Source, read_source
from dcpy.frontend.lower.arithmetic.operators import binary
from dcpy.frontend.lower.arrays.name_aliases import copies, seen_copies
from dcpy.frontend.lower.dead_declarations import prune
from dcpy.frontend.lower.emitter import Emitter
from dcpy.frontend.lower.expressions import attribute
from dcpy.frontend.lower.frame import Evaluator, Flow, Frame, Identity, IdentityMatters, LoweringState, NoCall
from dcpy.frontend.lower.functions.annotation_agreement import unify_annotation_sizes
from dcpy.frontend.lower.functions.call_dispatch import call, unwrap
from dcpy.frontend.lower.functions.callback_calls import start_effect_token
from dcpy.frontend.lower.functions.passed_types import PASSED
from dcpy.frontend.lower.functions.record_passing import RecordPassing, without_unused
from dcpy.frontend.lower.functions.recursion import CallsItself, deep_enough, for_values
from dcpy.frontend.lower.functions.wrapper_functions import wrapped_arguments
from dcpy.frontend.lower.loops.carried_kinds import has_kinds
from dcpy.frontend.lower.lowering_result import Lowered
from dcpy.frontend.lower.lowering_signals import PathsMatter, WillRaise
from dcpy.frontend.lower.name_binding import from_python
from dcpy.frontend.lower.objects.dataclass_objects import bind_records
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.lower.parallel_maps.independence_claims import verify_claims
from dcpy.frontend.lower.results.function_results import finish, fit_a_call
from dcpy.frontend.lower.sequences import list_methods
from dcpy.frontend.lower.sequences.comprehensions import all_items, comprehend
from dcpy.frontend.lower.sequences.hashed_comprehensions import hashed
from dcpy.frontend.lower.sequences.iterator_reductions import reduce_items
from dcpy.frontend.lower.sequences.starred_lists import joined
from dcpy.frontend.lower.speculation.size_assumptions import Assumptions, ForwardedAssumptions, needed, substitution_for
from dcpy.frontend.lower.statements import execute
from dcpy.frontend.specialize.argument_sizes import integers_of, sample_of, sizes_of, with_sizes
from dcpy.frontend.specialize.argument_types import (
    ArgType,
    ArrayType,
    ConstantType,
    GeneratorType,
    OpaqueType,
    ScalarType,
)
from dcpy.frontend.specialize.free_symbols import assumed_by, free_symbols
from dcpy.frontend.specialize.record_arguments import Record, container_stem
from dcpy.ir import data, types
from dcpy.ir.analysis.dataflow.value_ranges import free_ranges
from dcpy.ir.expressions.scalar import Load
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.symbolic import Expr, sym

MAX_SPLITS = 64  # places where paths are kept apart; each of them makes lowering begin anew


def lower_function(
    function: Callable[..., Any],
    types: Mapping[str, ArgType],
    options: Options | None = None,
    *,
    name: str = "",
    aliases: Mapping[int, str] | None = None,
    records: Mapping[str, Record] | None = None,
    examples: Mapping[str, Any] | None = None,
    sample: Mapping[str, Any] | None = None,
) -> Lowered:
    """The SDFG of a function for arguments of these types, by parameter name; parts of `records` by path (``p.x``).

    With `examples`, the arguments of a call by path, what is true of their sizes may be assumed
    (`speculation.size_assumptions`). A function that calls itself is lowered for the values of these, or of a `sample`.

    `aliases`: groups of global arrays (by identity) that share memory with one another or with arguments.
    Raises `FrontendError` with the place, the reason and a rewrite for what dcpy does not take.
    """
    function = unwrap(function)
    source = read_source(function)
    try:
        with collector_paused():
            return _lower_to_fixed_point(
                function, source, dict(types), options or Options(), name or _name(function), aliases or {},
                records or {}, examples, examples if sample is None else sample,
            )  # fmt: skip
    except DcpyError as error:
        raise error.at(source.span(source.node)) from error.__cause__


def _lower_to_fixed_point(
    function: Callable[..., Any],
    source: Source,
    types: dict[str, ArgType],
    options: Options,
    name: str,
    aliases: Mapping[int, str],
    records: Mapping[str, Record],
    examples: Mapping[str, Any] | None,
    given: Mapping[str, Any] | None,
) -> Lowered:
    """Again, as long as lowering finds out what it should have known from the start."""
    assumed = assumed_by(function) if isinstance(function, FunctionType) else {}
    changing: set[type] = set()
    split_at: dict[object, bool] = {}
    raises: WillRaise | None = None
    by_value = False
    while True:
        assumptions = None if examples is None else Assumptions(sample_of(types, examples))
        try:
            with deep_enough(by_value):
                lowered = _lower(
                    function, source, types, options, name, aliases, records=records, identity=Identity(changing),
                    split_at=split_at, assumptions=assumptions, by_value=by_value, assumed=assumed,
                )  # fmt: skip
        except CallsItself:
            types, by_value = for_values(types, given), True
            continue
        except IdentityMatters as found:
            changing |= {found.cls}
            continue
        except PathsMatter as met:
            _split(split_at, met)
            continue
        except WillRaise as error:
            if assumptions is None or not assumptions.assumed_facts:
                raise raises or error from None
            examples, raises = None, error  # it raises under what is assumed: other calls may not
            continue
        if assumptions is None:
            return lowered
        same = substitution_for(assumptions.equal, {*integers_of(types), *assumed}, sizes_of(types))
        if same:
            types = {path: with_sizes(kind, same) for path, kind in types.items()}
        elif _can_be_tested(lowered, assumptions):
            return lowered
        else:
            examples = None  # what was assumed of is no argument: nothing can test it


def _split(split_at: dict[object, bool], met: PathsMatter) -> None:
    """Note a place where paths are kept apart, or are not."""
    if len(split_at) == MAX_SPLITS and met.merge not in split_at:
        raise met.error from None
    split_at[met.merge] = met.keep_apart


def _can_be_tested(lowered: Lowered, assumptions: Assumptions) -> bool:
    """Return whether all that was assumed is of free symbols."""
    return all(name in lowered.sdfg.symbols for fact in assumptions.facts for name in fact.symbols)


def _name(function: Callable[..., Any]) -> str:
    name = function.__name__
    return name if name.isidentifier() else "function"


def _finalize(sdfg: Sdfg) -> None:
    """Take out unused parts, and check the claims of maps and processes."""
    prune(sdfg)
    verify_claims(sdfg)
    require_exclusive(sdfg)


_LISTS = (list_methods.call_method, reduce_items, hashed, joined, all_items)


def _lower(
    function: Callable[..., Any],
    source: Source,
    arg_types: dict[str, ArgType],
    options: Options,
    name: str,
    aliases: Mapping[int, str],
    caller: LoweringState | None = None,
    records: Mapping[str, Record] | None = None,
    identity: Identity | None = None,
    assumptions: Assumptions | ForwardedAssumptions | None = None,
    split_at: dict[object, bool] | None = None,
    by_value: bool = False,
    assumed: Mapping[str, Assumption] | None = None,
) -> Lowered:
    define = desugar(source)
    _refuse_generator(define)
    sdfg = Sdfg(name, span=None if source.is_own else define.span)
    emit = Emitter(sdfg, options)
    emit.call_site, emit.calls = _call_site(source, define, caller)
    emit.assumptions, emit.assumed = assumptions, assumed or {}
    b = OpBuilder(emit)
    b.split_joins = caller.b.split_joins if caller is not None else {} if split_at is None else split_at
    evaluator = Evaluator(execute, attribute, comprehend, _lower_callee, *_LISTS)
    program = LoweringState(b, options, evaluator, aliases=aliases)
    program.objects.identity, program.callees.by_value = identity or program.objects.identity, by_value
    _join(program, caller, function, name)
    closure = Closure(function, program.dependences)
    frame = Frame(program, source, define, closure, sdfg.body)
    b.copies = lambda container: copies(program, container)
    b.live_copies = lambda container: seen_copies(program, container)
    b.caller = lambda target, args, keywords: call(program.current or frame, target, args, keywords)
    b.operate = lambda symbol, left, right: binary(b, symbol, left, right)
    containers = _declare(frame, function, arg_types, records or {})
    program.objects.argument_paths = {container: path for path, container in containers.items()}
    unify_annotation_sizes(frame, arg_types)
    emit.wraps_integers = source.wraps
    flow = execute(frame, define.body)
    if flow is Flow.ON:
        execute(frame, (core.Return(None, span=define.span),))
    if b.started_requests:
        from dcpy.frontend.comm.point_to_point import require_all_waited  # late: for programs that send messages

        require_all_waited(b)
    if caller is not None and not fit_a_call(frame):
        raise NoCall
    passing = RecordPassing(dict(records or {}), containers, finish(frame, called=caller is not None))
    extra = tuple(program.extra_arguments.values())
    sdfg.arguments += [argument.name for argument in extra]
    start_effect_token(sdfg, program.effect_token)
    _finalize(sdfg)
    if records:
        arg_types, passing = without_unused(program, sdfg, arg_types, passing)
    sdfg.forget_names()
    guards, unless = _guards(sdfg, assumptions)
    free = tuple(program.free_symbols)
    arg_types |= dict.fromkeys(free, ScalarType(types.int64, weak=True))
    dependences = tuple(program.dependences.values())
    kinds = caller is not None and _has_kinds_by_path(frame)
    return Lowered(sdfg, arg_types, dependences, extra, passing, free, guards, unless, kinds, program.callees.by_value)


def _call_site(
    source: Source, define: core.Define, caller: LoweringState | None
) -> tuple[tuple[None, None] | None, Calls]:
    """The place of the call that messages name (none of dcpy's own functions), and the calls around it."""
    own = source.is_own
    return (None, None) if own else None, () if own or caller is None else call_chain(define.name, None)


def _has_kinds_by_path(frame: Frame) -> bool:
    """Return whether the function returns a number whose kind depends on the path taken."""
    return any(site.value is not None and has_kinds(site.value) for site in frame.returns)


def _guards(
    sdfg: Sdfg, assumptions: Assumptions | ForwardedAssumptions | None
) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
    """Return the conditions for calls of a program, and those for a better one; the SDFG carries the first."""
    if assumptions is None:
        return (), ()
    known = free_ranges(sdfg)
    guards = needed(assumptions.assumed_facts, known)
    if not isinstance(assumptions, Assumptions):
        return guards, ()
    sdfg.assumptions = list(guards)
    return guards, needed(assumptions.refuted_facts, known)


def _join(program: LoweringState, caller: LoweringState | None, function: Callable[..., Any], name: str) -> None:
    """Share facts about functions, and the dependences of the whole, between a callee and its caller."""
    if caller is None:
        program.callees.names[name] = 0
        program.callees.stack.append((function, function.__code__))
        return
    program.dependences, program.callees = caller.dependences, caller.callees
    program.objects.identity = caller.objects.identity
    program.is_callee = True


def _refuse_generator(define: core.Define) -> None:
    if define.generator is not None:
        raise FrontendError(
            "a generator has no SDFG of its own",
            span=define.span,
            notes=("it is compiled in steps, from one `yield` to the next, when its items are asked for",),
            help="call it, or take the SDFG of a program that loops over it: `list(generator(...))`",
        )


def _lower_callee(
    program: LoweringState,
    function: Callable[..., Any],
    arg_types: dict[str, ArgType],
    facts: ForwardedAssumptions | None,
) -> Lowered:
    """The SDFG of a function that another one calls. Names of SDFGs are unique in a program."""
    name = program.callees.fresh_name(_name(function))
    source = read_source(function)
    try:
        options = program.b.emit.options
        return _lower(function, source, arg_types, options, name, program.aliases, program, assumptions=facts)
    except DcpyError as error:
        raise error.at(source.span(source.node)) from error.__cause__


# -- arguments -------------------------------------------------------------------------------------------------------


def _declare(
    frame: Frame, function: Callable[..., Any], arg_types: dict[str, ArgType], records: Mapping[str, Record]
) -> dict[str, str]:
    """Declare containers and symbols of the arguments, and bind the parameters to them; containers by path."""
    for symbol in _size_symbols(arg_types):
        frame.emit.reserve(symbol)
    for name in (*arg_types, *records):
        frame.emit.reserve(name)
    containers = {path: path if path.isidentifier() else frame.emit.fresh(container_stem(path)) for path in arg_types}
    leaves = {path: _argument(frame, containers[path], kind) for path, kind in arg_types.items()}
    values = bind_records(frame, records, leaves)
    for kind in arg_types.values():
        if isinstance(kind, ArrayType):
            _declare_sizes(frame, kind)
    signature = inspect.signature(function)
    given = {name: values[name] for name in arg_types if name not in signature.parameters}
    _declare_symbols(frame, function, given, _asked(arg_types))
    for name, parameter in signature.parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            raise FrontendError(f"**{name} is not supported in a program", help="name the arguments")
        if name in values:
            frame.env[name] = values[name]
        elif parameter.default is not inspect.Parameter.empty:
            frame.env[name] = Static(parameter.default)
        else:
            raise FrontendError(f"the type of the argument {name!r} is not known", help="annotate it, or pass a value")
    if hasattr(function, "__wrapped__"):
        frame.env = wrapped_arguments(function, frame.source, frame.env)
    return containers


def _asked(arg_types: Mapping[str, ArgType]) -> set[str]:
    """Symbols that the program finds out itself, from sizes such as ``2*N``."""
    arrays = [kind for kind in arg_types.values() if isinstance(kind, ArrayType)]
    return {name for kind in arrays for wanted in kind.annotated_sizes if wanted is not None for name in wanted.symbols}


def _declare_symbols(
    frame: Frame, function: Callable[..., Any], given: Mapping[str, Value], asked: Container[str]
) -> None:
    """Declare facts about symbols besides sizes: values that a call gives, and those that are 1 in it."""
    frame.sizes |= {name: size for name, value in given.items() if (size := as_integer(value)) is not None}
    emit = frame.emit
    for name in free_symbols(function) if isinstance(function, FunctionType) else ():
        emit.reserve(name)
        if name in asked:
            emit.ranges = emit.ranges.bind(name, None, None)
        elif name not in emit.ranges.names:
            emit.known_of(name)


def _size_symbols(arg_types: Mapping[str, ArgType]) -> list[str]:
    arrays = [kind for kind in arg_types.values() if isinstance(kind, ArrayType)]
    return list(dict.fromkeys(name for kind in arrays for dim in kind.dims for name in dim.symbols))


def _declare_sizes(frame: Frame, kind: ArrayType) -> None:
    emit = frame.emit
    emit.maybe_one.update(kind.maybe_one)
    for dim in kind.dims:
        for name in dim.symbols:
            if name not in emit.sdfg.sizes:
                emit.free_symbol(name, size=True)
                emit.known_of(name, size=True)


def _argument(frame: Frame, name: str, kind: ArgType) -> Value:
    emit = frame.emit
    if isinstance(kind, PASSED):
        return kind.declare(emit, name)
    match kind:
        case ConstantType(value=value):
            return from_python(frame, value)
        case OpaqueType(reason=reason, help=help_text):
            return Missing(reason, help=help_text)
        case ScalarType(dtype=types.int64, weak=weak):
            emit.free_symbol(name, argument=True)
            emit.known_of(name)
            return SymInt(sym(name), weak)
        case ScalarType(dtype=dtype, weak=weak):
            desc = data.Scalar(dtype)
            _register(frame, name, desc)
            return Scalar(Load(name, (), dtype), weak)
        case GeneratorType():
            _register(frame, name, kind.descriptor(name))
            return GeneratorValue(name)
    desc_array = kind.descriptor(name)
    _register(frame, name, desc_array)
    if kind.axes is not None and kind.layout == "strided":
        emit.axis_orders[name] = kind.axes
    for stride in desc_array.strides if kind.layout == "strided" else ():
        for symbol in stride.symbols:
            emit.reserve(symbol)
            emit.sdfg.add_symbol(symbol)
            emit.ranges = emit.ranges.bind(symbol, None, None)
    return ArrayValue.whole(name, desc_array)


def _register(frame: Frame, name: str, desc: data.Data) -> None:
    frame.emit.sdfg.add_argument(name, desc)
    frame.emit.descs[name], frame.emit.regions[name] = desc, frame.emit.sdfg.body
