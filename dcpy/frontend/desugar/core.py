"""The core statements: a dozen frozen records, each with the expression trees it evaluates.

``elif`` is an `If` that is all there is on the other side of one. There are chains of a thousand: what goes through
branches asks for the `chain`, its `sides`, or for all `statements_in` a body, and does not recur for each.

Gone after desugaring: ``else`` on loops (a flag), statements after a branch that returns (they move into its other
side), annotations, docstrings, ``pass``. Expressions stay Python trees: the evaluator gives them their meaning.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Union

from dcpy.base.source import SrcSpan
from dcpy.frontend.desugar.bound_and_free_names import bound_names, read_names, walrus_names
from dcpy.frontend.introspection.ast_traversal import walk

Body = tuple["Statement", ...]
Expression = Union[ast.expr, "KnownBool", "Imported"]
NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class KnownBool:
    """A known bool of the desugarer's own, where an expression is expected."""

    value: bool


@dataclass(frozen=True, eq=False)
class Imported:
    """Object that an ``import`` statement binds to a name: a module (`top`: its package), or a name of a module.

    `level`: how many packages up a relative import begins.
    """

    module: str
    name: str = ""
    level: int = 0
    top: bool = False


@dataclass(frozen=True, eq=False)
class Base:
    """Common fields of all statements: their place, and the names that they use."""

    span: SrcSpan = field(kw_only=True)
    shares: frozenset[str] = field(default=NOTHING, kw_only=True)  # names that nested functions called here may assign

    def expressions(self) -> tuple[Expression | None, ...]:
        """The trees that the statement itself evaluates, targets included."""
        return ()

    def targets_bound(self) -> frozenset[str]:
        """Names that the statement itself binds, those inside expressions apart."""
        return frozenset()

    def bodies(self) -> tuple[Body, ...]:
        """The bodies that the statement owns."""
        return ()

    def sides(self) -> tuple[Body, ...]:
        """The bodies that run in place of each other, those of a whole chain; of other statements the bodies."""
        return self.bodies()

    @functools.cached_property
    def reads(self) -> frozenset[str]:
        """Names that its expressions may read."""
        return frozenset(name for tree in self.expressions() if isinstance(tree, ast.AST) for name in read_names(tree))

    @functools.cached_property
    def uses(self) -> frozenset[str]:
        """Names that the statement or one inside of it may read."""
        inside = [statement.uses for body in self.bodies() for statement in body]
        return self.reads.union(*inside)

    @functools.cached_property
    def calls(self) -> bool:
        """Return whether functions may run, or attributes be read, in the statement or inside of it."""
        parts = (part for tree in self.expressions() if isinstance(tree, ast.AST) for part in walk(tree))
        inside = (statement.calls for body in self.bodies() for statement in body)
        return any(isinstance(part, ast.Call | ast.Attribute) for part in parts) or any(inside)

    @functools.cached_property
    def bound(self) -> frozenset[str]:
        """Names that it may bind, everything inside included."""
        return self.assigned.union(self.rebound)

    @functools.cached_property
    def bound_by_expressions(self) -> frozenset[str]:
        """Names that the expressions of the statement itself bind by ``:=``."""
        trees = [tree for tree in self.expressions() if isinstance(tree, ast.AST)]
        return NOTHING.union(*map(walrus_names, trees))

    @functools.cached_property
    def assigned(self) -> frozenset[str]:
        """Names that it may bind by an assignment, a loop or a definition."""
        inside = [statement.assigned for body in self.bodies() for statement in body]
        return self.targets_bound().union(self.bound_by_expressions, *inside)

    @functools.cached_property
    def rebound(self) -> frozenset[str]:
        """Names that get a new value elsewhere: in nested functions called, and numbers in tasklets inside."""
        return self.shares.union(*(statement.rebound for body in self.bodies() for statement in body))


@dataclass(frozen=True, eq=False)
class Evaluate(Base):
    """An expression for its effect."""

    value: ast.expr

    def expressions(self) -> tuple[Expression | None, ...]:
        return (self.value,)


@dataclass(frozen=True, eq=False)
class Assign(Base):
    """``a = b = value``: the value once, then each target from left to right.

    `annotation`: that of ``a: dcpy.float64 = value``. Python gives it no meaning; it declares what a callback returns.
    """

    targets: tuple[ast.expr, ...]
    value: Expression
    annotation: ast.expr | None = None

    def expressions(self) -> tuple[Expression | None, ...]:
        return (*self.targets, self.value)

    def targets_bound(self) -> frozenset[str]:
        return frozenset(name for target in self.targets for name in bound_names(target))


@dataclass(frozen=True, eq=False)
class Augment(Base):
    """``target op= value``; `op` is the operator's symbol, ``+``."""

    target: ast.expr
    op: str
    value: ast.expr

    def expressions(self) -> tuple[Expression | None, ...]:
        return (self.target, self.value)

    def targets_bound(self) -> frozenset[str]:
        return frozenset(bound_names(self.target))

    @functools.cached_property
    def uses(self) -> frozenset[str]:
        return self.reads | self.targets_bound()


@dataclass(frozen=True, eq=False)
class Delete(Base):
    """``del name``."""

    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Enter(Base):
    """``with context as target:`` before its body, which follows: the contexts that are known do nothing when left."""

    contexts: tuple[tuple[ast.expr, ast.expr | None], ...]

    def expressions(self) -> tuple[Expression | None, ...]:
        return tuple(tree for pair in self.contexts for tree in pair)

    def targets_bound(self) -> frozenset[str]:
        targets = (target for _, target in self.contexts if target is not None)
        return frozenset(name for target in targets for name in bound_names(target))


@dataclass(frozen=True, eq=False)
class Require(Base):
    """``assert test, message``; with no test: ``raise``."""

    test: ast.expr | None
    exception: ast.expr | None
    message: ast.expr | None

    def expressions(self) -> tuple[Expression | None, ...]:
        return (self.test, self.exception, self.message)


@dataclass(frozen=True, eq=False)
class If(Base):
    """``if test: body else: orelse``."""

    test: Expression
    body: Body
    orelse: Body

    def __post_init__(self) -> None:
        """Find the names of a chain from its end, as it is built."""
        _ = self.uses, self.calls, self.bound

    def expressions(self) -> tuple[Expression | None, ...]:
        return (self.test,)

    def bodies(self) -> tuple[Body, ...]:
        return (self.body, self.orelse)

    def chain(self) -> list[If]:
        """The branch and those that are its ``elif``."""
        found = [self]
        while len(found[-1].orelse) == 1 and isinstance(found[-1].orelse[0], If):
            found.append(found[-1].orelse[0])
        return found

    def sides(self) -> tuple[Body, ...]:
        chain = self.chain()
        return (*(part.body for part in chain), chain[-1].orelse)

    def with_sides(self, change: Callable[[Body], Body]) -> If:
        """The chain with each of its sides changed."""
        chain, (*bodies, orelse) = self.chain(), map(change, self.sides())
        for part, body in zip(reversed(chain), reversed(bodies), strict=True):
            made = replace(part, body=body, orelse=orelse)
            orelse = (made,)
        return made


@dataclass(frozen=True, eq=False)
class For(Base):
    """``for target in iterable: body``."""

    target: ast.expr
    iterable: ast.expr
    body: Body

    def expressions(self) -> tuple[Expression | None, ...]:
        return (self.target, self.iterable)

    def targets_bound(self) -> frozenset[str]:
        return frozenset(bound_names(self.target))

    def bodies(self) -> tuple[Body, ...]:
        return (self.body,)


@dataclass(frozen=True, eq=False)
class While(Base):
    """``while test: body``."""

    test: Expression
    body: Body

    def expressions(self) -> tuple[Expression | None, ...]:
        return (self.test,)

    def bodies(self) -> tuple[Body, ...]:
        return (self.body,)


@dataclass(frozen=True, eq=False)
class Return(Base):
    """``return value``."""

    value: ast.expr | None

    def expressions(self) -> tuple[Expression | None, ...]:
        return (self.value,)


@dataclass(frozen=True, eq=False)
class Break(Base):
    """``break``."""


@dataclass(frozen=True, eq=False)
class Continue(Base):
    """``continue``."""


@dataclass(frozen=True, eq=False)
class Define(Base):
    """A nested function or a lambda (of which the body is one `Return`)."""

    name: str
    args: ast.arguments
    body: Body
    free: frozenset[str]  # names of the enclosing function that it may read
    decorators: tuple[ast.expr, ...] = ()
    generator: ast.FunctionDef | None = None  # its tree, where it yields
    outer: frozenset[str] = NOTHING  # names of enclosing functions that it may assign, or functions that it calls

    def expressions(self) -> tuple[Expression | None, ...]:
        return *self.decorators, *self.args.defaults, *self.args.kw_defaults

    def targets_bound(self) -> frozenset[str]:
        return frozenset({self.name})


@dataclass(frozen=True, eq=False)
class Movement:
    """A memlet of an explicit tasklet: ``name << data`` reads, ``name >> data`` writes.

    `resolution` is the function that combines what is written with what is there; `dynamic` says that perhaps not all,
    or nothing, is touched: ``A(-1)[i]``.
    """

    name: str
    data: ast.expr
    writes: bool
    dynamic: bool
    resolution: ast.expr | None
    tree: ast.expr


@dataclass(frozen=True, eq=False)
class Tasklet(Base):
    """``with dcpy.tasklet:``: what moves in, what is computed from that alone, and what moves out.

    The names of `body` are its own; `free` are those that it sees from outside. `rebinds`: names of the function that
    stand for numbers perhaps, and get a new value then.
    """

    name: str
    movements: tuple[Movement, ...]
    body: Body
    free: frozenset[str]
    rebinds: frozenset[str]

    def expressions(self) -> tuple[Expression | None, ...]:
        trees = [tree for movement in self.movements for tree in (movement.data, movement.resolution)]
        return tuple(trees)

    @functools.cached_property
    def rebound(self) -> frozenset[str]:
        """The names of outputs that may be numbers."""
        return self.rebinds

    @functools.cached_property
    def reads(self) -> frozenset[str]:
        """Names that the memlets or the body may read."""
        trees = [tree for tree in self.expressions() if isinstance(tree, ast.AST)]
        return self.free.union(*map(read_names, trees))


@dataclass(frozen=True, eq=False)
class Process(Base):
    """A process of a dataflow block: a nested function, once for each point of the ranges `points`."""

    name: str
    define: Define
    points: tuple[ast.expr, ...] = ()
    endless: bool = False

    def expressions(self) -> tuple[Expression | None, ...]:
        return self.points

    @functools.cached_property
    def reads(self) -> frozenset[str]:
        """Names that the function or the ranges may read."""
        return self.define.free.union(*map(read_names, self.points))


@dataclass(frozen=True, eq=False)
class Dataflow(Base):
    """Processes that run at the same time; control goes on when all have ended."""

    processes: tuple[Process, ...]

    @functools.cached_property
    def reads(self) -> frozenset[str]:
        """Names that the processes may read."""
        return NOTHING.union(*(process.reads for process in self.processes))

    @functools.cached_property
    def calls(self) -> bool:
        """Functions run."""
        return True


@dataclass(frozen=True, eq=False)
class Yield(Base):
    """``yield value``, in the body of a generator, which goes on here when the next item is read."""

    value: ast.expr

    def expressions(self) -> tuple[Expression | None, ...]:
        return (self.value,)


@dataclass(frozen=True, eq=False)
class Resume(Base):
    """Goes on with what the evaluator itself does here; `binds`: the names that it assigns."""

    action: Callable[[], None]
    binds: frozenset[str] = frozenset()

    def targets_bound(self) -> frozenset[str]:
        return self.binds


Statement = (
    Resume | Evaluate | Assign | Augment | Delete | Enter | Require | If | For | While | Return | Break | Continue
    | Define | Tasklet | Process | Dataflow | Yield
)  # fmt: skip


def statements_in(body: Body) -> Iterator[Statement]:
    """All statements of a body, each before those inside of it."""
    pending = list(reversed(body))
    while pending:
        statement = pending.pop()
        yield statement
        for inner in reversed(statement.bodies()):
            pending += reversed(inner)
