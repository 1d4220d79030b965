"""Deep expressions as statements: parts get names of their own before, in Python's order (A-normal form above a depth).

Nothing behind meets an expression that is deeper than `DEEPEST`: a sum of 2,000 terms is 50 statements. Operands that
are evaluated before a part with a name get names, too, unless nothing can happen to them meanwhile. A choice that binds
names on one side only (``x > 0 and (y := f(x))``) counts as deep: it becomes a branch, whose paths meet as others do.
"""

from __future__ import annotations

import ast
import copy
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from dcpy.frontend.desugar import core
from dcpy.frontend.introspection.ast_traversal import walk
from dcpy.frontend.introspection.function_source import Source

DEEPEST = 40  # expressions in each other
Repeating = TypeVar("Repeating", ast.ListComp, ast.GeneratorExp, ast.DictComp)
Key = tuple[str, int | None]  # a field, and the position in it
_EVALUATED: dict[type[ast.AST], tuple[str, ...]] = {  # fields, in Python's order
    ast.BinOp: ("left", "right"), ast.UnaryOp: ("operand",), ast.Attribute: ("value",), ast.Starred: ("value",),
    ast.NamedExpr: ("value",), ast.Subscript: ("value", "slice"), ast.IfExp: ("test",), ast.BoolOp: ("values",),
    ast.Compare: ("left", "comparators"), ast.Call: ("func", "args", "keywords"), ast.Tuple: ("elts",),
    ast.List: ("elts",), ast.Set: ("elts",), ast.Slice: ("lower", "upper", "step"), ast.JoinedStr: ("values",),
    ast.FormattedValue: ("value",),
}  # fmt: skip
_SCOPES = ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_NAMED = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.IfExp, ast.Call, ast.Subscript, ast.Attribute)


def without_deep_expressions(
    statement: core.Statement, source: Source, name: Callable[[], str], *, names_change: bool
) -> core.Body:
    """The statement behind those that compute parts of it. `names_change`: functions that it calls may assign names."""
    match statement:
        case core.While():
            return (_with_test_inside(statement, source, name, names_change),)
        case core.Assign(targets=(ast.Subscript() as target,), annotation=None) if not _is_shallow(target):
            return _with_shallow_target(statement, target, source, name, names_change)
        case core.Augment(target=ast.Subscript() as target) if not _is_shallow(target):
            return _with_shallow_update(statement, target, source, name, names_change)
        case core.Define() if not all(map(_is_shallow, _defaults(statement.args))):
            return _with_shallow_defaults(statement, source, name, names_change)
    key = _field_to_split(statement)
    if not key:
        return (statement,)
    tree = getattr(statement, key)
    if not isinstance(tree, ast.expr):
        return (statement,)
    splitter = _Splitter(source, name, names_change)
    changed = splitter.shallow(tree)
    if changed is tree:
        return (statement,)
    fields: dict[str, Any] = {key: changed}
    return (*splitter.before, replace(statement, **fields))


def _field_to_split(statement: core.Statement) -> str:
    """Return the field with the expression that a statement begins with; "" where that stays as it is."""
    match statement:
        case core.Evaluate() | core.Assign(annotation=None) | core.Augment() | core.Return():
            return "value"
        case core.If() | core.Require():
            return "test"
        case core.For():
            return "iterable"
        case core.Assign(value=ast.expr() as value) if _has_binding_choice(value):
            return "value"
    return ""


def _with_shallow_target(
    statement: core.Assign, target: ast.Subscript, source: Source, name: Callable[[], str], names_change: bool
) -> core.Body:
    """The value first, as Python evaluates it, then the parts of the target."""
    splitter = _Splitter(source, name, names_change)
    value = statement.value
    if isinstance(value, ast.expr) and not isinstance(value, ast.Constant):
        value = splitter.kept(value)
    changed = splitter.shallow(target)
    return (*splitter.before, replace(statement, targets=(_stored(changed),), value=value))


def _with_shallow_update(
    statement: core.Augment, target: ast.Subscript, source: Source, name: Callable[[], str], names_change: bool
) -> core.Body:
    """The parts of the target first, as Python evaluates them, then those of the value."""
    splitter = _Splitter(source, name, names_change)
    changed = splitter.shallow(target)
    inner = replace(statement, target=_stored(changed))
    if not _is_shallow(changed):
        return (*splitter.before, inner)
    return (*splitter.before, *without_deep_expressions(inner, source, name, names_change=names_change))


def _stored(target: ast.expr) -> ast.expr:
    """The expression as a target."""
    made = copy.copy(target)
    if isinstance(made, ast.Subscript):
        made.ctx = ast.Store()
    return made


def _defaults(args: ast.arguments) -> list[ast.expr]:
    return [*args.defaults, *(value for value in args.kw_defaults if value is not None)]


def _with_shallow_defaults(
    statement: core.Define, source: Source, name: Callable[[], str], names_change: bool
) -> core.Body:
    """A function whose defaults are names: all of them, so that they are evaluated in Python's order."""
    splitter, args = _Splitter(source, name, names_change), copy.copy(statement.args)
    args.defaults = [splitter.kept(value) for value in args.defaults]
    args.kw_defaults = [None if value is None else splitter.kept(value) for value in args.kw_defaults]
    return (*splitter.before, replace(statement, args=args))


def _with_test_inside(loop: core.While, source: Source, name: Callable[[], str], names_change: bool) -> core.While:
    """A loop whose test is deep makes it at the head of each iteration: the parts belong to it."""
    if not isinstance(loop.test, ast.expr):
        return loop
    splitter = _Splitter(source, name, names_change)
    test = splitter.shallow(loop.test)
    if test is loop.test:
        return loop
    ends = core.If(test, (), (core.Break(span=loop.span),), span=source.span(loop.test))
    always = ast.copy_location(ast.Constant(True), loop.test)
    return replace(loop, test=always, body=(*splitter.before, ends, *loop.body))


@functools.lru_cache(maxsize=256)  # the same for each time that the comprehension is met: plans are kept by it
def with_functions(node: Repeating) -> Repeating:
    """A comprehension that calls a function for each part that is deep: functions have statements, which are split.

    What assigns names stays: they belong to the function around.
    """
    heights = _heights(list(walk(node)))
    if all(height <= DEEPEST for height in heights.values()):
        return node
    made = copy.copy(node)
    for part in ("elt", "key", "value"):
        if hasattr(node, part):
            setattr(made, part, _called(getattr(node, part), heights))
    made.generators = [
        ast.comprehension(each.target, each.iter, [_called(test, heights) for test in each.ifs], each.is_async)
        for each in node.generators
    ]
    return made


def _called(value: ast.expr, heights: dict[ast.AST, int]) -> ast.expr:
    if heights[value] <= DEEPEST or any(isinstance(part, ast.NamedExpr) for part in walk(value)):
        return value
    function = ast.copy_location(ast.Lambda(ast.arguments([], [], None, [], [], None, []), value), value)
    return ast.copy_location(ast.Call(function, [], []), value)


@dataclass
class _Splitter:
    source: Source
    name: Callable[[], str]
    names_change: bool
    before: list[core.Statement] = field(default_factory=list)

    def shallow(self, tree: ast.expr) -> ast.expr:
        """The expression, at most `DEEPEST` deep; what it needs is computed by the statements `before`."""
        if _is_shallow(tree):
            return tree
        nodes = list(walk(tree))
        heights = _heights(nodes)
        if heights[tree] <= DEEPEST:
            return tree
        self.names_change = self.names_change or any(isinstance(node, ast.NamedExpr) for node in nodes)
        path, bottom = _path(tree, heights)
        levels = [(self._earlier_named(parent, key), key) for parent, key in path]
        height = heights[bottom]
        if height > DEEPEST:
            bottom, height = self._by_branches(bottom, heights), 1
        return self._joined(levels, bottom, height, heights)

    def kept(self, value: ast.expr) -> ast.expr:
        """A name for the value of an expression, which is computed by the statements `before`."""
        return value if isinstance(value, ast.Constant) else self._named(self.shallow(value))

    def _joined(
        self, levels: list[tuple[ast.expr, Key]], bottom: ast.expr, height: int, heights: dict[ast.AST, int]
    ) -> ast.expr:
        """The levels around `bottom`, from the inside out; a name each time that enough of them are in each other."""
        current = bottom
        for number, (parent, key) in enumerate(reversed(levels)):
            later = [(other, operand) for other, operand in _after(parent, key) if heights.get(operand, 0) > DEEPEST]
            if later and not isinstance(current, ast.Name):
                current = self._named(current)
            current = _with(parent, key, current)
            for other, operand in later:
                current = _with(current, other, self.shallow(operand))
            height = DEEPEST if later else height + 1
            is_function = number + 1 < len(levels) and levels[-number - 2][1] == ("func", None)
            if height >= DEEPEST and isinstance(current, _NAMED) and number + 1 < len(levels) and not is_function:
                current, height = self._named(current), 1
        return current

    def _earlier_named(self, parent: ast.expr, key: Key) -> ast.expr:
        """The expression in which operands that come before the one at `key` are names."""
        for other, operand in _operands(parent):
            if other == key:
                return parent
            fixed = self._fixed(operand)
            if fixed is not operand:
                parent = _with(parent, other, fixed)
        return parent

    def _fixed(self, operand: ast.expr) -> ast.expr:
        """An operand that is the same if it is evaluated later."""
        match operand:
            case ast.Name() if self.names_change:
                return self._named(operand)
            case ast.Attribute(value=value) if not _is_dotted(operand):
                return _with(operand, ("value", None), self._fixed(value))
        if isinstance(operand, _NAMED) and not isinstance(operand, ast.Attribute):
            return self._named(self.shallow(operand))
        return operand

    def _named(self, value: ast.expr) -> ast.expr:
        name = self.name()
        self.before.append(self._bound(name, value))
        return ast.copy_location(ast.Name(name, ast.Load()), value)

    def _bound(self, name: str, value: ast.expr) -> core.Statement:
        target = ast.copy_location(ast.Name(name, ast.Store()), value)
        return core.Assign((target,), value, span=self.source.span(value))

    def _by_branches(self, tree: ast.expr, heights: dict[ast.AST, int]) -> ast.expr:
        """A choice of which a side is deep, as a branch."""
        match tree:
            case ast.IfExp():
                chain = [tree]
                while isinstance(chain[-1].orelse, ast.IfExp) and heights[chain[-1].orelse] > DEEPEST // 2:
                    chain.append(chain[-1].orelse)
                name = self.name()
                made = self._side(name, chain[-1].orelse)
                for part in reversed(chain):
                    inner = _Splitter(self.source, self.name, self.names_change)
                    test = inner.shallow(part.test)
                    branch = core.If(test, self._side(name, part.body), made, span=self.source.span(part.test))
                    made = (*inner.before, branch)
            case ast.Compare(comparators=[_, *others]) if any(map(_binds, others)):
                return self._by_branches(self._links(tree), heights)
            case ast.BoolOp(op=op):
                name = self.name()
                first, *others = self._groups(tree, heights)
                made = self._side(name, first)
                for group in others:  # the value so far decides whether the next one is evaluated
                    sides: tuple[core.Body, core.Body] = (self._side(name, group), ())
                    yes, no = sides if isinstance(op, ast.And) else sides[::-1]
                    test = ast.copy_location(ast.Name(name, ast.Load()), group)
                    made += (core.If(test, yes, no, span=self.source.span(group)),)
            case _:
                return tree
        self.before += made
        return ast.copy_location(ast.Name(name, ast.Load()), tree)

    def _links(self, tree: ast.Compare) -> ast.BoolOp:
        """``a < b < c`` as ``a < (m := b) and m < c``."""
        links: list[ast.expr] = []
        left = tree.left
        for symbol, right in zip(tree.ops[:-1], tree.comparators[:-1], strict=True):
            name = self.name()
            held = ast.copy_location(ast.NamedExpr(ast.copy_location(ast.Name(name, ast.Store()), right), right), right)
            links.append(ast.copy_location(ast.Compare(left, [symbol], [held]), tree))
            left = ast.copy_location(ast.Name(name, ast.Load()), right)
        last = ast.Compare(left, tree.ops[-1:], tree.comparators[-1:])
        return ast.copy_location(ast.BoolOp(ast.And(), [*links, ast.copy_location(last, tree)]), tree)

    def _groups(self, tree: ast.BoolOp, heights: dict[ast.AST, int]) -> Iterator[ast.expr]:
        """The values of ``and`` or ``or``, some at a time that are not deep together, and of which the first may bind
        names.
        """
        rest = list(tree.values)
        while rest:
            deep = (number for number, value in enumerate(rest)
                    if heights.get(value, 0) > DEEPEST // 2 or (number and _binds(value)))  # fmt: skip
            some = max(1, min(DEEPEST // 4, next(deep, len(rest))))
            group, rest = rest[:some], rest[some:]
            yield group[0] if some == 1 else ast.copy_location(ast.BoolOp(tree.op, group), group[0])

    def _side(self, name: str, value: ast.expr) -> core.Body:
        inner = _Splitter(self.source, self.name, self.names_change)
        bound = self._bound(name, inner.shallow(value))
        return (*inner.before, bound)


def _is_shallow(tree: ast.expr) -> bool:
    """Return whether an expression is surely not too deep, and binds no names: most are, and are asked about one level
    at a time, not one part.
    """
    level: list[Any] = [tree]
    depth = 0
    while level:
        depth += 1 + sum([len(node.values) for node in level if type(node) is ast.BoolOp])
        if depth > DEEPEST or any([type(node) is ast.NamedExpr for node in level]):
            return False
        values = [value for node in level for value in vars(node).values()]
        level = [item for value in values if type(value) is list for item in value if isinstance(item, ast.AST)]
        level += [value for value in values if isinstance(value, ast.AST)]
    return True


def _heights(nodes: list[ast.AST]) -> dict[ast.AST, int]:
    """Return the nesting depth of each of `nodes`, which list parents before their parts.

    The values of ``and`` and ``or`` are in each other: the first one decides about the others. A choice that binds
    names is deeper than all others; for what is around a scope, what is in there is not.
    """
    heights: dict[ast.AST, int] = {}
    plain: dict[ast.AST, int] = {}
    for node in reversed(nodes):
        children = list(ast.iter_child_nodes(node))
        own = len(node.values) - 1 if isinstance(node, ast.BoolOp) else isinstance(node, ast.expr)
        plain[node] = own + max((plain[child] for child in children), default=0)
        below = max((heights[child] for child in children), default=0)
        heights[node] = plain[node] if isinstance(node, _SCOPES) else below + own
        if _binds_by_choice(node):
            heights[node] = max(heights[node], DEEPEST + 1)
    return heights


def _binds_by_choice(node: ast.AST) -> bool:
    """Return whether a part that is evaluated only sometimes binds names."""
    match node:
        case ast.IfExp(body=body, orelse=orelse):
            return _binds(body) or _binds(orelse)
        case ast.BoolOp(values=[_, *others]) | ast.Compare(comparators=[_, *others]):
            return any(map(_binds, others))
    return False


def _binds(tree: ast.AST) -> bool:
    return any(isinstance(part, ast.NamedExpr) for part in walk(tree))


def _has_binding_choice(tree: ast.expr) -> bool:
    return _binds(tree) and any(map(_binds_by_choice, walk(tree)))


def _path(tree: ast.expr, heights: dict[ast.AST, int]) -> tuple[list[tuple[ast.expr, Key]], ast.expr]:
    """The way from an expression down to a part that is not too deep, or may not evaluate what is deep."""
    path: list[tuple[ast.expr, Key]] = []
    node = tree
    while heights[node] > DEEPEST // 2 and not _binds_by_choice(node):
        deepest = max(_operands(node), key=lambda found: heights[found[1]], default=None)
        if deepest is None or heights[deepest[1]] + 1 < heights[node]:
            break
        path.append((node, deepest[0]))
        node = deepest[1]
    return path, node


def _operands(node: ast.expr) -> Iterator[tuple[Key, ast.expr]]:
    """The parts of an expression that are evaluated in any case, in their order."""
    for name in _EVALUATED.get(type(node), ()):
        value = getattr(node, name)
        if value is None:  # of a slice
            continue
        if not isinstance(value, list):
            yield (name, None), value
            continue
        certain = value[:1] if isinstance(node, ast.BoolOp | ast.Compare) else value
        for position, part in enumerate(certain):
            yield (name, position), part.value if isinstance(part, ast.keyword) else part


def _after(node: ast.expr, key: Key) -> list[tuple[Key, ast.expr]]:
    operands = list(_operands(node))
    return operands[[other for other, _ in operands].index(key) + 1 :]


def _with(node: ast.expr, key: Key, operand: ast.expr) -> ast.expr:
    """A copy of the expression with another operand: trees are shared by all readers of the source."""
    name, position = key
    changed = copy.copy(node)
    if position is None:
        setattr(changed, name, operand)
        return changed
    parts: list[Any] = list(getattr(node, name))
    if name == "keywords":
        keyword = copy.copy(parts[position])
        keyword.value = operand
        parts[position] = keyword
    else:
        parts[position] = operand
    setattr(changed, name, parts)
    return changed


def _is_dotted(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)
