"""Partial derivatives of scalar operations: each has them, is flat, or is refused; values at points and at kinks."""

import numpy as np
import pytest

from dcpy.autodiff.assignments import Assignments, ForwardCode, partial_of
from dcpy.base.errors import GradientRefused
from dcpy.ir import types
from dcpy.ir.expressions.ops import OPS
from dcpy.ir.expressions.partials import PARTIALS
from dcpy.ir.expressions.scalar import Cast, Const, Ref, op
from dcpy.ir.interp.scalars import LeafValues, evaluate
from dcpy.ir.text.expr_printer import print_expr

SMOOTH = {name for name, known in PARTIALS.items() if known.texts and not known.is_flat}
#: where arguments of an operation lie, if not between 0.2 and 0.9
POINTS = {
    "acosh": (1.2, 3.0), "abs": (-2.0, 2.0), "atan2": (-2.0, 2.0),
    "copysign": (-2.0, 2.0), "gamma": (0.5, 4.0), "lgamma": (0.5, 4.0),
    "erfcinv": (0.2, 1.8), "hypot": (-2.0, 2.0), "sin": (-5.0, 5.0), "bessel_y1": (0.5, 5.0), "ldexp": (1.0, 1.5),
}  # fmt: skip
#: where they are, for operations with jumps
AWAY_FROM_JUMPS = dict.fromkeys(("mod", "fmod", "ieee_remainder"), ((7.3, 2.0), (-7.3, 2.0), (7.3, -2.0), (0.3, 2.0)))


def test_each_operation_has_partials_or_is_flat_or_refused():
    assert set(PARTIALS) == set(OPS)
    for name, info in OPS.items():
        known = info.partials
        assert known.linear or known.refused or len(known.texts) == info.arity, name
        if info.result in ("bool", "int64"):
            assert known.is_flat or known.refused, name


def value_of(name, args):
    dtype = types.complex128 if any(isinstance(arg, complex) for arg in args) else types.float64
    refs = [Ref(letter, dtype) for letter in "abc"[: len(args)]]
    return op(name, *refs), dict(zip("abc", args, strict=False))


def partial_at(name, which, args):
    value, env = value_of(name, args)
    env = {key: value.dtype.numpy.type(arg) for key, arg in env.items()}
    env["y"] = value.dtype.numpy.type(OPS[name].numpy()(*args))
    found = partial_of(value, which, Ref("y", value.dtype))
    return 0.0 if found is None else evaluate(found, LeafValues({}, env, lambda load: None))


def slope(name, which, args):
    """The derivative by extrapolated differences."""

    def at(step):
        moved = [arg + step * (k == which) for k, arg in enumerate(args)]
        return OPS[name].numpy()(*moved)

    wide, narrow = [(at(h) - at(-h)) / (2 * h) for h in (1e-3, 5e-4)]
    return (4 * narrow - wide) / 3


@pytest.mark.parametrize("name", sorted(SMOOTH - {"cabs"}))
def test_partials_are_slopes(name):
    low, high = POINTS.get(name, (0.2, 0.9))
    rng = np.random.default_rng(len(name))
    drawn = rng.uniform(low, high, (5, OPS[name].arity)).tolist()
    for args in map(list, AWAY_FROM_JUMPS.get(name, drawn)):
        if name == "ldexp":
            args[1] = 3.0
        for which in range(len(args)):
            if (name, which) not in (("ldexp", 1), ("heaviside", 0)):
                assert partial_at(name, which, args) == pytest.approx(slope(name, which, args), rel=2e-6, abs=1e-8)


HOLOMORPHIC = "mul div pow sin cos tan exp log sqrt tanh sinh cosh asin acos atan asinh acosh atanh reciprocal square"


@pytest.mark.parametrize("name", HOLOMORPHIC.split())
def test_partials_of_complex_numbers_are_slopes(name):
    rng = np.random.default_rng(3)
    args = [complex(*rng.uniform(0.2, 0.9, 2)) for _ in range(OPS[name].arity)]
    for which in range(len(args)):
        assert partial_at(name, which, args) == pytest.approx(slope(name, which, args), rel=1e-7)


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("abs", (0.0,), (0.0,)),
        ("max", (2.0, 2.0), (0.5, 0.5)),
        ("min", (2.0, 2.0), (0.5, 0.5)),
        ("max", (3.0, 2.0), (1.0, 0.0)),
        ("fmax", (3.0, np.nan), (1.0, 0.0)),
        ("fmin", (np.nan, 3.0), (0.0, 1.0)),
        ("hypot", (0.0, 0.0), (0.0, 0.0)),
        ("pow", (0.0, 2.0), (0.0, 0.0)),
        ("pow", (0.0, 0.0), (0.0, 0.0)),
        ("heaviside", (0.0, 0.5), (0.0, 1.0)),
        ("bessel_j1", (0.0,), (0.5,)),
        ("mod", (7.0, 2.0), (1.0, -3.0)),
        ("mod", (-7.0, 2.0), (1.0, 4.0)),
        ("fmod", (-7.0, 2.0), (1.0, 3.0)),
        ("copysign", (-2.0, 3.0), (-1.0, 0.0)),
    ],
)
def test_kinks(name, args, expected):
    with np.errstate(all="ignore"):
        assert tuple(float(partial_at(name, which, args)) for which in range(len(args))) == expected


@pytest.mark.parametrize("name", sorted(name for name, known in PARTIALS.items() if known.refused))
def test_refusals(name):
    value, _ = value_of(name, (1.0,))
    with pytest.raises(GradientRefused, match=f"{name} has no derivative"):
        partial_of(value, 0, Ref("y", value.dtype))


NAMES = ('a', 'b', 'da', 'o', *(f'{s}{k}' for s in 'vd' for k in range(200)))


def row_of(value, **dots):
    row = Assignments("abo")
    code = ForwardCode(row, {name: Ref(dot, types.float64) for name, dot in dots.items()})
    tangent = code.assign("o", value)
    lines = [f"{name} = {print_expr(line, NAMES)}" for name, line in row.code]
    return "; ".join(lines), None if tangent is None else print_expr(tangent, NAMES)


A, B = Ref("a", types.float64), Ref("b", types.float64)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (op("mul", A, A), "v1 = a * a; o = v1; d2 = a * da + a * da"),
        (op("mul", A, B), "v1 = a * b; o = v1; d2 = b * da"),
        (op("sqrt", A), "v1 = sqrt(a); o = v1; d2 = select(da == 0.0, 0.0, 0.5 / v1 * da)"),
        (op("pow", A, Const(2.0, types.float64)), "v1 = a ** 2.0; o = v1; d2 = select(da == 0.0, 0.0, 2.0 * a * da)"),
        (op("floor", A), "o = floor(a)"),
        (op("select", op("gt", A, B), A, B), "v1 = a > b; o = select(v1, a, b); d2 = select(v1, da, 0.0)"),
        (Cast(op("sin", A), types.int64), "v1 = sin(a); o = i64(v1)"),
    ],
)
def test_tangents_are_rows_of_assignments(value, text):
    assert row_of(value, a="da")[0] == text


def test_tangents_of_long_expressions_stay_short():
    value = A
    for _ in range(30):
        value = op("sin", op("mul", value, A))
    lines = row_of(value, a="da")[0]
    assert len(lines) < 6000
