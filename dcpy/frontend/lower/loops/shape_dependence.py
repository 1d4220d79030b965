"""Shape dependence: which slices, axes and new arrays the index of a loop shapes, directly or through other numbers.

An index shapes a slice where it is in a bound of one, says an axis, a shape or another number that must be known,
chooses from a list whose items differ in kind, decides a branch with slices, or goes to a function that does so with
it. This looks at the program's text, and a wrong answer costs time only: either answer is correct.
"""

from __future__ import annotations

import ast
import types as python_types
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from dcpy.base.errors import DcpyError
from dcpy.frontend.abstract_values.list_values import ListRef, ListValue
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    DictValue,
    FunctionValue,
    Static,
    TupleValue,
    Value,
    is_number,
    parts_of,
)
from dcpy.frontend.desugar import core
from dcpy.frontend.desugar.bound_and_free_names import bound_names
from dcpy.frontend.desugar.statements import desugar
from dcpy.frontend.implements import RegisteredFunction, find, find_method
from dcpy.frontend.introspection.ast_traversal import walk
from dcpy.frontend.introspection.closure import Closure
from dcpy.frontend.introspection.function_source import read_source
from dcpy.frontend.lower.sequences import list_references

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

DEEPEST_CALL = 3
Names = frozenset[str]

#: parameters of NumPy's functions that say which shape a result has, where a slice lies, or what is computed at all
_SHAPING = frozenset({
    "axis", "axes", "axis1", "axis2", "source", "destination", "shape", "newshape", "N", "M", "k", "n", "reps",
    "repeats", "num", "pad_width", "shift", "indices_or_sections", "offset", "ord", "deg", "decimals",
})  # fmt: skip
_NUMBERS = frozenset({"int", "bool", "min", "max", "abs", "len", "range", "slice", "divmod", "round", "tuple", "list"})



def shapes_slices(frame: Frame, body: core.Body, index: Names) -> bool:
    """Return whether one of the names `index`, or a number that is computed from them, shapes a slice in `body`."""
    return _Shapes(_LookupScope(frame)).found(body, index)


def decides_branches(frame: Frame, body: core.Body, index: Names, short: int) -> bool:
    """Return whether copies of `body`, one for each iteration over the names `index`, gain by branches.

    A branch that the index alone decides is gone from the copies. One that it decides together with what the run time
    knows stays a choice: copies gain where the loop around them may become one of vectors, which it cannot be around a
    loop of more than `short` iterations.
    """
    shapes = _Shapes(_LookupScope(frame))
    inside = [*core.statements_in(body)]
    names, known = shapes.following(body, index), shapes.known(inside, index)
    tests = [each.test for each in inside if isinstance(each, core.If) and shapes.decides(each.test, names)]
    if any(shapes.is_known(test, known) for test in tests):
        return True
    return bool(tests) and not any(shapes.is_long(each, known, short) for each in inside)


@dataclass(frozen=True)
class _LookupScope:
    """Scope in which names are looked up: a frame, or a called function (`closure`), of which no name is known."""

    frame: Frame | None
    closure: Closure | None = None
    own: Names = frozenset()  # variables of the function

    def value(self, name: str) -> Value | None:
        """Return the value of a name; None where it is not known, or not yet."""
        place = self.frame
        while place is not None:
            if name in place.env:
                value = place.env[name]
                return _content(place, value) if isinstance(value, ListRef) else value
            if name in place.locals or place.outer is None:
                break
            place = place.outer
        closure = self.closure if place is None else place.closure
        if closure is None or name in self.own or (place is not None and name in place.locals):
            return None
        known, found = closure.peek(name)
        return Static(found) if known else None

    def function(self, tree: ast.expr) -> Value | None:
        """Return the called function: of a module, of the user's, or nested in a function."""
        match tree:
            case ast.Name(id=name):
                return self.value(name)
            case ast.Attribute(value=owner, attr=name):
                module = self.function(owner)
                if isinstance(module, Static) and isinstance(module.value, python_types.ModuleType):
                    return Static(getattr(module.value, name, None))
        return None


def _content(frame: Frame, value: ListRef) -> Value | None:
    return frame.env.get(value.key + list_references.ITEMS)


@dataclass
class _Shapes:
    """Looks for what the index of a loop, or an argument of a function, shapes."""

    place: _LookupScope
    depth: int = 0
    list_names: set[str] = field(default_factory=set)  # names of lists made inside
    defined: dict[str, core.Define] = field(default_factory=dict)  # functions made inside

    def found(self, body: core.Body, index: Names) -> bool:
        """Return whether names that stand for `index` at first, and what is computed from them, shape a slice in
        `body`.
        """
        inside = list(core.statements_in(body))
        for statement in inside:  # which grows meanwhile
            if isinstance(statement, core.Define):
                self.defined[statement.name] = statement
                inside += core.statements_in(statement.body)
        self._note_lists(inside)
        names = self.following(body, index)
        if any(self._decides_slices(statement, names) for statement in inside):
            return True
        return any(self._shapes(tree, names) for statement in inside for tree in _trees(statement))

    def _note_lists(self, inside: list[core.Statement]) -> None:
        for statement in inside:
            if isinstance(statement, core.Assign) and isinstance(statement.value, ast.AST):
                displays = [part for part in walk(statement.value) if isinstance(part, ast.List | ast.ListComp)]
                plain = all(isinstance(part, ast.Constant) for shown in displays for part in getattr(shown, "elts", ()))
                if displays and not plain and isinstance(statement.value, ast.List | ast.ListComp | ast.BinOp):
                    self.list_names.update(name for target in statement.targets for name in bound_names(target))

    # -- names that follow the index -----------------------------------------------------------------------------------

    def following(self, body: core.Body, index: Names) -> Names:
        """Return the names, and those of numbers that are computed from them."""
        names = index
        while True:
            more = names | frozenset(self._followers(body, names, decided=False))
            if more == names:
                return names
            names = more

    def _followers(self, body: core.Body, names: Names, *, decided: bool) -> Iterator[str]:
        """Names that get a number computed from `names`, or a number where these decide whether (`decided`)."""
        for statement in body:
            match statement:
                case core.Assign(targets=targets, value=ast.AST() as value):
                    if self._is_plain(value) and (decided or self._mentions(value, names)):
                        yield from (name for target in targets for name in bound_names(target))
                case core.Augment(target=ast.Name(id=name), value=value):
                    if self._is_plain(value) and not self._is_array(name) and self._mentions(value, names):
                        yield name
                case core.For(iterable=iterable):
                    if self._is_plain(iterable) and self._mentions(iterable, names):
                        yield from statement.targets_bound()
            hit = isinstance(statement, core.If) and any(self.decides(part.test, names) for part in statement.chain())
            for side in statement.sides():
                yield from self._followers(side, names, decided=decided or hit)

    def decides(self, test: object, names: Names) -> bool:
        """Return whether `names` alone decide a condition."""
        return isinstance(test, ast.AST) and self._is_plain(test) and self._mentions(test, names)

    def known(self, inside: list[core.Statement], index: Names) -> Names:
        """Return `index` and the names that the statements bind to numbers known where those of `index` are."""
        names = index.union(*(each.targets_bound() for each in inside))
        known = names
        while True:
            unknown = (each.targets_bound() for each in inside if not self._binds_known(each, known))
            fewer = names.difference(*unknown)
            if fewer == known:
                return known
            known = fewer

    def _binds_known(self, statement: core.Statement, known: Names) -> bool:
        match statement:
            case core.Assign(value=value) | core.For(iterable=value):
                return self.is_known(value, known)
        return False

    def is_known(self, tree: object, known: Names) -> bool:
        """Return whether an expression is computed from constants and from names that are `known`."""
        if not isinstance(tree, ast.AST) or not self._is_plain(tree):
            return False
        return all(part.id in known or isinstance(self.place.value(part.id), Static) for part in _variables(tree))

    def is_long(self, statement: core.Statement, known: Names, short: int) -> bool:
        """Return whether it is a loop that may have more than `short` iterations."""
        if not isinstance(statement, core.For) or not self.is_known(statement.iterable, known):
            return isinstance(statement, core.For | core.While)
        named = [self.place.value(part.id) for part in _variables(statement.iterable) if part.id not in known]
        parts = (*walk(statement.iterable), *named)
        numbers = (part.value for part in parts if isinstance(part, ast.Constant | Static))
        return any(isinstance(number, int) and number > short for number in numbers)

    def _is_array(self, name: str) -> bool:
        value = self.place.value(name)
        return isinstance(value, ArrayValue | ListValue) or (
            isinstance(value, Static) and isinstance(value.value, np.ndarray)
        )

    def _is_plain(self, tree: ast.AST) -> bool:
        """Return whether an expression is made of numbers, slices and tuples, as far as one can see."""
        match tree:
            case ast.Name(id=name):
                return not self._is_array(name)
            case ast.Constant(value=value):
                return value is None or isinstance(value, int)
            case ast.Attribute(attr=name):
                return name in ("shape", "ndim", "size")
            case ast.Call(func=ast.Name(id=name), args=args):
                return name in _NUMBERS and (name == "len" or all(map(self._is_plain, args)))
            case ast.Subscript(value=owner, slice=key):
                return self._is_plain(owner) and self._is_plain(key)
            case ast.ListComp() | ast.GeneratorExp():
                return self._is_plain(tree.elt)
            case ast.BinOp() | ast.UnaryOp() | ast.BoolOp() | ast.Compare() | ast.IfExp() | ast.Tuple() | ast.List():
                parts = [part for part in ast.iter_child_nodes(tree) if isinstance(part, ast.expr)]
                return all(map(self._is_plain, parts))
        return False

    def _mentions(self, tree: ast.AST, names: Names) -> bool:
        """Return whether one of `names` is in an expression; elements of arrays do not depend on their index."""
        match tree:
            case ast.Name(id=name):
                return name in names
            case ast.Subscript(value=ast.Name(id=owner)) if self._is_array(owner):
                return False
        return any(self._mentions(part, names) for part in ast.iter_child_nodes(tree))

    # -- what they shape -----------------------------------------------------------------------------------------------

    def _decides_slices(self, statement: core.Statement, names: Names) -> bool:
        """Return whether `names` decide a branch with slices, which fuse with their neighbours where no branch is."""
        if not isinstance(statement, core.If) or not self.decides(statement.test, names):
            return False
        sides = (each for side in statement.sides() for each in core.statements_in(side))
        return any(_has_slices(tree) for each in sides for tree in _trees(each))

    def _shapes(self, tree: ast.AST, names: Names) -> bool:
        for part in walk(tree):
            match part:
                case ast.Slice():
                    bounds = (part.lower, part.upper, part.step)
                    if any(bound is not None and self._mentions(bound, names) for bound in bounds):
                        return True
                case ast.IfExp(test=test):
                    if _has_slices(part) and self.decides(test, names):
                        return True
                case ast.Subscript(value=owner, slice=key):
                    if self._mentions(key, names) and self._is_list_of_kinds(owner):
                        return True
                case ast.Call():
                    if self._is_shaping_call(part, names):
                        return True
        return False

    def _is_list_of_kinds(self, owner: ast.expr) -> bool:
        """Return whether the items of a list differ, so that one of them is no number known at run time."""
        while isinstance(owner, ast.Subscript):
            owner = owner.value
        if not isinstance(owner, ast.Name):
            return False
        value = self.place.value(owner.id)
        return owner.id in self.list_names if value is None else _differ(value)

    def _is_shaping_call(self, call: ast.Call, names: Names) -> bool:
        given = [(None, position, arg) for position, arg in enumerate(call.args)]
        given += [(keyword.arg, 0, keyword.value) for keyword in call.keywords]  # type: ignore[misc]
        given = [each for each in given if self._mentions(each[2], names) and self._is_plain(each[2])]
        if not given:
            return False
        if isinstance(call.func, ast.Name) and call.func.id == "slice":
            return True
        function = self.place.function(call.func)
        if isinstance(function, Static) and function.value is np.arange:
            return True
        entry = _entry(function, call.func)
        if entry is not None:
            parameters = list(entry.signature.parameters)[isinstance(function, type(None)) :]
            bound = [name or parameters[min(at, len(parameters) - 1)] for name, at, _ in given]
            return not _SHAPING.isdisjoint(bound)
        inside = self.defined.get(call.func.id) if isinstance(call.func, ast.Name) else None
        found = _definition(function) if inside is None else (inside, self.place)
        return found is not None and self._is_shaping_function(*found, {name or at for name, at, _ in given})

    def _is_shaping_function(self, define: core.Define, place: _LookupScope, given: set[str | int]) -> bool:
        """Return whether a function of the user's shapes a slice by its arguments `given`, by position or by name."""
        if self.depth == DEEPEST_CALL:
            return False
        positional = [arg.arg for arg in (*define.args.posonlyargs, *define.args.args)]
        named = {positional[at] if isinstance(at, int) and at < len(positional) else str(at) for at in given}
        return _Shapes(place, self.depth + 1).found(define.body, frozenset(named))


def _variables(tree: ast.AST) -> Iterator[ast.Name]:
    return (part for part in walk(tree) if isinstance(part, ast.Name) and part.id not in _NUMBERS)


def _has_slices(tree: ast.AST) -> bool:
    return any(isinstance(part, ast.Slice) for part in walk(tree))


def _trees(statement: core.Statement) -> list[ast.AST]:
    return [tree for tree in statement.expressions() if isinstance(tree, ast.AST)]


def _entry(function: Value | None, tree: ast.expr) -> RegisteredFunction | None:
    if function is None:
        return find_method(tree.attr) if isinstance(tree, ast.Attribute) else None
    return find(function.value) if isinstance(function, Static) else None


def _definition(function: Value | None) -> tuple[core.Define, _LookupScope] | None:
    """The statements of a function that is called, and where its names are."""
    match function:
        case FunctionValue(definition=define, scope=frame):
            return define, _LookupScope(frame)
        case Static(value=python_types.FunctionType() as found):
            try:
                define = desugar(read_source(found))
            except DcpyError:
                return None  # the error is raised where it is called
            own = frozenset(name for statement in define.body for name in statement.bound)
            parameters = {arg.arg for arg in (*define.args.posonlyargs, *define.args.args, *define.args.kwonlyargs)}
            return define, _LookupScope(None, Closure(found, {}), own | parameters)
    return None


def _differ(value: Value) -> bool:
    """Return whether the items of a list or tuple are arrays, slices or functions, or numbers of several types."""
    leaves = list(_leaves(value))
    if not leaves or leaves == [value]:
        return False
    if not all(map(is_number, leaves)):
        return not all(isinstance(leaf, Static) and isinstance(leaf.value, str) for leaf in leaves)
    return len({type(leaf.value) if isinstance(leaf, Static) else type(leaf) for leaf in leaves}) > 1


def _leaves(value: Value) -> Iterator[Value]:
    match value:
        case TupleValue() | DictValue():
            for part in parts_of(value):
                yield from _leaves(part)
        case Static(value=tuple() | list() as known):
            for item in known:
                yield from _leaves(Static(item))
        case Static(value=dict() as table):
            for item in table.values():
                yield from _leaves(Static(item))
        case _:
            yield value

