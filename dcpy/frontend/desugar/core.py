"""The core statements: a dozen frozen records, each with the expression trees it evaluates.

Gone after desugaring: ``else`` on loops (a flag), statements after a branch that returns (they move into its other
side), annotations, docstrings, ``pass``. Expressions stay Python trees: the evaluator gives them their meaning.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Union

from dcpy.base.source import SrcSpan

Body = tuple["Statement", ...]
Expression = Union[ast.expr, "Flag"]


@dataclass(frozen=True, eq=False)
class Flag:
    """A known bool of the desugarer's own, where an expression is expected."""

    value: bool


@dataclass(frozen=True, eq=False)
class Base:
    """What all statements have: their place. `live` is set by `desugar.liveness`: names read afterwards."""

    span: SrcSpan = field(kw_only=True)


@dataclass(frozen=True, eq=False)
class Evaluate(Base):
    """An expression for its effect."""

    value: ast.expr


@dataclass(frozen=True, eq=False)
class Assign(Base):
    """``a = b = value``: the value once, then each target from left to right."""

    targets: tuple[ast.expr, ...]
    value: Expression


@dataclass(frozen=True, eq=False)
class Augment(Base):
    """``target op= value``; `op` is the operator's symbol, ``+``."""

    target: ast.expr
    op: str
    value: ast.expr


@dataclass(frozen=True, eq=False)
class Delete(Base):
    """``del name``."""

    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Require(Base):
    """``assert test, message``; with no test: ``raise``."""

    test: ast.expr | None
    exception: ast.expr | None
    message: ast.expr | None


@dataclass(frozen=True, eq=False)
class If(Base):
    test: Expression
    body: Body
    orelse: Body


@dataclass(frozen=True, eq=False)
class For(Base):
    target: ast.expr
    iterable: ast.expr
    body: Body


@dataclass(frozen=True, eq=False)
class While(Base):
    test: Expression
    body: Body


@dataclass(frozen=True, eq=False)
class Return(Base):
    value: ast.expr | None


@dataclass(frozen=True, eq=False)
class Break(Base):
    pass


@dataclass(frozen=True, eq=False)
class Continue(Base):
    pass


@dataclass(frozen=True, eq=False)
class Define(Base):
    """A nested function or a lambda (of which the body is one `Return`)."""

    name: str
    args: ast.arguments
    body: Body
    free: frozenset[str]  # names of the enclosing function that it may read


Statement = Union[
    Evaluate, Assign, Augment, Delete, Require, If, For, While, Return, Break, Continue, Define
]  # fmt: skip
