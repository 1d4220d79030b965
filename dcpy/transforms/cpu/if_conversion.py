"""If-conversion: an iteration of a loop at one point as straight-line code for vector lanes.

Conditions become selects: a conditional assignment selects the new or the old value, and a lane that leaves the loop
becomes inactive (Allen, Kennedy, Porterfield and Warren, Conversion of Control Dependence to Data Dependence, 1983).
Complex numbers are split into their parts, because C++ compilers do not vectorize selects of pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from dcpy.ir.expressions.ops import MIRRORED
from dcpy.ir.expressions.scalar import Cast, Const, Load, Op, Ref, ScalarExpr, WrapIndex, cast, op, walk
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Tasklet
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Block, Branch, Break, State
from dcpy.ir.subsets import Subset
from dcpy.ir.types import DType, bool_
from dcpy.transforms.simplify.dataflow.constant_folding import fold

Parts = tuple[ScalarExpr, ...]  # a value: the real and the imaginary part of a complex one
Fetch = Callable[[Memlet], Parts]

#: Operations that processors have vector instructions for.
REAL = ("add", "sub", "mul", "neg", "abs", "sqrt", "square", "eq", "ne", "lt", "le", "gt", "ge", "and", "or", "xor",
        "not", "select", "bitand", "bitor", "bitxor", "invert")  # fmt: skip
TRUE = Const(True, bool_)
COMPLEX = ("add", "sub", "mul", "neg", "square", "conj", "real", "imag", "select")
#: By the size of a float: how far a square may be off, and between which limits it keeps its digits, as in
#: `dcpy_cabs_side` of codegen/include/complex.h, which decides where lanes cannot.
MARGINS = {4: (2.0**-19, 1e-15, 1e15), 8: (2.0**-48, 1e-140, 1e140)}


def why_not_in_lanes(expr: ScalarExpr) -> Refusal | None:
    """The reason that an operation in an expression cannot run in lanes; None if all can."""
    sides = [part.args for part in walk(expr) if isinstance(part, Op) and part.name in MIRRORED]
    compared = [one for one, other in (*sides, *(pair[::-1] for pair in sides)) if not _is_magnitude(other)]
    for part in walk(expr):
        if isinstance(part, WrapIndex):
            return Refusal("an index is checked")
        if part.dtype.kind == "f" and part.dtype.itemsize == 2:
            return Refusal("float16 is computed in float32")
        if isinstance(part, Cast) and "biufc".index(part.arg.dtype.kind) > max(2, "biufc".index(part.dtype.kind)):
            return Refusal(f"a {part.arg.dtype} becomes a {part.dtype}")
        if isinstance(part, Op) and not _is_vector_operation(part) and not any(part is one for one in compared):
            return Refusal(f"{part.name!r} of {part.args[0].dtype} is not done in lanes")
    return None


def _is_vector_operation(part: Op) -> bool:
    if any(arg.dtype.kind == "c" for arg in part.args):
        return part.name in COMPLEX
    if part.name in ("lshift", "rshift"):
        return isinstance(part.args[1], Const)
    return part.name in REAL or (part.name == "div" and part.dtype.kind == "f")


def _is_magnitude(part: ScalarExpr) -> bool:
    return isinstance(part, Op) and part.name == "cabs"


def asks_for_magnitudes(expr: ScalarExpr) -> bool:
    """Return whether an expression compares the magnitude of a complex number, which lanes cannot always decide."""
    return any(map(_is_magnitude, walk(expr)))


class Lane:
    """The code of one lane: assignments to local names, in order, each value once.

    `values` maps the key of each variable to its current value; `fetch` provides other values. `active` is true while
    the lane is in the loop. `unsure` is true if a lane cannot decide a comparison.
    """

    def __init__(self, values: dict[object, Parts], active: ScalarExpr, fetch: Fetch) -> None:
        self.code: list[tuple[str, ScalarExpr]] = []
        self.known: dict[ScalarExpr, Ref] = {}
        self.meanings: dict[str, ScalarExpr] = {}
        self.before = {key: tuple(map(self.named, parts)) for key, parts in values.items()}
        self.values = dict(self.before)
        self.active = self.named(active)
        self.fetch = fetch
        self.unsure: ScalarExpr | None = None
        self.exits: list[tuple[ScalarExpr, dict[object, Parts]]] = []

    def run(self, blocks: Iterable[Block], guard: ScalarExpr | None = None) -> None:
        """Convert blocks under a condition."""
        for block in blocks:
            match block:
                case State(nodes=nodes):
                    for node in nodes:
                        assert isinstance(node, Tasklet)
                        self._tasklet(node, guard)
                case Branch(cases=cases, otherwise=otherwise):
                    rest = guard
                    for condition, region in cases:
                        (taken,) = self._value(condition, {}, rest)
                        taken = self.named(taken)
                        self.run(region.blocks, self._both(rest, taken))
                        rest = self._both(rest, self._not(taken))
                    if otherwise is not None:
                        self.run(otherwise.blocks, rest)
                case Break():
                    self.leave(guard)

    def leave(self, gone: ScalarExpr | None) -> None:
        """End the loop for lanes in which a condition holds; None: for all lanes."""
        self.exits.append((self.active, dict(self.values)))
        self.active = Const(False, bool_) if gone is None else self._both(self.active, self._not(gone))

    def test(self, condition: ScalarExpr) -> None:
        """End the loop for lanes in which a condition does not hold."""
        (holds,) = self._value(condition, {}, None)
        self.leave(self._not(self.named(holds)))

    def result(self, key: object) -> Parts:
        """The value of a variable after the iteration; lanes that left the loop keep their value."""
        found = last = self.before[key]
        for active, values in (*self.exits, (self.active, self.values)):
            if values[key] != last:
                last = values[key]
                found = tuple(self._choice(active, *pair) for pair in zip(last, found, strict=True))
        return found

    def named(self, expr: ScalarExpr) -> ScalarExpr:
        """The name of a computed value, new or existing; other values are returned unchanged."""
        if not isinstance(expr, Op | Cast):
            return expr
        if expr not in self.known:
            name = f"t{len(self.code)}"
            self.code.append((name, expr))
            self.meanings[name] = expr
            self.known[expr] = Ref(name, expr.dtype)
        return self.known[expr]

    def _tasklet(self, node: Tasklet, guard: ScalarExpr | None) -> None:
        refs = {name: self._read(memlet) for name, memlet in node.inputs.items()}
        for name, expr in node.code:
            refs[name] = tuple(map(self.named, self._value(expr, refs, guard)))
        for name, memlet in node.outputs.items():
            self._write(key_of(memlet), refs[name], guard)

    def _read(self, memlet: Memlet) -> Parts:
        return self.values.get(key_of(memlet)) or tuple(map(self.named, self.fetch(memlet)))

    def _write(self, key: object, new: Parts, guard: ScalarExpr | None) -> None:
        old = self.values.get(key)
        if old is not None and guard is not None:
            new = tuple(self._choice(guard, *pair) for pair in zip(new, old, strict=True))
        self.values[key] = new
        if written(key) in self.values:
            self._write_flag(written(key), guard)

    def _write_flag(self, key: object, guard: ScalarExpr | None) -> None:
        (old,) = self.values[key]
        self.values[key] = (TRUE if guard is None else self._choice(guard, TRUE, old),)

    def _choice(self, condition: ScalarExpr, new: ScalarExpr, old: ScalarExpr) -> ScalarExpr:
        """A select of the new or the old value; a nested select that the condition decides is simplified."""
        match self._meaning(new):
            case Op(name="select", args=(inner, chosen, other)) if other == old and self._implies(condition, inner):
                return self._choice(condition, chosen, old)
            case Op(name="or", args=(other, inner)) if other == old and self._implies(condition, inner):
                return self._choice(condition, TRUE, old)
        if new == old:
            return new
        return self.named(op("or", old, condition) if new == TRUE else op("select", condition, new, old))

    def _meaning(self, value: ScalarExpr) -> ScalarExpr:
        """The expression that a name stands for."""
        return self.meanings.get(value.name, value) if isinstance(value, Ref) else value

    def _implies(self, condition: ScalarExpr, other: ScalarExpr) -> bool:
        if condition == other:
            return True
        match self._meaning(condition):
            case Op(name="and", args=args):
                return any(self._implies(arg, other) for arg in args)
        return False

    def _not(self, flag: ScalarExpr) -> ScalarExpr:
        match self._meaning(flag):
            case Op(name="not", args=(arg,)):
                return arg
        return self.named(op("not", flag))

    def _both(self, one: ScalarExpr | None, other: ScalarExpr) -> ScalarExpr:
        return other if one is None else self.named(op("and", one, other))

    def _value(self, expr: ScalarExpr, refs: Mapping[str, Parts], guard: ScalarExpr | None) -> Parts:
        match expr:
            case Const(value=value, dtype=dtype) if dtype.kind == "c":
                number = complex(value)
                return Const(number.real, dtype.real), Const(number.imag, dtype.real)
            case Ref(name=name):
                return refs[name]
            case Load(container=container, indices=indices):
                return self._read(Memlet(container, Subset.point(*indices)))
            case Cast(arg=arg, dtype=dtype):
                return _converted(self._value(arg, refs, guard), arg.dtype, dtype)
            case Op(name=name, args=args):
                if name in MIRRORED:
                    one, other = args
                    for order, size, limit in ((name, one, other), (MIRRORED[name], other, one)):
                        if isinstance(size, Op) and _is_magnitude(size):
                            (bound,) = self._value(limit, refs, guard)
                            z = self._value(size.args[0], refs, guard)
                            return (self._side(order, z, bound, guard),)
                parts = [tuple(map(self.named, self._value(arg, refs, guard))) for arg in args]
                if any(arg.dtype.kind == "c" for arg in args):
                    return self._complex(name, parts)
                return (op(name, *(part for (part,) in parts)),)
        return (expr,)

    def _complex(self, name: str, args: Sequence[Parts]) -> Parts:
        """A complex operation on parts, as in codegen/include/complex.h."""
        z = args[0]
        match name:
            case "real" | "imag":
                return (z[name == "imag"],)
            case "conj":
                return z[0], op("neg", z[1])
            case "neg":
                return tuple(op("neg", part) for part in z)
            case "select":
                return tuple(op("select", z[0], *pair) for pair in zip(*args[1:], strict=True))
            case "add" | "sub":
                return tuple(op(name, *pair) for pair in zip(*args, strict=True))
        (a, b), (c, d) = z, args[-1]
        products = [self.named(op("mul", *pair)) for pair in ((a, c), (b, d), (a, d), (b, c))]
        return op("sub", *products[:2]), op("add", *products[2:])

    def _side(self, order: str, z: Parts, limit: ScalarExpr, guard: ScalarExpr | None) -> ScalarExpr:
        """The comparison of a magnitude with a limit, by squares; lanes that squares cannot decide become unsure."""
        dtype = limit.dtype
        margin, least, most = MARGINS[dtype.itemsize]
        x, y = map(self.named, z)
        square = self.named(op("add", self.named(op("mul", x, x)), self.named(op("mul", y, y))))
        bound = self.named(fold(op("mul", limit, limit)))
        below = self.named(op("lt", square, fold(op("mul", bound, Const(1 - margin, dtype)))))
        above = self.named(op("gt", square, fold(op("mul", bound, Const(1 + margin, dtype)))))
        usual = op("and", op("ge", limit, Const(least, dtype)), op("le", limit, Const(most, dtype)))
        known = self.named(fold(op("and", usual, op("or", below, above))))
        asked = self.active if guard is None else self._both(self.active, guard)
        lost = self._both(asked, self._not(known))
        self.unsure = self.named(lost if self.unsure is None else op("or", self.unsure, lost))
        return below if order in ("lt", "le") else above


def key_of(memlet: Memlet) -> object:
    """The key of an element: the name of a scalar, or the memlet on an array."""
    return memlet if memlet.subset.dims else memlet.container


def written(key: object) -> object:
    """The key of the flag that records a write to a variable."""
    return ("written", key)


def _converted(parts: Parts, source: DType, target: DType) -> Parts:
    if target.kind == "c":
        real, *imaginary = (cast(part, target.real) for part in parts)
        return real, imaginary[0] if imaginary else Const(0.0, target.real)
    return (cast(parts[0], target),)



def needed(code: Sequence[tuple[str, ScalarExpr]], results: Iterable[ScalarExpr]) -> set[str]:
    """The names, assigned or read by straight-line code, that results need."""
    found = {part.name for result in results for part in walk(result) if isinstance(part, Ref)}
    for name, expr in reversed(code):
        if name in found:
            found |= {part.name for part in walk(expr) if isinstance(part, Ref)}
    return found
