"""Exponential functions of complex numbers in loops of vectors, by the real functions.

before   loop i simd { to[i] = exp(z[i]) }
after    loop tile step 256 {
             var odd = 0;  loop i in tile simd reduction(bitor: odd) { odd |= not (re <= 708 and |im| < inf) }
             if odd == 0 { loop i in tile simd { e = exp(re);  to[i] = complex(e*cos(im), e*sin(im)) } }
             else { loop i in tile { to[i] = exp(z[i]) } }
         }

C's function of complex numbers is one for each number, and takes ten times as long as the vectors of exp, cos and sin.
It computes the same, apart from infinities, NaN and what is nearly too large: a tile with such a number has it. Of
``exp(1j*x)``, the exponential function of a zero is left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from dcpy.codegen.c_identifiers import Names
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Call, Cast, Intrinsic, LirExpr, Literal, Name, Operation, integer
from dcpy.codegen.lir.scalar_operations import convert
from dcpy.codegen.lir.traversal import expressions, parts, statements
from dcpy.codegen.lir.types import INDEX
from dcpy.codegen.lower.cpu.complex_parts import (
    ComplexParts,
    NotInParts,
    Pair,
    is_complex,
    operation,
)
from dcpy.codegen.lower.cpu.vector_checks import ANY
from dcpy.codegen.lower.cpu.vector_tiles import in_tiles
from dcpy.ir import types
from dcpy.ir.types import DType

MOST = {types.float64: 708.0, types.float32: 88.0}  #: of which exp is no infinity
LARGEST = {types.float64: 1.7976931348623157e308, types.float32: 3.4028234663852886e38}


def exponentials(body: tree.Body) -> Iterator[Operation]:
    """The exponential functions of complex numbers in an iteration."""
    for statement in statements(body):
        for expr in expressions(statement):
            for part in parts(expr):
                if isinstance(part, Operation) and part.name == "exp" and is_complex(part.type):
                    yield part


def by_tiles(loop: tree.Loop, names: Names) -> tree.Loop:
    """The loop in tiles, each of which has vectors, or C's function where a number is out of the ordinary.

    `NotInParts` where the exponents cannot be asked first.
    """
    if loop.down or loop.step != integer(1) or not _can_be_asked(loop.body):
        raise NotInParts
    functions = _RealFunctions()
    vectors = ComplexParts(names, exponential=functions.exponential).body(loop.body)
    odd = Name(names.fresh("odd"), INDEX)
    question = (
        *_needed(vectors, functions.conditions),
        *(tree.Update(odd, convert(Operation("not", (each,), types.bool_, types.bool_), types.bool_, INDEX), ANY)
          for each in functions.conditions),
    )  # fmt: skip
    return in_tiles(loop, names, odd, question, vectors)


def _can_be_asked(body: tree.Body) -> bool:
    """Return whether the exponents can be computed by themselves: by declarations, before anything is stored."""
    flat = tuple(_flat(body))
    last = max((place for place, each in enumerate(flat) if any(exponentials((each,)))), default=-1)
    declared = [each.name for each in flat if isinstance(each, tree.Declare)]
    if len(set(declared)) < len(declared) or not all(isinstance(each, tree.Declare) for each in flat[:last]):
        return False
    calls = (part for each in flat[: last + 1] for expr in expressions(each) for part in parts(expr))
    return isinstance(flat[last], tree.Declare | tree.Assign | tree.Update) and not any(
        isinstance(part, Call | Intrinsic) for part in calls
    )


def _flat(body: tree.Body) -> Iterator[tree.Statement]:
    for statement in body:
        if isinstance(statement, tree.Compound):
            yield from _flat(statement.body)
        else:
            yield statement


def _needed(body: tree.Body, conditions: list[LirExpr]) -> tree.Body:
    """The declarations that conditions are computed from."""
    used = {part.name for condition in conditions for part in parts(condition) if isinstance(part, Name)}
    found: list[tree.Statement] = []
    for statement in reversed(tuple(_flat(body))):
        if isinstance(statement, tree.Declare) and statement.name in used:
            found.append(statement)
            used |= {part.name for expr in expressions(statement) for part in parts(expr) if isinstance(part, Name)}
    return tuple(reversed(found))


class _RealFunctions:
    """Exponential functions by exp, cos and sin, and when they are what C computes."""

    def __init__(self) -> None:
        self.conditions: list[LirExpr] = []

    def exponential(self, loop: ComplexParts, exponent: LirExpr, part: DType) -> Pair:
        """The parts of ``exp(exponent)``."""
        real, imag = loop.parts(exponent)
        finite = set(_terms(imag, loop))
        angle = loop.bound(imag)
        within = operation("abs", angle), Literal(LARGEST[part], part)
        self.conditions.append(Operation("le", within, part, types.bool_))
        cosine, sine = operation("cos", angle), operation("sin", angle)
        if _vanishes(real, finite, loop):
            return cosine, sine
        real = loop.bound(real)
        self.conditions.append(Operation("le", (real, Literal(MOST[part], part)), part, types.bool_))
        size = loop.bound(operation("exp", real))
        return operation("mul", size, cosine), operation("mul", size, sine)


def _terms(expr: LirExpr, loop: ComplexParts) -> Iterator[LirExpr]:
    """The numbers that a value is added up and multiplied from: finite where it is."""
    yield expr
    known = loop.values.get(expr.name) if isinstance(expr, Name) else None
    if known is not None:
        yield from _terms(known, loop)
    if isinstance(expr, Operation) and expr.name in ("add", "sub", "mul", "neg"):
        for arg in expr.args:
            yield from _terms(arg, loop)


def _vanishes(expr: LirExpr, finite: set[LirExpr], loop: ComplexParts) -> bool:
    """Return whether a value is a zero where those numbers are finite."""
    match expr:
        case Literal(value=value):
            return value == 0
        case Name(name=name) if name in loop.values:
            return _vanishes(loop.values[name], finite, loop)
        case Operation(name="neg", args=(arg,)):
            return _vanishes(arg, finite, loop)
        case Operation(name="add" | "sub", args=args):
            return all(_vanishes(arg, finite, loop) for arg in args)
        case Operation(name="mul", args=(left, right)):
            return any(
                _vanishes(one, finite, loop) and _is_finite(other, finite)
                for one, other in ((left, right), (right, left))
            )
    return False


def _is_finite(expr: LirExpr, finite: set[LirExpr]) -> bool:
    match expr:
        case Literal(value=float() as value):
            return abs(value) <= LARGEST[types.float64]
        case Cast(source=source, type=DType(kind="f")) if source.kind in "iub":
            return True
    return expr in finite
