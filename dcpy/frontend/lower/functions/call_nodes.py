"""Call nodes: user functions, lowered once per types to SDFGs of their own.

Arrays are passed by memlet (through a view where no subset says it), scalars by element, sizes and strides as symbols.
Results are more arguments: the caller provides the containers. What cannot be passed so is evaluated in place instead
(`call_dispatch`): functions, tuples, integers over loop variables whose range helps the callee, results that
are views or of a size that the callee finds out, arrays that lie otherwise than in NumPy, and calls inside parallel
maps.
"""

from __future__ import annotations

import types as python_types
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dcpy.base.bit_generators import is_generator
from dcpy.frontend.abstract_values.values import ArrayValue, Scalar, Static, TupleValue, Value
from dcpy.frontend.annotations import types_from_annotations
from dcpy.frontend.lower.arithmetic.broadcasting import may_be_one
from dcpy.frontend.lower.arrays import memory_order, stores
from dcpy.frontend.lower.frame import NoCall
from dcpy.frontend.lower.functions.callback_calls import holds_callback
from dcpy.frontend.lower.functions.recursion import again
from dcpy.frontend.lower.lowering_signals import WillRaise
from dcpy.frontend.lower.name_binding import global_array, materialize, symbolic
from dcpy.frontend.lower.speculation.size_assumptions import ForwardedAssumptions
from dcpy.frontend.specialize.argument_types import ArgType, ArrayType, ConstantType, ScalarType, stride_symbol
from dcpy.ir.analysis.dataflow.def_use import desc_symbols
from dcpy.ir.data import Array, packed_axes, packed_strides
from dcpy.ir.expressions.scalar import Load
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Call
from dcpy.ir.sdfg import Result, Sdfg
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr, sym

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame
    from dcpy.frontend.lower.lowering_result import Lowered



@dataclass
class CallArguments:
    """Arguments of a call: their types, and the values of the callee's symbols."""

    types: dict[str, ArgType] = field(default_factory=dict)
    symbols: dict[str, Expr] = field(default_factory=dict)
    sizes: dict[Expr, str] = field(default_factory=dict)

    def size(self, size: Expr, taken: Mapping[str, Any]) -> Expr:
        """A size as the callee sees it: equal ones share a symbol, by the caller's name for it where there is one."""
        if size.constant is not None:
            return size
        if size not in self.sizes:
            stem = size.name or "N"
            name, count = stem, 0
            while name in self.symbols or name in taken:
                count += 1
                name = f"{stem}_{count}"
            self.sizes[size], self.symbols[name] = name, size
        return sym(self.sizes[size])


def call_node(frame: Frame, function: python_types.FunctionType, bound: Mapping[str, Value]) -> Value | None:
    """Emit a `Call` of the function; None where it must be evaluated in place."""
    program = frame.program
    if frame.map_scopes() or not all(map(_is_passable, bound.values())):
        return None
    arrays = [value for value in bound.values() if isinstance(value, ArrayValue)]
    if function not in program.callees.recursive and not all(memory_order.lies_as_here(frame.b, one) for one in arrays):
        return None
    passing = _pass(frame, function, bound)
    lowered = _lowered(frame, function, passing)
    if lowered is None:
        return None
    if any(is_generator(extra.array) for extra in lowered.extra_arguments):
        return None  # its draws are the caller's
    if holds_callback(lowered.sdfg) or (lowered.kind_by_path and not frame.is_in_loop):
        return None
    if any(result.is_view or _is_made_inside(lowered.sdfg, result) for result in lowered.sdfg.results):
        return None
    if _shares_global_array(frame, lowered, bound):
        return None
    materialize(frame)
    return _emit(frame, lowered, passing, bound, outlined=function in program.callees.recursive)


def _lowered(frame: Frame, function: python_types.FunctionType, passing: CallArguments) -> Lowered | None:
    """The callee, lowered once for each pattern of types; None where no `Call` node can stand for the call.

    What it assumes of its arguments must hold in each call: else there is a second one, which assumes nothing.
    """
    program, emit = frame.program, frame.emit
    for speculates in (emit.assumptions is not None, False):
        key = (function, tuple(passing.types.items()), speculates)
        if key in program.callees.in_progress:
            raise again(function.__name__)
        if key not in program.callees.sdfgs:
            program.callees.in_progress.append(key)
            facts = ForwardedAssumptions(passing.symbols, emit.holds, emit.same, emit.sampled) if speculates else None
            try:
                program.callees.sdfgs[key] = program.evaluator.lower(program, function, passing.types, facts)
            except NoCall:
                program.callees.sdfgs[key] = None
            except WillRaise as error:
                if error.symbols <= passing.symbols.keys():
                    raise error.seen_from(passing.symbols) from error.__cause__
                program.callees.sdfgs[key] = None  # evaluated in place: its numbers are those of the caller then
            finally:
                program.callees.in_progress.pop()
        found: Lowered | None = program.callees.sdfgs[key]
        if found is None or all(emit.holds(fact.subs(passing.symbols)) for fact in found.assumed):
            return found
    raise AssertionError("a function that assumes nothing fits each call")


def _shares_global_array(frame: Frame, lowered: Lowered, bound: Mapping[str, Value]) -> bool:
    """Return whether an argument may overlap a global array of the callee, which was lowered without knowing."""
    arguments = [value for value in bound.values() if isinstance(value, ArrayValue)]
    arrays = [global_array(frame, extra.array, extra.dependence) for extra in lowered.extra_arguments]
    return any(frame.b.may_overlap(array, value) for array in arrays for value in arguments)


def _is_made_inside(sdfg: Sdfg, result: Result) -> bool:
    """Return whether the size of a result is known only while the callee runs: no caller can provide the container."""
    return result.kind == "array" and any(s in sdfg.assigned_symbols for s in desc_symbols(sdfg.desc(result.container)))


def _is_passable(value: Value) -> bool:
    match value:
        case ArrayValue():
            return True
        case Static(value=known):
            return isinstance(known, bool | int | float | complex | str | type(None)) or hasattr(known, "dtype")
        case Scalar(expr=expr, other_kinds=instead):
            return expr.dtype.name != "i64" and not instead
    return False


def _pass(frame: Frame, function: Any, bound: Mapping[str, Value]) -> CallArguments:
    passing = CallArguments()
    hints = types_from_annotations(function)
    groups = _alias_groups(frame, bound)
    for name, value in bound.items():
        match value:
            case Static(value=known):
                passing.types[name] = ConstantType(known)
            case Scalar(expr=expr, weak=weak):
                passing.types[name] = ScalarType(expr.dtype, weak)
            case ArrayValue():
                passing.types[name] = _array_type(frame, passing, name, value, groups.get(name, ""), hints, bound)
    known = {name: size for name, size in annotated_sizes(frame, hints, bound).items() if size.constant is not None}
    passing.types |= {name: ConstantType(size.constant) for name, size in known.items()}
    return passing


def annotated_sizes(frame: Frame, hints: Mapping[str, ArgType], bound: Mapping[str, Value]) -> dict[str, Expr]:
    """Return the values of the symbols in a function's annotations, where it is called."""
    sizes: dict[str, Expr] = {}
    for name, hint in hints.items():
        value = bound.get(name)
        if isinstance(hint, ArrayType) and isinstance(value, ArrayValue) and len(hint.dims) == value.rank:
            pairs = zip(hint.dims, value.shape, strict=True)
            sizes |= {dim.name: frame.b.exact(size) for dim, size in pairs if dim.name and dim.name not in sizes}
    return sizes


def _array_type(
    frame: Frame, passing: CallArguments, name: str, value: ArrayValue, alias: str, hints: Mapping[str, ArgType],
    bound: Mapping[str, Value],
) -> ArrayType:  # fmt: skip
    shape = tuple(frame.b.exact(size) for size in value.shape)
    hint = hints.get(name)
    if isinstance(hint, ArrayType) and len(hint.dims) == len(shape):
        _follow_hint(frame, passing, hint, shape)
    dims = tuple(passing.size(size, bound) for size in shape)
    desc = value.as_view(frame.b.desc(value))
    layout = next((order for order in "CF" if desc.strides == packed_strides(desc.shape, order)), "strided")
    axes = memory_order.known_order(frame.b, value) if layout == "strided" else None
    packed = packed_axes(desc.shape, desc.strides)
    if layout == "strided" and packed is not None:
        layout, axes = "axes", packed
    if layout == "strided":
        for axis, stride in enumerate(desc.strides):
            passing.symbols[stride_symbol(name, axis)] = stride
    if axes is not None and layout == "strided":
        axes = tuple(axis for axis in axes if desc.strides[axis] is not ZERO and dims[axis] is not ONE)
    symbols = {dim.name: may_be_one(frame.b, size) for dim, size in zip(dims, shape, strict=True) if dim.name}
    not_one, maybe_one = (tuple(name for name, may in symbols.items() if may is which) for which in (False, True))
    return ArrayType(value.dtype, dims, layout, alias, not_one, maybe_one, axes=axes)


def _follow_hint(frame: Frame, passing: CallArguments, hint: ArrayType, shape: tuple[Expr, ...]) -> None:
    """Give sizes the names of the callee's annotation, which its body may mention."""
    for dim, size in zip(hint.dims, shape, strict=True):
        if dim.name is None or size.constant is not None:
            continue
        if dim.name in passing.symbols:
            message = f"sizes that are both annotated {dim.name} differ: {{0}} and {{1}}"
            frame.b.same_size(passing.symbols[dim.name], size, message, (passing.symbols[dim.name], size))
        else:
            passing.symbols[dim.name] = size
        passing.sizes.setdefault(size, dim.name)


def _alias_groups(frame: Frame, bound: Mapping[str, Value]) -> dict[str, str]:
    """Arguments that may share memory get a common name."""
    groups: dict[str, str] = {}
    arrays = {name: value for name, value in bound.items() if isinstance(value, ArrayValue)}
    names = list(arrays)
    for position, name in enumerate(names):
        for other in names[:position]:
            if frame.b.may_overlap(arrays[name], arrays[other]):
                groups[name] = groups.setdefault(other, other)
                break
    return groups


def _emit(
    frame: Frame, lowered: Lowered, passing: CallArguments, bound: Mapping[str, Value], *, outlined: bool
) -> Value:
    sdfg, b = lowered.sdfg, frame.b
    given: dict[str, Value] = dict(bound)
    for extra in lowered.extra_arguments:
        given[extra.name] = global_array(frame, extra.array, extra.dependence)
    written = written_containers(sdfg, frame.program.callees.written_arguments)
    arguments: dict[str, Memlet] = {}
    for name in sdfg.arguments:
        value = given[name]
        if isinstance(value, ArrayValue):
            if name in written:
                stores.require_writable(b, value)
            arguments[name] = b.operand(value)
        elif isinstance(value, Scalar):
            arguments[name] = element(frame, value)
    results: list[Value] = []
    for result in sdfg.results:
        results.append(result_of(frame, sdfg, result, passing, given, arguments))
    symbols = {name: passing.symbols[name] for name in sdfg.symbols if name in passing.symbols}
    symbols |= {name: symbolic(frame, sym(name)) for name in lowered.free_symbols}
    for extra in lowered.extra_arguments:
        symbols |= _strides(frame, sdfg, extra.name, given[extra.name])
    if sdfg.body.blocks:  # else all is known: there is nothing to run
        frame.emit.node(Call(sdfg, arguments, symbols, outlined=outlined))
    return structured(sdfg.structure, results)


def _strides(frame: Frame, sdfg: Sdfg, name: str, value: Value) -> dict[str, Expr]:
    """The strides of a global array that the callee has symbols for."""
    strides = frame.b.desc(value).strides if isinstance(value, ArrayValue) else ()
    named = ((stride_symbol(name, axis), stride) for axis, stride in enumerate(strides))
    return {symbol: stride for symbol, stride in named if symbol in sdfg.symbols}


def element(frame: Frame, value: Scalar) -> Memlet:
    """The memlet of a number: of the container that holds it."""
    if not isinstance(value.expr, Load):
        value = frame.b.keep(value)
    assert isinstance(value.expr, Load)
    return Memlet(value.expr.container, Subset(value.expr.indices))


def result_of(
    frame: Frame,
    sdfg: Sdfg,
    result: Any,
    passing: CallArguments,
    given: Mapping[str, Value],
    arguments: dict[str, Memlet],
) -> Value:
    """The caller's value of one result; the container that the callee fills becomes an argument."""
    if result.kind == "constant":
        return Static(result.value)
    if result.kind == "argument":
        return given[result.container]
    desc = sdfg.desc(result.container)
    if result.kind == "array":
        shape = tuple(size.subs(passing.symbols) for size in desc.shape)
        axes = desc.axes if isinstance(desc, Array) else None
        out = frame.b.empty(shape, desc.dtype, order=axes or "C")
        arguments[result.container] = frame.b.operand(out)
        return out
    holder, scalar = frame.b.scalar_container(desc.dtype)
    arguments[result.container] = Memlet(holder.container, Subset())
    return Scalar(scalar.expr, weak=result.kind == "python")


def structured(structure: Any, results: list[Value]) -> Value:
    """Results as the function returns them: nested indices into `results`."""
    if structure is None:
        return Static(None)
    if isinstance(structure, tuple):
        return TupleValue(tuple(structured(part, results) for part in structure))
    value: Value = results[structure]
    return value


def written_containers(sdfg: Sdfg, known: dict[Sdfg, frozenset[str]]) -> frozenset[str]:
    """The outermost containers that an SDFG may write, its callees included; `known` is added to."""
    if sdfg not in known:
        known[sdfg] = _written(sdfg, known)
    return known[sdfg]


def _written(sdfg: Sdfg, known: dict[Sdfg, frozenset[str]]) -> frozenset[str]:
    views = {
        name: desc.of
        for region in sdfg.body.walk_regions()
        for name, desc in region.containers.items()
        if hasattr(desc, "of")
    }
    found: set[str] = set()
    for node in sdfg.body.walk_nodes():
        names = [memlet.container for memlet in node.writes()]
        for callee in node.callees():
            inner = written_containers(callee, known)
            names += [operand.memlet.container for operand in node.operands() if operand.connector in inner]
        for name in names:
            while name in views:
                name = views[name]
            found.add(name)
    return frozenset(found)
