"""Generators that the program itself drives: the loop that asks for items goes where they are yielded.

``for x in squares(n): body`` becomes the body of `squares` with ``x = ...; body`` for each ``yield ...``. The names of
the generator get a prefix that no Python name has, so that both are one piece of code. So is a generator expression.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.list_values import LazyGenerator, YieldingValue
from dcpy.frontend.abstract_values.values import IteratorValue, Missing, Static, SymInt, Value
from dcpy.frontend.desugar import core, jumps_as_flags
from dcpy.frontend.desugar.bound_and_free_names import bound_names
from dcpy.frontend.desugar.statements import generated
from dcpy.frontend.introspection.function_source import take_over
from dcpy.frontend.lower.frame import Flow
from dcpy.frontend.lower.name_binding import bind_name, from_python
from dcpy.frontend.lower.sequences import items as sequences

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

Execute = Callable[[Any, core.Body], Flow]


@dataclass(frozen=True)
class SplicedLoop:
    """The loop of a consumer inside of a generator: statements, the prefix of its names, and those from outside."""

    body: core.Body
    prefix: str
    free_names: tuple[str, ...]


def is_generated(value: Value) -> bool:
    """Return whether a loop over the value goes where its items are made, or takes one after the other."""
    if sequences.is_stepped(value):
        return True
    if isinstance(value, IteratorValue) and value.kind == "enumerate":
        return is_generated(value.parts[0])
    return isinstance(value, LazyGenerator | YieldingValue)


def run_generated(frame: Frame, node: core.For, iterable: Value, execute: Execute) -> Flow:
    """``for target in generator(...)``."""
    counted: Value | None = None
    if isinstance(iterable, IteratorValue):
        counted, iterable = SymInt(iterable.start), iterable.parts[0]
        counted = Static(iterable_start) if (iterable_start := counted.expr.constant) is not None else counted
    assert isinstance(iterable, LazyGenerator | YieldingValue)
    if isinstance(iterable, LazyGenerator) and iterable.frame is not frame:
        raise _in_another_function()
    spliced = _spliced(frame, node, iterable, counted is not None)
    _bind(frame, spliced, iterable, counted)
    frame.liveness.block(spliced.body, frame.liveness.loops[node].after)
    flow = execute(frame, spliced.body)
    for name in [name for name in frame.env if name.startswith(spliced.prefix)]:
        del frame.env[name]
    return flow if flow is Flow.LEFT else Flow.ON


def _spliced(frame: Frame, node: core.For, iterable: LazyGenerator | YieldingValue, counted: bool) -> SplicedLoop:
    """The statements, made once for each loop and generator: what is known of loops is kept by statement."""
    known = frame.program.expression_loops
    key = ("yields", node, iterable.node)
    if key not in known:
        prefix = f".g{len(known)}_"
        body, free = _prefixed(frame, iterable, prefix, node)
        known[key] = SplicedLoop(_spread(node, body, prefix, counted), prefix, free)
    found: SplicedLoop = known[key]
    return found


def _spread(node: core.For, body: core.Body, prefix: str, counted: bool) -> core.Body:
    """The statements of the generator, with the consumer's body where they yield."""
    spreading = _LoopSplicing(node, prefix, counted)
    spread, marks = spreading.block(body), spreading.exit_statements
    return jumps_as_flags.jumps_to_flags(spread, f"{prefix}left", lambda part: any(part is mark for mark in marks))


@dataclass
class _LoopSplicing:
    """Puts the body of a loop where a generator yields. `exit_statements`: the statements that leave the generator."""

    node: core.For
    prefix: str
    counted: bool
    exit_statements: list[core.Statement] = field(default_factory=list)
    count: int = 0

    def block(self, body: core.Body) -> core.Body:
        done: list[core.Statement] = []
        for statement in body:
            match statement:
                case core.Yield():
                    done += self.consumed(statement)
                    continue
                case core.If():
                    statement = statement.with_sides(self.block)
                case core.For() | core.While():
                    statement = replace(statement, body=self.block(statement.body))
                case core.Return():
                    self.exit_statements.append(statement)
            done.append(statement)
        return tuple(done)

    def consumed(self, statement: core.Yield) -> core.Body:
        """Return the consumer's code for one item: ``continue`` goes to its end, ``break`` leaves the generator."""
        self.count += 1
        inner = jumps_as_flags.fresh(self.node.body)
        again = jumps_as_flags.own(inner, core.Continue)
        inner = jumps_as_flags.jumps_to_flags(
            inner, f"{self.prefix}next_{self.count}", lambda part: any(part is mark for mark in again)
        )
        self.exit_statements += jumps_as_flags.own(inner, core.Break)
        value, span = statement.value, statement.span
        if not self.counted:
            return (core.Assign((self.node.target,), value, span=span), *inner)
        name = f"{self.prefix}count"
        item = ast.Tuple([ast.Name(name, ast.Load()), value], ast.Load())
        target, more = ast.Name(name, ast.Store()), ast.Constant(1)
        for part in (item, item.elts[0], target, more):
            ast.copy_location(part, value)
        step = core.Augment(target, "+", more, span=span)
        return (core.Assign((self.node.target,), item, span=span), step, *inner)


def _prefixed(
    frame: Frame, iterable: LazyGenerator | YieldingValue, prefix: str, loop: core.For
) -> tuple[core.Body, tuple[str, ...]]:
    """The generator's statements with other names; the names that it takes from outside.

    What is wrong in one of dcpy's own is wrong where the loop asks for it.
    """
    if isinstance(iterable, LazyGenerator):
        return _of_expression(frame, iterable.node, prefix), ()
    tree = copy.deepcopy(iterable.node)
    own = {part.id for part in ast.walk(tree) if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)}
    own |= {part.arg for part in ast.walk(tree) if isinstance(part, ast.arg)}
    own |= {part.name for statement in tree.body for part in ast.walk(statement) if isinstance(part, ast.FunctionDef)}
    read = dict.fromkeys(part.id for part in ast.walk(tree) if isinstance(part, ast.Name))
    here = iterable.scope is frame
    free = () if here else tuple(name for name in read if name not in own)
    names = {name: prefix + name for name in (*sorted(own), *free)}
    for statement in tree.body:
        for part in ast.walk(statement):
            _rename(part, names)
    if not iterable.source.is_own:
        take_over(tree, iterable.source.file, tree.name, loop.span)
    body = generated(iterable.source, tree)
    for part in ast.walk(tree) if iterable.source.is_own else ():
        ast.copy_location(part, loop.iterable)
    return body, free


def _rename(part: ast.AST, names: Mapping[str, str]) -> None:
    match part:
        case ast.Name(id=name) if name in names:
            part.id = names[name]
        case ast.arg(arg=name) if name in names:
            part.arg = names[name]
        case ast.FunctionDef(name=name) if name in names:
            part.name = names[name]


def _of_expression(frame: Frame, node: ast.GeneratorExp, prefix: str) -> core.Body:
    """``yield element`` in the loops of a generator expression."""
    tree = copy.deepcopy(node)
    own = {name for generator in tree.generators for name in bound_names(generator.target)}
    names = {name: prefix + name for name in own}
    first = tree.generators[0].iter
    tree.generators[0].iter = ast.copy_location(ast.Name(f"{prefix}first", ast.Load()), first)
    for part in ast.walk(tree):
        _rename(part, names)
    span = frame.span(node)
    body: core.Body = (core.Yield(tree.elt, span=span),)
    for generator in reversed(tree.generators):
        for test in reversed(generator.ifs):
            body = (core.If(test, body, (), span=span),)
        body = (core.For(generator.target, generator.iter, body, span=span),)
    return body


def _bind(frame: Frame, spliced: SplicedLoop, iterable: LazyGenerator | YieldingValue, counted: Value | None) -> None:
    """The names that the statements begin with."""
    if counted is not None:
        bind_name(frame, f"{spliced.prefix}count", counted)
    if isinstance(iterable, LazyGenerator):
        bind_name(frame, f"{spliced.prefix}first", iterable.first)
        return
    for name, value in iterable.bound:
        bind_name(frame, spliced.prefix + name, value)
    for name in spliced.free_names:
        frame.env[spliced.prefix + name] = _seen(iterable.scope, iterable.maker, name)


def _seen(scope: Frame | None, maker: Frame, name: str) -> Value:
    """Return the value of a name from outside of the generator."""
    while scope is not None:
        if name in scope.env:
            value: Value = scope.env[name]
            return value
        scope = scope.outer
    known, found = maker.closure.lookup(name)
    if not known:
        return Missing(f"name {name!r} is not defined")
    return from_python(maker, found, maker.closure.dependences_of(name))


def in_frame(frame: Frame, lazy: LazyGenerator) -> LazyGenerator:
    """Return a generator expression for the frame that asks for its items: names from outside are its maker's."""
    if lazy.frame is frame:
        return lazy
    known, key = frame.program.expression_loops, ("in frame", lazy.node)
    if key not in known:
        tree = copy.deepcopy(lazy.node)
        if any(isinstance(part, ast.NamedExpr) for part in ast.walk(tree)):
            raise _in_another_function()
        tree.generators[0].iter = ast.copy_location(ast.Constant(None), tree.generators[0].iter)  # has been evaluated
        own = {part.id for part in ast.walk(tree) if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)}
        own |= {part.arg for part in ast.walk(tree) if isinstance(part, ast.arg)}
        free = sorted({part.id for part in ast.walk(tree) if isinstance(part, ast.Name)} - own)
        names = {name: f".g{len(known)}_{name}" for name in free}
        for part in ast.walk(tree):
            _rename(part, names)
        known[key] = tree, names
    tree, names = known[key]
    for name, mine in names.items():
        frame.env[mine] = _seen(lazy.frame, lazy.frame, name)
    return replace(lazy, node=tree, frame=frame)


def _in_another_function() -> FrontendError:
    return FrontendError(
        "a generator expression is passed to a function that loops over it",
        help="pass a list: `[...]` instead of `(...)`",
    )
