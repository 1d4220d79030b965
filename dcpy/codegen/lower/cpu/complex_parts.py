"""Complex numbers by parts in loops of vectors: a variable of an iteration becomes two, its real and imaginary parts.

before   loop i simd { const complex t = z[i];  to[i] = t*w[i] + conj(t) }
after    loop i simd { const double t_real = z[i].real;  const double t_imag = z[i].imag;
                       to[i] = complex(t_real, t_imag)*w[i] + conj(complex(t_real, t_imag)) }

g++ keeps a struct that such a loop declares in memory, one for each lane, and makes no vectors then. Numbers that have
no name it takes apart itself. A part is computed as NumPy and complex.h compute it, in the same order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from dcpy.codegen.c_identifiers import Names
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Aggregate, Cast, Conditional, Field, Infix, LirExpr, Literal, Name, Operation
from dcpy.codegen.lir.scalar_operations import convert, literal
from dcpy.codegen.lir.traversal import expressions, parts, statements, with_children, with_expressions
from dcpy.ir import types
from dcpy.ir.types import DType

T = TypeVar("T")
Pair = tuple[LirExpr, LirExpr]


class NotInParts(Exception):
    """A number of which the parts have no formula here: the loop stays as it is."""


def is_complex(kind: object) -> bool:
    """Return whether a variable, or a value, is a complex number."""
    return isinstance(kind, DType) and kind.kind == "c"


def needs_parts(body: tree.Body) -> bool:
    """Return whether an iteration has complex variables of its own, or divides complex numbers."""
    if any(isinstance(each, tree.Declare) and is_complex(each.type) for each in statements(body)):
        return True
    computed = (part for each in statements(body) for expr in expressions(each) for part in parts(expr))
    return any(isinstance(part, Operation) and part.name == "div" and is_complex(part.type) for part in computed)


@dataclass
class ComplexParts:
    """The iteration of a loop, whose complex variables are pairs.

    `exponential` gives the parts of an exponential function, where the loop asks first whether it may.
    """

    names: Names
    pairs: dict[str, Pair] = field(default_factory=dict)
    exponential: Callable[[ComplexParts, LirExpr, DType], Pair] | None = None
    values: dict[str, LirExpr] = field(default_factory=dict)  # of the variables that this has made
    before: list[tree.Statement] | None = None  # of the statement at hand: values that it needs more than once

    def body(self, body: tree.Body) -> tree.Body:
        """The statements of an iteration; `NotInParts` where a variable must stay one."""
        found: list[tree.Statement] = []
        for statement in body:
            self.before = found
            found += self._statement(statement)
        self.before = None
        return tuple(found)

    def _statement(self, statement: tree.Statement) -> tree.Body:
        match statement:
            case tree.Declare(name=name, type=DType(kind="c") as dtype):
                return self._declared(statement, name, dtype)
            case tree.Assign(target=Name(name=name), value=value) if name in self.pairs:
                return self._assigned(name, self.parts(value))
            case tree.Update(target=Name(name=name) as target, value=value, op=op) if name in self.pairs:
                return self._assigned(name, self.parts(op.of(target, value)))
            case tree.Compound(body=body):
                return (replace(statement, body=self._inside(body)),)
            case tree.Loop(body=body):
                return (self._renamed(replace(statement, body=self._inside(body))),)
            case tree.If(cases=cases, otherwise=otherwise):
                taken = tuple((self.value(condition), self._inside(body)) for condition, body in cases)
                return (replace(statement, cases=taken, otherwise=self._inside(otherwise)),)
            case tree.Declare() | tree.Assign() | tree.Update() | tree.Evaluate():
                return (self._renamed(statement),)
        raise NotInParts

    def _inside(self, body: tree.Body) -> tree.Body:
        outer = self.before
        found = self.body(body)
        self.before = outer
        return found

    def _declared(self, statement: tree.Declare, name: str, dtype: DType) -> tree.Body:
        part = dtype.real
        given = (None, None) if statement.value is None else self.parts(statement.value)
        names = [Name(self.names.fresh(f"{name}_{which}"), part) for which in ("real", "imag")]
        self.pairs[name] = (names[0], names[1])
        if statement.constant:
            self.values |= {variable.name: value for variable, value in zip(names, given, strict=True) if value}
        return tuple(
            replace(statement, name=variable.name, type=part, value=value)
            for variable, value in zip(names, given, strict=True)
        )

    def _assigned(self, name: str, given: Pair) -> tree.Body:
        real, imag = (self.bound(part) for part in given)  # both are known before one of them changes
        return tuple(tree.Assign(target, value) for target, value in zip(self.pairs[name], (real, imag), strict=True))

    def _renamed(self, statement: tree.Statement) -> tree.Statement:
        if isinstance(statement, tree.Loop):
            if any(self._mentions(bound) for bound in expressions(statement)):
                raise NotInParts
            return statement
        return with_expressions(statement, self.value)

    def _mentions(self, expr: LirExpr) -> bool:
        return any(isinstance(part, Name) and part.name in self.pairs for part in parts(expr))

    # -- values ------------------------------------------------------------------------------------------------------

    def value(self, expr: LirExpr) -> LirExpr:
        """An expression that mentions no variable that is a pair now."""
        match expr:
            case Operation(name="real" | "imag" as which, args=(whole,)) if self._mentions(whole):
                return self.parts(whole)[which == "imag"]
            case Field(arg=whole, name=which) if self._mentions(whole):
                return self.parts(whole)[which == "imag"]
            case Operation(name=name, type=DType(kind="c") as dtype) if self._has_branches(name):
                return _joined(self.parts(expr), dtype)
            case Name(name=name, type=DType() as dtype) if name in self.pairs:
                return _joined(self.pairs[name], dtype)
            case Conditional(condition=condition, yes=yes, no=no):
                condition = self.value(condition)
                first, second = (self._on_one_side(self.value, side) for side in (yes, no))
                return Conditional(condition, first, second, expr.type)
            case Infix(op="&&" | "||", left=left, right=right):
                return replace(expr, left=self.value(left), right=self._on_one_side(self.value, right))
            case Operation(name="and" | "or", args=(left, right)):
                return replace(expr, args=(self.value(left), self._on_one_side(self.value, right)))
        return with_children(expr, self.value)

    def _has_branches(self, name: str) -> bool:
        """Return whether complex.h asks something first, of which no vectors are made."""
        return name == "div" or (name == "exp" and self.exponential is not None)

    def _on_one_side(self, lowered: Callable[[LirExpr], T], expr: LirExpr) -> T:
        """Lower what is computed on one path only: nothing of it moves in front of the statement."""
        outer, self.before = self.before, None
        found = lowered(expr)
        self.before = outer
        return found

    def parts(self, expr: LirExpr) -> Pair:
        """The real and the imaginary part of a complex number."""
        match expr:
            case Name(name=name) if name in self.pairs:
                return self.pairs[name]
            case Aggregate(args=(real, imag)) | Operation(name="complex", args=(real, imag)):
                return self.value(real), self.value(imag)
            case Cast(arg=arg, source=source, type=DType(kind="c") as dtype):
                return self._converted(arg, source, dtype)
            case Conditional(condition=condition, yes=yes, no=no):
                return self._conditional(self.value(condition), yes, no)
            case Operation(name=name, args=args, type=DType(kind="c") as dtype):
                return self._computed(name, args, dtype.real)
        if not is_complex(expr.type):
            raise NotInParts
        plain = self.value(expr)
        return _part("real", plain), _part("imag", plain)

    def _converted(self, arg: LirExpr, source: DType, dtype: DType) -> Pair:
        if source.kind != "c":
            return convert(self.value(arg), source, dtype.real), literal(0, dtype.real)
        real, imag = self.parts(arg)
        return convert(real, source.real, dtype.real), convert(imag, source.real, dtype.real)

    def _conditional(self, condition: LirExpr, yes: LirExpr, no: LirExpr) -> Pair:
        first, second = (self._on_one_side(self.parts, side) for side in (yes, no))
        condition = self.bound(condition)
        return _chosen(condition, first[0], second[0]), _chosen(condition, first[1], second[1])

    def _computed(self, name: str, args: tuple[LirExpr, ...], part: DType) -> Pair:
        match name:
            case "add" | "sub":
                left, right = (self.parts(arg) for arg in args)
                return operation(name, left[0], right[0]), operation(name, left[1], right[1])
            case "neg":
                real, imag = self.parts(args[0])
                return operation("neg", real), operation("neg", imag)
            case "conj":
                real, imag = self.parts(args[0])
                return real, operation("neg", imag)
            case "mul":
                return product(self._bound_parts(args[0]), self._bound_parts(args[1]))
            case "square":
                whole = self._bound_parts(args[0])
                return product(whole, whole)
            case "div":
                return self._quotient(self._bound_parts(args[0]), self._bound_parts(args[1]))
            case "exp" if self.exponential is not None:
                return self.exponential(self, args[0], part)
        raise NotInParts

    def _quotient(self, left: Pair, right: Pair) -> Pair:
        """Smith's division (`dcpy_cdiv`): both of its cases are computed, and one is chosen."""
        below = operation("abs", right[0])
        wide = self.bound(_truth("ge", below, operation("abs", right[1])))
        far, near = (self.bound(_chosen(wide, *each)) for each in (right, right[::-1]))
        ratio = self.bound(operation("div", near, far))
        one = literal(1, _dtype(far))
        scale = self.bound(operation("div", one, operation("add", far, operation("mul", near, ratio))))
        first, second = (self.bound(operation("mul", part, ratio)) for part in left)
        real = _chosen(wide, operation("add", left[0], second), operation("add", first, left[1]))
        imag = _chosen(wide, operation("sub", left[1], first), operation("sub", second, left[0]))
        none = self.bound(_both_vanish(right))
        found = [
            _chosen(none, operation("div", whole, below), operation("mul", part, scale))
            for whole, part in zip(left, (real, imag), strict=True)
        ]
        return found[0], found[1]

    def _bound_parts(self, expr: LirExpr) -> Pair:
        real, imag = self.parts(expr)
        return self.bound(real), self.bound(imag)

    def bound(self, expr: LirExpr) -> LirExpr:
        """A value that is used more than once: a variable, where it is more than a number or an element."""
        if isinstance(expr, Name | Literal) or _is_part_of_element(expr):
            return expr
        if self.before is None or not isinstance(expr.type, DType):
            raise NotInParts
        variable = Name(self.names.fresh("part"), expr.type)
        self.values[variable.name] = expr
        self.before.append(tree.Declare(variable.name, expr.type, expr, constant=True))
        return variable


def _is_part_of_element(expr: LirExpr) -> bool:
    return isinstance(expr, Operation) and expr.name in ("real", "imag")


def _part(name: str, whole: LirExpr) -> LirExpr:
    return Operation(name, (whole,), _dtype(whole), _dtype(whole).real)


def _joined(pair: Pair, dtype: DType) -> LirExpr:
    return Operation("complex", pair, dtype.real, dtype)


def _chosen(condition: LirExpr, yes: LirExpr, no: LirExpr) -> LirExpr:
    return Conditional(condition, yes, no, yes.type)


def _dtype(expr: LirExpr) -> DType:
    assert isinstance(expr.type, DType)
    return expr.type


def _truth(name: str, left: LirExpr, right: LirExpr) -> LirExpr:
    return Operation(name, (left, right), _dtype(left), types.bool_)


def _both_vanish(pair: Pair) -> LirExpr:
    tests = tuple(_truth("eq", part, literal(0, _dtype(part))) for part in pair)
    return Operation("and", tests, types.bool_, types.bool_)


def operation(name: str, *args: LirExpr) -> LirExpr:
    """An operation on real numbers of one dtype."""
    return Operation(name, args, _dtype(args[0]), _dtype(args[0]))


def product(left: Pair, right: Pair) -> Pair:
    """The parts of a product: both are used twice."""
    real = operation("sub", operation("mul", left[0], right[0]), operation("mul", left[1], right[1]))
    return real, operation("add", operation("mul", left[0], right[1]), operation("mul", left[1], right[0]))
