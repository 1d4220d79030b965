"""Elementwise terms: maps read as one assignment per point, ``out[i, j] = 2*t[i, j] + beta*C[i, j]``, and as a sum of
scaled terms.

This is how `libraries.blas.passes.gemm_epilogues` recognizes what surrounds a product. Every function answers with what
it found, or with a clause that says why it is not of that form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dcpy.ir.expressions.scalar import Cast, Const, Op, Ref, ScalarExpr, substitute_refs, walk
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import State
from dcpy.ir.symbolic import ONE, Expr
from dcpy.ir.types import DType


@dataclass(frozen=True, slots=True)
class Elementwise:
    """``target = value`` at each point of a map; a `Ref` in `value` names one of the `leaves`, which are read."""

    target: Memlet
    value: ScalarExpr
    leaves: Mapping[str, Memlet]


@dataclass(frozen=True, slots=True)
class ScaleFactor:
    """``number * scalar``: what a term is scaled with. The scalar is the same at every point."""

    number: complex = 1
    scalar: Memlet | None = None

    def times(self, other: ScaleFactor) -> ScaleFactor | None:
        """The product; None where it would have two scalars."""
        if self.scalar is not None and other.scalar is not None:
            return None
        return ScaleFactor(self.number * other.number, self.scalar or other.scalar)


@dataclass(frozen=True, slots=True)
class ScaledLeaf:
    """``factor * leaf``: the leaf differs from point to point."""

    factor: ScaleFactor
    leaf: Memlet


def elementwise_of(node: Map) -> Elementwise | Refusal:
    """The assignment that a map of tasklets makes at each point; a sum into its target counts as reading it."""
    match node.body.blocks:
        case [State(nodes=nodes)] if nodes and all(isinstance(inner, Tasklet) for inner in nodes):
            tasklets = [inner for inner in nodes if isinstance(inner, Tasklet)]
        case _:
            return Refusal("the map holds more than tasklets")
    private: dict[str, ScalarExpr] = {}
    leaves: dict[str, Memlet] = {}
    for position, tasklet in enumerate(tasklets):
        known = _inputs(tasklet, node, private, leaves)
        if isinstance(known, Refusal):
            return known
        for name, expr in tasklet.code:
            known[name] = substitute_refs(expr, known)
        for connector, memlet in tasklet.outputs.items():
            if memlet.container in node.body.containers and not memlet.subset.dims and not memlet.wcr:
                private[memlet.container] = known[connector]
            elif position == len(tasklets) - 1 and len(tasklet.outputs) == 1:
                return _assignment(memlet, known[connector], leaves)
            else:
                return Refusal("the map writes more than one result")
    return Refusal("the map writes no result")


def terms_of(found: Elementwise, params: Sequence[str]) -> tuple[ScaledLeaf, ...] | Refusal:
    """The value as a sum of scaled leaves."""
    return _Terms(found.leaves, params).terms(found.value)


def substituted(found: Elementwise, name: str, producer: Elementwise, params: Sequence[str]) -> Elementwise | Refusal:
    """`found` with the leaf `name` replaced by what `producer`, a map over `params`, computes for it."""
    values: dict[str, Expr] = {}
    for mine, its in zip(producer.target.subset.dims, found.leaves[name].subset.dims, strict=True):
        param = next((p for p in params if p in mine.symbols), None)
        if param is not None and isinstance(mine, Expr) and isinstance(its, Expr):
            form = mine.linear_in(param)
            if form is not None and form[0] is ONE:
                values[param] = its - form[1]
    if set(values) != set(params):
        return Refusal(f"{producer.target.container!r} is not written one element per point")
    leaves = {f"{name}.{leaf}": memlet.subs(values) for leaf, memlet in producer.leaves.items()}
    inner = substitute_refs(
        producer.value, {leaf: Ref(f"{name}.{leaf}", _dtype(producer, leaf)) for leaf in producer.leaves}
    )
    others = {leaf: memlet for leaf, memlet in found.leaves.items() if leaf != name}
    return replace(found, value=substitute_refs(found.value, {name: inner}), leaves=others | leaves)


def _dtype(found: Elementwise, leaf: str) -> DType:
    return next(part.dtype for part in walk(found.value) if isinstance(part, Ref) and part.name == leaf)


def _inputs(
    tasklet: Tasklet, node: Map, private: Mapping[str, ScalarExpr], leaves: dict[str, Memlet]
) -> dict[str, ScalarExpr] | Refusal:
    known: dict[str, ScalarExpr] = {}
    dtypes = {part.name: part.dtype for _, expr in tasklet.code for part in _refs(expr)}
    for connector, memlet in tasklet.inputs.items():
        if memlet.container in node.body.containers:
            if memlet.container not in private:
                return Refusal(f"{memlet.container!r} is read before it is written")
            known[connector] = private[memlet.container]
        elif connector in dtypes:
            leaf = str(memlet)
            leaves[leaf] = memlet
            known[connector] = Ref(leaf, dtypes[connector])
    return known


def _refs(expr: ScalarExpr) -> list[Ref]:
    return [part for part in walk(expr) if isinstance(part, Ref)]


def _assignment(target: Memlet, value: ScalarExpr, leaves: dict[str, Memlet]) -> Elementwise | Refusal:
    if target.wcr not in ("", "add"):
        return Refusal(f"the map combines its result by {target.wcr!r}")
    if target.wcr:
        plain = replace(target, wcr="")
        leaves = {**leaves, str(plain): plain}
        value = Op("add", (Ref(str(plain), value.dtype), value), value.dtype)
        target = plain
    return Elementwise(target, value, leaves)


class _Terms:
    """Takes an expression apart into terms; see `terms_of`."""

    def __init__(self, leaves: Mapping[str, Memlet], params: Sequence[str]) -> None:
        self.leaves = leaves
        self.params = frozenset(params)

    def terms(self, expr: ScalarExpr) -> tuple[ScaledLeaf, ...] | Refusal:
        match expr:
            case Ref(name=name) if not self._is_fixed(name):
                return (ScaledLeaf(ScaleFactor(), self.leaves[name]),)
            case Op(name="neg", args=(arg,)):
                return self._scaled(ScaleFactor(-1), arg)
            case Op(name="add" | "sub" as name, args=(left, right)):
                first = self.terms(left)
                second = self._scaled(ScaleFactor(-1), right) if name == "sub" else self.terms(right)
                if isinstance(first, Refusal) or isinstance(second, Refusal):
                    return first if isinstance(first, Refusal) else second
                return (*first, *second)
            case Op(name="mul", args=(left, right)):
                for factor, other in ((self.factor(left), right), (self.factor(right), left)):
                    if factor is not None:
                        return self._scaled(factor, other)
        return Refusal("the map computes more than sums of scaled arrays")

    def factor(self, expr: ScalarExpr) -> ScaleFactor | None:
        """A number, a scalar that is the same at every point, or a product of these."""
        match expr:
            case Const(value=value):
                return ScaleFactor(complex(value) if isinstance(value, complex) else value)
            case Ref(name=name) | Cast(arg=Ref(name=name)) if self._is_fixed(name):
                return ScaleFactor(scalar=self.leaves[name])
            case Op(name="neg", args=(arg,)):
                inner = self.factor(arg)
                return None if inner is None else ScaleFactor(-1).times(inner)
            case Op(name="mul", args=(left, right)):
                first, second = self.factor(left), self.factor(right)
                return None if first is None or second is None else first.times(second)
        return None

    def _scaled(self, factor: ScaleFactor, expr: ScalarExpr) -> tuple[ScaledLeaf, ...] | Refusal:
        found = self.terms(expr)
        if isinstance(found, Refusal):
            return found
        if len(found) != 1 and factor != ScaleFactor(-1):
            return Refusal("the map scales a sum, and to scale each summand rounds differently")
        scaled = [factor.times(term.factor) for term in found]
        if any(product is None for product in scaled):
            return Refusal("a term is scaled by two scalars")
        return tuple(ScaledLeaf(p, term.leaf) for p, term in zip(scaled, found, strict=True) if p is not None)

    def _is_fixed(self, name: str) -> bool:
        return self.params.isdisjoint(self.leaves[name].subset.symbols)
