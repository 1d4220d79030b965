"""Generator splitting: generators as functions that run from one ``yield`` to the next.

``yield x`` becomes ``return (k, x, (names, ...))``: the number of the place, the item, and what the names stand for
that are read later. What follows the place is the rest of its block, then the loops around it once more, each followed
by the rest of the block that it is in. Loops over items become loops over positions, which are names as others are.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import CodeType

from dcpy.base.errors import FrontendError
from dcpy.frontend.desugar.bound_and_free_names import parameter_names, walrus_names
from dcpy.frontend.desugar.generator_splicing import Find, spliced
from dcpy.frontend.desugar.liveness import NOTHING, Liveness
from dcpy.frontend.desugar.match_statement import match_as_branches
from dcpy.frontend.desugar.statements import Desugarer
from dcpy.frontend.introspection.function_source import Source

COUNT_ITEMS = "dcpy_count_items"  # the name by which steps know the function of dcpy's own
START, END = -1, -1  # the place before the first statement; what a step returns that has come to the end
Statements = list[ast.stmt]
OWN, EMPTY = "own", "empty"  # lists that only the generator has: the step makes one of its own of what is passed
#: of a tuple among the names, which is passed item by item; of a list; None of anything else
Shape = tuple["Shape", ...] | str | None


@dataclass
class Resuming:
    """The steps of one generator, numbered as its ``yield``s are in the text."""

    source: Source
    find: Find = field(default=lambda name: None, repr=False)
    inner: dict[str, CodeType] = field(default_factory=dict)  # the generators that it loops over, by name
    body: Statements = field(init=False)
    places: list[ast.stmt] = field(init=False)
    names: dict[int, tuple[str, ...]] = field(init=False)  # what is read after each place

    def __post_init__(self) -> None:
        node = self.source.node
        assert isinstance(node, ast.FunctionDef)
        self.body = _Loops(self.source, self.find, _names(node)).block(copy.deepcopy(node.body))
        self.places = [part for part in _own_parts(self.body) if _is_yield(part)]
        self.names = dict.fromkeys(range(len(self.places)), ())
        while True:
            found = {k: self._read_after(k) for k in self.names}
            if found == self.names:
                return
            self.names = found

    def step(self, place: int, shapes: Sequence[Shape] = ()) -> ast.FunctionDef:
        """The function that goes on behind a place; `shapes` are those of what the names stand for."""
        node = self.source.node
        assert isinstance(node, ast.FunctionDef)
        if place == START:
            made = ast.FunctionDef(node.name, node.args, self._returning(self.body), [], None)
        else:
            leaves: list[str] = []
            shaped = zip(self.names[place], shapes, strict=True)
            unpacked = [_assigned(name, _rebuilt(name, shape, leaves)) for name, shape in shaped if shape is not None]
            plain = [name for name, shape in zip(self.names[place], shapes, strict=True) if shape in (None, OWN)]
            args = ast.arguments([], [ast.arg(name) for name in (*plain, *leaves)], None, [], [], None, [])
            rest = _after(self.body, self.places[place])
            assert rest is not None
            body = [*unpacked, *self._functions(), *self._returning(rest)]
            made = ast.FunctionDef(node.name, args, body, [], None)
        return _located(copy.deepcopy(ast.copy_location(made, node)))

    def _functions(self) -> Statements:
        """Functions that are defined inside, whose names do not go from step to step."""
        return [part for part in self.body if isinstance(part, ast.FunctionDef)]

    def _returning(self, body: Statements) -> Statements:
        """The statements with ``return`` where they yield or return."""
        numbers = {id(place): number for number, place in enumerate(self.places)}
        turned = _Returns(numbers, self.names).block(body)
        end = ast.Return(_state(ast.Constant(END), ast.Constant(None), ()))
        if body:
            ast.copy_location(end, body[-1])
        return [*turned, end]

    def _read_after(self, place: int) -> tuple[str, ...]:
        """The variables that what follows a place may read."""
        step = self.step(place, [None] * len(self.names[place]))
        define = Desugarer(self.source, top=True).function(step)
        read = Liveness(define).block(define.body, NOTHING)
        own = {*parameter_names(self.source.node.args), *_assigned_names(self.body)}
        return tuple(sorted(read & own))


def _names(node: ast.FunctionDef) -> set[str]:
    return {*parameter_names(node.args), *_assigned_names(node.body)}


def _assigned_names(body: Sequence[ast.AST]) -> Iterator[str]:
    """Variables that statements assign: not those of functions and comprehensions inside."""
    for part in body:
        if isinstance(part, ast.FunctionDef | ast.Lambda):
            continue
        if isinstance(part, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            yield from walrus_names(part)
            continue
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id
        yield from _assigned_names(list(ast.iter_child_nodes(part)))


def _is_yield(part: ast.AST) -> bool:
    return isinstance(part, ast.Expr) and isinstance(part.value, ast.Yield)


def _own_parts(body: Sequence[ast.AST]) -> list[ast.stmt]:
    """All statements of a function in the order of the text; not those of functions inside."""
    found: list[ast.stmt] = []
    for part in body:
        if isinstance(part, ast.stmt):
            found.append(part)
        if not isinstance(part, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            found += _own_parts(list(ast.iter_child_nodes(part)))
    return found


def _has_yield(part: ast.AST) -> bool:
    return any(map(_is_yield, _own_parts([part])))


def _after(body: Statements, place: ast.stmt) -> Statements | None:
    """Return the statements that run after `place` in a block; None where the block does not contain it."""
    for position, statement in enumerate(body):
        rest = body[position + 1 :]
        if statement is place:
            return list(rest)
        match statement:
            case ast.If():
                found = _after(statement.body, place)
                found = _after(statement.orelse, place) if found is None else found
                if found is not None:
                    return [*found, *rest]
            case ast.With(items=managers):
                found = _after(statement.body, place)
                if found is not None:
                    again = [ast.copy_location(ast.With(managers, found), statement)] if found else []
                    return [*again, *rest]
            case ast.While():
                found = _after(statement.body, place)
                if found is not None:
                    return [*_then_again(found, statement), *rest]
                found = _after(statement.orelse, place)
                if found is not None:
                    return [*found, *rest]
    return None


def _then_again(rest: Statements, loop: ast.While) -> Statements:
    """The rest of an iteration, then the loop: a loop of one iteration, where the rest leaves it."""
    if not any(map(_jumps, rest)):
        return [*rest, loop]
    left = f"left_{loop.lineno}_{loop.col_offset}"
    once = ast.While(ast.Constant(True), [*_OneIterationLoop(left).block(rest), ast.Break()], [])
    again = ast.If(ast.UnaryOp(ast.Not(), ast.Name(left, ast.Load())), [loop], [])
    for part in (once, again):
        ast.copy_location(part, loop)
    return [_assigned(left, ast.Constant(False)), once, again]


def _jumps(part: ast.AST) -> bool:
    """Return whether a statement has a jump of the loop that it is in."""
    if isinstance(part, ast.Break | ast.Continue):
        return True
    if isinstance(part, ast.For | ast.While | ast.FunctionDef | ast.ClassDef):
        return any(map(_jumps, getattr(part, "orelse", [])))
    return any(_jumps(inner) for inner in ast.iter_child_nodes(part) if isinstance(inner, ast.stmt))


class _Blocks:
    """A copy of a block with other statements."""

    def block(self, body: Statements) -> Statements:
        """The statements, each as it is from now on."""
        return [made for part in body for made in self.statement(part)]

    def statement(self, part: ast.stmt) -> Statements:
        """One statement; those inside of branches and loops as well. What is not changed stays itself."""
        match part:
            case ast.If(test=test, body=body, orelse=orelse):
                return [ast.copy_location(ast.If(test, self.block(body), self.block(orelse)), part)]
            case ast.While(test=test, body=body, orelse=orelse):
                return [ast.copy_location(ast.While(test, self.block(body), self.block(orelse)), part)]
            case ast.For(target=target, iter=items, body=body, orelse=orelse):
                return [ast.copy_location(ast.For(target, items, self.block(body), self.block(orelse)), part)]
            case ast.With(items=managers, body=body):
                return [ast.copy_location(ast.With(managers, self.block(body)), part)]
        return [part]


@dataclass
class _Returns(_Blocks):
    """``return`` for ``yield``, with the number of the place and what the names stand for."""

    numbers: dict[int, int]
    names: dict[int, tuple[str, ...]]

    def statement(self, part: ast.stmt) -> Statements:
        """One statement."""
        number = self.numbers.get(id(part))
        if number is not None:
            assert isinstance(part, ast.Expr)
            assert isinstance(part.value, ast.Yield)
            value = part.value.value or ast.Constant(None)
            return [ast.copy_location(ast.Return(_state(ast.Constant(number), value, self.names[number])), part)]
        if isinstance(part, ast.Return):
            value = part.value or ast.Constant(None)
            return [ast.copy_location(ast.Return(_state(ast.Constant(END), value, ())), part)]
        return super().statement(part)


@dataclass
class _OneIterationLoop(_Blocks):
    """A body as that of a loop of one iteration: ``break`` says that it has left the loop around."""

    left: str

    def statement(self, part: ast.stmt) -> Statements:
        """One statement; loops inside have jumps of their own."""
        if isinstance(part, ast.For | ast.While):
            return [part]
        if isinstance(part, ast.Continue):
            return [ast.copy_location(ast.Break(), part)]
        if isinstance(part, ast.Break):
            return [_assigned(self.left, ast.Constant(True)), part]
        return super().statement(part)


@dataclass
class _Loops(_Blocks):
    """Loops that yield, as loops over positions; ``yield from`` as a loop."""

    source: Source
    find: Find
    taken: set[str]  # the names of the generator
    around: tuple[str, ...] = ()  # the generators whose statements are being written
    count: int = 0

    def statement(self, part: ast.stmt) -> Statements:
        """One statement, places kept as they are."""
        match part:
            case ast.Expr(value=ast.YieldFrom(value=items)):
                name = self._fresh("item", part)
                taken = ast.Expr(ast.Yield(ast.Name(name, ast.Load())))
                loop = ast.For(ast.Name(name, ast.Store()), items, [ast.copy_location(taken, part)], [])
                return self.statement(ast.copy_location(loop, part))
            case ast.For() if _has_yield(part):
                inner = spliced(part, self.find, self.around, self._fresh("inner", part) + "_", self.taken)
                return self._positions(part) if inner is None else self._inside(part, inner)
            case ast.Match() if _has_yield(part):
                return [inner for made in match_as_branches(part, self._fresh("matched", part), self.source)
                        for inner in self.statement(made)]  # fmt: skip
            case ast.With(items=managers) if _has_yield(part) and all(one.optional_vars is None for one in managers):
                return super().statement(part)
            case ast.With() | ast.Try() if _has_yield(part):
                raise FrontendError(
                    "a generator yields inside of `try`, or of `with ... as`",
                    span=self.source.span(part),
                    notes=("the end of the block would have to wait for the next item",),
                    help="yield behind it, or branch with `if`",
                )
            case ast.If() | ast.While():
                return super().statement(part)
        return [part]

    def _inside(self, loop: ast.For, inner: Statements) -> Statements:
        """The statements of a generator that the loop asks for items."""
        assert isinstance(loop.iter, ast.Call)
        assert isinstance(loop.iter.func, ast.Name)
        before, self.around = self.around, (*self.around, loop.iter.func.id)
        found = self.block(inner)
        self.around = before
        return found

    def _fresh(self, stem: str, part: ast.stmt) -> str:
        self.count += 1
        return f"{stem}_{part.lineno}_{self.count}"

    def _positions(self, loop: ast.For) -> Statements:
        match loop.iter:
            case ast.Call(func=ast.Name(id="range"), args=[*bounds], keywords=[]) if 0 < len(bounds) < 4:
                made = self._range(loop, bounds)
            case ast.Call(func=ast.Name(id="enumerate"), args=[items, *start], keywords=[]) if len(start) < 2:
                made = self._items(loop, [items], counted=[*start, ast.Constant(0)][0])
            case ast.Call(func=ast.Name(id="enumerate"), args=[items], keywords=[ast.keyword("start", start)]):
                made = self._items(loop, [items], counted=start)
            case ast.Call(func=ast.Name(id="zip"), args=[_, *_] as several, keywords=more) if all(map(_off, more)):
                made = self._items(loop, several, zipped=True)
            case _:
                made = self._items(loop, [loop.iter])
        return [ast.copy_location(part, loop) for part in made]

    def _range(self, loop: ast.For, bounds: list[ast.expr]) -> Statements:
        place, stop, step = (self._fresh(stem, loop) for stem in ("next", "stop", "step"))
        first, last, by = (ast.Constant(0), bounds[0], ast.Constant(1)) if len(bounds) == 1 else (
            *bounds, ast.Constant(1))[:3]  # fmt: skip
        known = _known(by)
        left = _binary(ast.Name(stop, ast.Load()), ast.Sub(), ast.Name(place, ast.Load()))
        if known is None:
            left = _binary(left, ast.Mult(), ast.Name(step, ast.Load()))
        compare: ast.cmpop = ast.Lt() if known is not None and known < 0 else ast.Gt()
        start: Statements = [_assigned(name, value) for name, value in ((place, first), (stop, last), (step, by))]
        if known is None or known == 0:
            message = ast.Call(ast.Name("ValueError", ast.Load()), [ast.Constant("range() arg 3 must not be zero")], [])
            zero = ast.Compare(ast.Name(step, ast.Load()), [ast.Eq()], [ast.Constant(0)])
            start.append(ast.If(zero, [ast.Raise(message, None)], []))
        advance = _assigned(place, _binary(ast.Name(place, ast.Load()), ast.Add(), ast.Name(step, ast.Load())))
        taken = ast.Assign([loop.target], ast.Name(place, ast.Load()))
        test = ast.Compare(left, [compare], [ast.Constant(0)])
        return [*start, self._while(loop, test, [taken, advance])]

    def _items(
        self, loop: ast.For, items: list[ast.expr], *, counted: ast.expr | None = None, zipped: bool = False
    ) -> Statements:  # fmt: skip
        place = self._fresh("next", loop)
        names = [self._fresh("items", loop) for _ in items]
        start: Statements = [_assigned(name, value) for name, value in zip(names, items, strict=True)]
        tests: list[ast.expr] = [
            ast.Compare(ast.Name(place, ast.Load()), [ast.Lt()],
                        [ast.Call(ast.Name(COUNT_ITEMS, ast.Load()), [ast.Name(name, ast.Load())], [])])
            for name in names
        ]  # fmt: skip
        taken: list[ast.expr] = [
            ast.Subscript(ast.Name(name, ast.Load()), ast.Name(place, ast.Load()), ast.Load()) for name in names
        ]
        value = ast.Tuple(taken, ast.Load()) if zipped else taken[0]
        if counted is not None:
            first = self._fresh("start", loop)
            start.append(_assigned(first, counted))
            number = _binary(ast.Name(place, ast.Load()), ast.Add(), ast.Name(first, ast.Load()))
            value = ast.Tuple([number, *taken], ast.Load())
        advance = _assigned(place, _binary(ast.Name(place, ast.Load()), ast.Add(), ast.Constant(1)))
        test = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
        inside: Statements = [ast.Assign([loop.target], value), advance]
        return [*start, _assigned(place, ast.Constant(0)), self._while(loop, test, inside)]

    def _while(self, loop: ast.For, test: ast.expr, first: Statements) -> ast.While:
        body = [ast.copy_location(part, loop) for part in first] + self.block(loop.body)
        return ast.copy_location(ast.While(test, body, self.block(loop.orelse)), loop)


def _off(option: ast.keyword) -> bool:
    """Return whether an option has no effect, because it is the default."""
    return isinstance(option.value, ast.Constant) and option.value.value is False


def _known(number: ast.expr) -> int | None:
    """An integer that is written in the program."""
    match number:
        case ast.Constant(value=int() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return -value
    return None


def _binary(left: ast.expr, operator: ast.operator, right: ast.expr) -> ast.expr:
    return ast.BinOp(left, operator, right)


def _assigned(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def _state(number: ast.expr, value: ast.expr, names: Sequence[str]) -> ast.expr:
    state = ast.Tuple([ast.Name(name, ast.Load()) for name in names], ast.Load())
    return ast.Tuple([number, value, state], ast.Load())


def _rebuilt(name: str, shape: Shape, leaves: list[str]) -> ast.expr:
    """A tuple of parameters, which get names of their own."""
    if shape is None:
        leaves.append(name)
        return ast.Name(name, ast.Load())
    if isinstance(shape, str):
        copied = ast.Subscript(ast.Name(name, ast.Load()), ast.Slice(None, None, None), ast.Load())
        return ast.List([], ast.Load()) if shape == EMPTY else copied
    parts = [_rebuilt(f"{name}_{position}", part, leaves) for position, part in enumerate(shape)]
    return ast.Tuple(parts, ast.Load())


def _located(tree: ast.FunctionDef) -> ast.FunctionDef:
    """Give what was made the place of what it is in."""
    pending: list[tuple[ast.AST, ast.AST]] = [(tree, tree)]
    while pending:
        part, around = pending.pop()
        if "lineno" in part._attributes and not hasattr(part, "lineno"):
            ast.copy_location(part, around)
        pending += [(inner, part if hasattr(part, "lineno") else around) for inner in ast.iter_child_nodes(part)]
    return tree
