"""Expressions: Python trees to values, one function per kind of tree.

Operands are evaluated in Python's order. A scalar that was read but not used yet is an expression; before user code
that may write runs, such expressions are computed (`names.settle`), because Python read them first.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from dcpy.base.errors import DcpyError, FrontendError
from dcpy.frontend.abstract_values.list_values import LazyGenerator, ListValue
from dcpy.frontend.abstract_values.stream_values import StreamValue
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    DictValue,
    FunctionValue,
    GeneratorValue,
    MapValue,
    Method,
    ObjectValue,
    RecordValue,
    SliceValue,
    Static,
    TextValue,
    TupleValue,
    Value,
    is_number,
)
from dcpy.frontend.callback_decorator import Callback
from dcpy.frontend.dataflow import stream_operations
from dcpy.frontend.desugar import core
from dcpy.frontend.desugar.bound_and_free_names import free_names
from dcpy.frontend.desugar.deep_expressions import with_functions, without_deep_expressions
from dcpy.frontend.desugar.statements import OPERATORS
from dcpy.frontend.implements import call_entry, find, find_attribute, find_method
from dcpy.frontend.lower.arithmetic import comparisons, conditional_expressions
from dcpy.frontend.lower.arithmetic.negated_powers import negated_power
from dcpy.frontend.lower.arithmetic.operators import binary, truth, unary
from dcpy.frontend.lower.constant_attributes import attribute_of_constant
from dcpy.frontend.lower.control import expression_branches, expression_splitting, item_variants
from dcpy.frontend.lower.functions import call_dispatch
from dcpy.frontend.lower.functions.import_statements import imported
from dcpy.frontend.lower.functions.spread_arguments import columns, missing_arguments, spread
from dcpy.frontend.lower.lowering_signals import HASHED, raised_by
from dcpy.frontend.lower.member_lookup import bound_of, field_or_method, unknown_attribute
from dcpy.frontend.lower.name_binding import bind_name, bound_item, from_python, is_local, materialize, read_name
from dcpy.frontend.lower.objects import dataclass_objects as objects
from dcpy.frontend.lower.objects import special_methods as special
from dcpy.frontend.lower.sequences import (
    dictionaries,
    formatted_parts,
    item_choice,
    iterator_uses,
    list_references,
    printf,
    texts,
)
from dcpy.frontend.lower.sequences import items as sequences
from dcpy.frontend.mapscope import MapScope
from dcpy.frontend.python.sets import set_
from dcpy.ir.expressions.scalar import ScalarExpr
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, ZERO, max_of

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame


def evaluate(frame: Frame, node: core.Expression, name: str = "") -> Value:
    """The value of an expression; `name` is what the program calls it, for readable containers."""
    if isinstance(node, core.KnownBool):
        return Static(node.value)
    if isinstance(node, core.Imported):
        return imported(frame, node)
    handler = _HANDLERS.get(type(node))
    around, frame.emit.place = frame.emit.place, (frame, node)
    try:
        if handler is None:
            raise FrontendError(f"{type(node).__name__} is not supported", help="use plain expressions")
        if name:
            return handler(frame, node, name) if type(node) in _NAMED else handler(frame, node)
        return handler(frame, node)
    except DcpyError as error:
        raise error.at(frame.span(node)) from error.__cause__
    finally:
        frame.b.result_name = ""
        frame.emit.place = around


def condition(frame: Frame, node: core.Expression) -> bool | ScalarExpr:
    """Return the condition of a test: known now, or a bool expression; operands of ``and`` may differ in type."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return truth(frame.b, comparisons.as_value(comparisons.inverse(condition(frame, node.operand))))
    if isinstance(node, ast.BoolOp):
        combine = conditional_expressions.both if isinstance(node.op, ast.And) else conditional_expressions.either

        def rest(position: int) -> Value:
            value = comparisons.as_value(condition(frame, node.values[position]))
            return value if position == len(node.values) - 1 else combine(frame, value, lambda: rest(position + 1))

        return truth(frame.b, rest(0))
    value = evaluate(frame, node)
    try:
        return truth(frame.b, value)
    except DcpyError as error:
        raise error.at(frame.span(node)) from error.__cause__


def evaluate_all(frame: Frame, nodes: Sequence[ast.expr], missing: int | None = None) -> list[Value]:
    """Operands from left to right; starred ones are spread, into as many as are `missing`."""
    values: list[Value] = []
    frame.program.pending_operands.append(values)
    try:
        for node in nodes:
            if isinstance(node, ast.Starred):
                items = frame.program.evaluator.all_items(frame, evaluate(frame, node.value))
                values += spread(frame, items, missing)
            else:
                values.append(evaluate(frame, node))
    finally:
        frame.program.pending_operands.pop()
    return values


# -- names -----------------------------------------------------------------------------------------------------------


def _constant(frame: Frame, node: ast.Constant) -> Value:
    return Static(node.value)


def _name(frame: Frame, node: ast.Name) -> Value:
    return iterator_uses.read(frame, node, read_name(frame, node.id))


def _attribute(frame: Frame, node: ast.Attribute) -> Value:
    match node.value:
        case ast.Call(func=ast.Name(id="super"), args=[], keywords=[]) if "super" not in frame.locals:
            return objects.method_of_super(frame, node.attr)
        case ast.Name(id=name) if frame.program.options.allow_callbacks and node.attr in _CHANGING:
            known, found = (False, None) if is_local(frame, name) else frame.closure.lookup(name)
            if known and isinstance(found, list | dict | set):
                return Static(Callback(getattr(found, node.attr), returns=None))  # Python changes its own object
    value = [evaluate(frame, node.value)]
    found = item_variants.by_kind(frame, value, lambda now: attribute(frame, now[0], node.attr), f".{node.attr}")
    return iterator_uses.read(frame, node, found)


_CHANGING = ("append", "extend", "insert", "clear", "add", "update", "remove", "discard")


def attribute(frame: Frame, owner: Value, name: str) -> Value:
    """``owner.name``."""
    if isinstance(owner, ArrayValue) or is_number(owner):
        entry = find_attribute(name)
        if entry is not None:
            return call_entry(frame.b, entry, [owner], {})
        if find_method(name) is not None:
            return Method(owner, name)
        raise unknown_attribute(owner, name)
    if isinstance(owner, ObjectValue | RecordValue) or (isinstance(owner, TupleValue) and owner.cls is not None):
        return objects.read_field(frame, owner, name)
    if isinstance(owner, Static):
        method = objects.method_of(frame, owner, name)
        if method is not None:
            return method
        if getattr(owner.value, "__name__", "") in ("numpy", "math", "cmath") and hasattr(owner.value, name):
            return from_python(frame, getattr(owner.value, name))
        return attribute_of_constant(frame, owner, name)
    if isinstance(owner, TupleValue | ListValue | DictValue | GeneratorValue | StreamValue | TextValue):
        return field_or_method(owner, name)
    return bound_of(owner, name)


# -- operators -------------------------------------------------------------------------------------------------------


def _binary(frame: Frame, node: ast.BinOp, name: str = "") -> Value:
    operands = evaluate_all(frame, [node.left, node.right])
    return item_variants.by_kind(frame, operands, lambda sides: _operation(frame, node, sides[0], sides[1], name),
                                 OPERATORS[type(node.op)])  # fmt: skip


def _operation(frame: Frame, node: ast.BinOp, left: Value, right: Value, name: str) -> Value:
    if isinstance(left, StreamValue) and isinstance(node.op, ast.LShift):
        stream_operations.push(frame, left, right)
        return Static(None)
    if isinstance(left, Static) and isinstance(left.value, str) and isinstance(node.op, ast.Mod):
        return printf.formatted(frame.b, left.value, right)
    found = special.binary(frame, OPERATORS[type(node.op)], left, right)
    if found is not None:
        return found
    if expression_splitting.is_negated_power(node):
        found = negated_power(frame, node, left, right)
    if found is not None:
        return found
    frame.b.result_name = name
    return binary(frame.b, OPERATORS[type(node.op)], left, right)


def _unary(frame: Frame, node: ast.UnaryOp, name: str = "") -> Value:
    if isinstance(node.op, ast.Not):
        return comparisons.as_value(comparisons.inverse(condition(frame, node.operand)))

    def computed(operands: list[Value]) -> Value:
        found = special.unary(frame, OPERATORS[type(node.op)], operands[0])
        if found is not None:
            return found
        frame.b.result_name = name
        return unary(frame.b, OPERATORS[type(node.op)], operands[0])

    symbol = f"unary {OPERATORS[type(node.op)]}"
    return item_variants.by_kind(frame, [evaluate(frame, node.operand)], computed, symbol)


def _compare(frame: Frame, node: ast.Compare) -> Value:
    left = evaluate_all(frame, [node.left, node.comparators[0]])
    symbol = OPERATORS[type(node.ops[0])]
    result = _contained(frame, symbol, left[0], left[1])
    if result is None:
        left[1] = frame.program.evaluator.all_items(frame, left[1]) if symbol.endswith("in") else left[1]
        result = special.binary(frame, symbol, left[0], left[1]) or _comparison(frame, symbol, left)
    if len(node.ops) == 1:
        return result
    middle = frame.b.hold(left[1])

    def rest(position: int, low: Value) -> Value:
        high = evaluate(frame, node.comparators[position])
        last = position == len(node.ops) - 1
        high = high if last else frame.b.hold(high)
        found = _comparison(frame, OPERATORS[type(node.ops[position])], [low, high])
        return found if last else conditional_expressions.both(frame, found, lambda: rest(position + 1, high))

    return conditional_expressions.both(frame, result, lambda: rest(1, middle))


def _comparison(frame: Frame, symbol: str, sides: list[Value]) -> Value:
    if symbol in comparisons.OF_ALL_KINDS:
        return comparisons.compare(frame.b, symbol, *sides)
    return item_variants.by_kind(frame, sides, lambda now: comparisons.compare(frame.b, symbol, *now), symbol)


def _contained(frame: Frame, symbol: str, item: Value, owner: Value) -> Value | None:
    """``item in owner``, or ``not in``, where the owner's class says what that is."""
    found = special.call(frame, owner, "__contains__", [item]) if symbol in ("in", "not in") else None
    if found is None:
        return None
    test = truth(frame.b, found)
    return comparisons.as_value(test if symbol == "in" else comparisons.inverse(test))


def _bool(frame: Frame, node: ast.BoolOp) -> Value:
    combine = conditional_expressions.both if isinstance(node.op, ast.And) else conditional_expressions.either

    def rest(position: int) -> Value:
        value = evaluate(frame, node.values[position])
        if position == len(node.values) - 1:
            return value
        return combine(frame, value, lambda: rest(position + 1))

    return rest(0)


def _conditional(frame: Frame, node: ast.IfExp, name: str = "") -> Value:
    test = condition(frame, node.test)
    if isinstance(test, bool):
        return evaluate(frame, node.body if test else node.orelse, name)
    if frame.b.split_joins.get(expression_splitting.key_of(frame, node)):  # where it cannot be computed before the rest
        sides = (lambda: evaluate(frame, node.body)), (lambda: evaluate(frame, node.orelse))
        return expression_branches.either((frame, node), test, *sides)
    return conditional_expressions.choose(
        frame, test, lambda: evaluate(frame, node.body), lambda: evaluate(frame, node.orelse), name or "choice"
    )


# -- subscripts ------------------------------------------------------------------------------------------------------


def _subscript(frame: Frame, node: ast.Subscript) -> Value:
    owner = evaluate(frame, node.value)
    if isinstance(owner, Static) and isinstance(owner.value, MapScope):
        return _map_ranges(frame, node.slice)
    if isinstance(owner, StreamValue):
        return stream_operations.subscript(frame.b, owner, keys_of(frame, node.slice))
    operands = [owner, *keys_of(frame, node.slice)]
    found = item_variants.by_kind(frame, operands, lambda now: subscript(frame, now[0], now[1:]), "[]")
    return iterator_uses.read(frame, node, found)


def keys_of(frame: Frame, node: ast.expr) -> list[Value]:
    """The keys of a subscript: one, or those of a tuple."""
    if isinstance(node, ast.Tuple):
        return evaluate_all(frame, node.elts)
    key = evaluate(frame, node)
    return list(key.items) if isinstance(key, TupleValue) and not key.is_list else [key]


def subscript(frame: Frame, owner: Value, keys: list[Value]) -> Value:
    """``owner[keys]``."""
    if isinstance(owner, ArrayValue):
        return frame.b.subscript(owner, keys)
    key: Value = keys[0] if len(keys) == 1 else TupleValue(tuple(keys))
    found = special.call(frame, owner, "__getitem__", [key])
    if found is not None:
        return found
    if isinstance(owner, DictValue):
        return dictionaries.item(frame, owner, key)
    if isinstance(owner, TupleValue) or sequences.is_some_byte(owner, key):
        return item_choice.item(frame, sequences.as_bytes(owner), key)
    if isinstance(owner, Static) and not is_number(owner):
        entry = find(owner.value)  # np.mgrid[...]
        if entry is not None:
            return call_entry(frame.b, entry, keys, {})
        if (chosen := texts.character(frame.b, owner.value, key)) is not None:
            return chosen
        wanted = sequences.known_subscript(frame.b, owner.value, key)
        with raised_by("Python"):
            found = owner.value[wanted]
        return from_python(frame, found)
    return sequences.subscript(frame.b, owner, key)


def _slice(frame: Frame, node: ast.Slice) -> Value:
    none: Value = Static(None)
    parts = [none if part is None else evaluate(frame, part) for part in (node.lower, node.upper, node.step)]
    return SliceValue(*parts)


def _map_ranges(frame: Frame, node: ast.expr) -> Value:
    ranges = []
    for key in keys_of(frame, node):
        if not isinstance(key, SliceValue) or key.stop == Static(None):
            raise FrontendError(
                "dcpy.map needs ranges", notes=("Python raises TypeError here",), help="write dcpy.map[0:M, 0:N]"
            )
        start = ZERO if key.start == Static(None) else frame.b.integer(key.start, "the start of a range")
        step = ONE if key.step == Static(None) else frame.b.integer(key.step, "the step of a range")
        stop = frame.b.integer(key.stop, "the end of a range")
        if step.constant is None:  # maps need no order, so they go up
            frame.emit.require(step - 1, "ValueError", "the step of dcpy.map must be positive, not {0}", (step,))
            step = max_of(step, 1)
        ranges.append(Range(start, stop, step))
    return MapValue(tuple(ranges))


# -- displays, functions, calls --------------------------------------------------------------------------------------


def _tuple(frame: Frame, node: ast.Tuple | ast.List) -> Value:
    if isinstance(node, ast.List) and any(isinstance(part, ast.Starred) for part in node.elts):
        return frame.program.evaluator.joined(frame, node)
    return TupleValue(tuple(evaluate_all(frame, node.elts)), isinstance(node, ast.List))


def _dict(frame: Frame, node: ast.Dict) -> Value:
    keys = dictionaries.keys_of(frame, node, [None if key is None else evaluate(frame, key) for key in node.keys])
    if any(isinstance(key, Value) for key in keys):
        return dictionaries.of_run_time_keys(frame, keys, evaluate_all(frame, node.values))
    found: dict[Any, Value] = {}
    for tree, key, value in zip(node.keys, keys, evaluate_all(frame, node.values), strict=True):
        if tree is not None:
            found[key] = value
        elif isinstance(value, DictValue):
            found |= dict(value.items)
        else:
            raise FrontendError("** takes a dictionary with known keys", help="write the keys out")
    return dictionaries.made(frame, node, found)


def _comprehension(frame: Frame, node: ast.ListComp | ast.GeneratorExp) -> Value:
    node = with_functions(node)
    first = special.iterated(frame, evaluate(frame, node.generators[0].iter))
    if isinstance(node, ast.GeneratorExp):
        return LazyGenerator(node, frame, first)
    return frame.program.evaluator.comprehend(frame, node, first)


def require_no_late_variables(value: Value, variables: set[str]) -> None:
    """Refuse functions that see what the variables of a comprehension stand for in the end."""
    if isinstance(value, FunctionValue) and not variables.isdisjoint(value.definition.free):
        raise FrontendError(
            "a function made in a comprehension sees the last value of its variable",
            help="give it the value as a default: `lambda x, k=k: ...`",
        )


def _dict_comprehension(frame: Frame, node: ast.DictComp) -> Value:
    node = with_functions(node)
    first = special.iterated(frame, evaluate(frame, node.generators[0].iter))
    site = (HASHED, frame.span(node))
    if frame.b.split_joins.get(site):
        return frame.program.evaluator.hashed(frame, node, first)
    try:
        pairs = frame.program.evaluator.comprehend(frame, node, first)
        assert isinstance(pairs, TupleValue)
        items = [item.items for item in pairs.items if isinstance(item, TupleValue)]
        keys = [dictionaries.static_key(key) for key, _ in items]
    except FrontendError as error:
        raise frame.b.by_path(site, error) from None
    dictionaries.require_hashable(*keys)
    found = dict(zip(keys, (value for _, value in items), strict=True))
    return DictValue(tuple(found.items()), site=site)


def _set_comprehension(frame: Frame, node: ast.SetComp) -> Value:
    node = with_functions(node)
    first = special.iterated(frame, evaluate(frame, node.generators[0].iter))
    if not sequences.is_short(frame.b, first):
        return frame.program.evaluator.hashed(frame, node, first)
    listed = ast.copy_location(ast.ListComp(node.elt, node.generators), node)
    return set_(frame.b, frame.program.evaluator.comprehend(frame, listed, first))


def _set(frame: Frame, node: ast.Set) -> Value:
    return set_(frame.b, TupleValue(tuple(evaluate_all(frame, node.elts))))


def _lambda(frame: Frame, node: ast.Lambda) -> Value:
    span = frame.span(node)
    value = core.Return(node.body, span=frame.span(node.body))
    names = (f".part_{number}" for number in itertools.count(1))
    body = without_deep_expressions(value, frame.source, lambda: next(names), names_change=False)
    return function_value(frame, core.Define("<lambda>", node.args, body, free_names(node), span=span))


def function_value(frame: Frame, define: core.Define) -> FunctionValue:
    """A nested function: its defaults are evaluated now; all calls see the same lists."""
    args = define.args

    def kept(value: Value) -> Value:
        return list_references.kept(frame, bound_item(frame, value))

    defaults = tuple(map(kept, evaluate_all(frame, args.defaults)))
    named = {
        arg.arg: kept(evaluate(frame, default))
        for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True)
        if default is not None
    }
    return FunctionValue(define, frame, defaults, named)


def _call(frame: Frame, node: ast.Call, name: str = "") -> Value:
    is_bound = node is frame.program.assigned_expression
    function = evaluate(frame, node.func)
    if (turned := columns(frame, function, node, lambda tree: evaluate(frame, tree))) is not None:
        return turned
    nodes = [*node.args, *(k.value for k in node.keywords)]
    args = evaluate_all(frame, nodes, missing_arguments(function, node))
    keywords: dict[str, Value] = {}
    count = len(args) - len(node.keywords)
    for keyword, value in zip(node.keywords, args[count:], strict=True):
        if keyword.arg is not None:
            keywords[keyword.arg] = value
        elif isinstance(value, DictValue):
            keywords |= {str(key): item for key, item in value.items}
        else:
            raise FrontendError("** takes a dictionary with known keys", help="write the keywords out")
    frame.b.result_name = name
    is_unused = node is frame.program.discarded_call

    def call(now: list[Value]) -> Value:
        named = dict(zip(keywords, now[count:], strict=True))
        return call_dispatch.call(frame, function, now[:count], named, unused=is_unused)

    values = [*args[:count], *keywords.values()]
    takes_all = isinstance(function, Method) and isinstance(function.owner, TupleValue | ListValue)
    result = call(values) if takes_all else item_variants.by_kind(frame, values, call)
    return result if is_bound else expression_splitting.usable_result(frame, node, result)


def _named(frame: Frame, node: ast.NamedExpr) -> Value:
    materialize(frame)
    return bind_name(frame, node.target.id, evaluate(frame, node.value))


def _formatted(frame: Frame, node: ast.JoinedStr) -> Value:
    """An f-string; what is known at run time only is formatted then, by Python (``print``, messages)."""
    parts: list[str | tuple[Value, int, str]] = []
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            value = evaluate(frame, part.value)
            told = Static("") if part.format_spec is None else evaluate(frame, part.format_spec)
            parts.append(formatted_parts.part(frame.b, value, part.conversion, told))
        elif isinstance(part, ast.Constant):
            parts.append(str(part.value))
    return texts.as_text(parts)


_HANDLERS: dict[type, Callable[..., Value]] = {
    ast.Constant: _constant, ast.Name: _name, ast.Attribute: _attribute, ast.BinOp: _binary, ast.UnaryOp: _unary,
    ast.Compare: _compare, ast.BoolOp: _bool, ast.IfExp: _conditional, ast.Subscript: _subscript, ast.Slice: _slice,
    ast.Tuple: _tuple, ast.List: _tuple, ast.Dict: _dict, ast.ListComp: _comprehension,
    ast.GeneratorExp: _comprehension, ast.Lambda: _lambda, ast.Call: _call, ast.NamedExpr: _named,
    ast.JoinedStr: _formatted, ast.DictComp: _dict_comprehension, ast.Set: _set, ast.SetComp: _set_comprehension,
}  # fmt: skip
_NAMED = (ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Call)
