"""Python's own functions and the module `math`: values, classes and exceptions are Python's."""

import cmath
import math

import numpy as np
import pytest

from dcpy.base.errors import FrontendError
from tests.support.lowering import refusal
from tests.support.numpy_records import assert_same, interpreted, outcome

X, N, B, Z = 2.75, 7, True, 1.5 - 2j
F32, I16, U8 = np.float32(-2.5), np.int16(-7), np.uint8(200)
A = np.array([3.5, -1.25, 7.0, 2.0])
I = np.array([3, -1, 7, 2], dtype=np.int32)  # noqa: E741

CASES = [
    (lambda a: len(a), A),
    (lambda a: len(a[1:]), A),
    (lambda n: int(n), X),
    (lambda n: int(n), -X),
    (lambda n: int(n), N),
    (lambda n: int(n), F32),
    (lambda n: int(n), I16),
    (lambda n: int(n), math.nan),
    (lambda n: int(n), -math.inf),
    (lambda a: int(a[0]), A),
    (lambda n: float(n), N),
    (lambda n: float(n), F32),
    (lambda n: float(n) / 2, I16),
    (lambda n: complex(n), X),
    (lambda x, y: complex(x, y), X, N),
    (lambda x, y: complex(x, y), X, math.inf),
    (lambda x, y: math.copysign(1, complex(x, y).real), -0.0, X),
    (lambda x, y: complex(x, y), X, Z),
    (lambda n: bool(n), X),
    (lambda n: bool(n), N),
    (lambda n: bool(n), I16),
    (lambda n: abs(n), -X),
    (lambda n: abs(n), -N),
    (lambda n: abs(n), Z),
    (lambda n: abs(n), F32),
    (lambda n: abs(n), I16),
    (lambda a: abs(a), A),
    (lambda n: round(n), X),
    (lambda n: round(n), 2.5),
    (lambda n: round(n), N),
    (lambda n: round(n), F32),
    (lambda n: round(n), math.nan),
    (lambda a: round(a[1]), A),
    (lambda a: round(a[1], 1), A),
    (lambda x, y: min(x, y), X, 1.0),
    (lambda x, y: max(x, y), X, 9.5),
    (lambda x, y: max(x, y), N, 3),
    (lambda x, y: min(x, y, 0), N, -3),
    (lambda x, y: max(x, y), math.nan, 1.0),
    (lambda x, y: max(x, y), 1.0, math.nan),
    (lambda x, y: min(x, y), 0.0, -0.0),
    (lambda a: min(a), A),
    (lambda a: max(a), I),
    (lambda a: max(a[0], a[1]), I),
    (lambda a: max(a), np.array([math.nan, 1.0, 3.0])),
    (lambda a: max(a), np.array([1.0, math.nan, 3.0])),
    (lambda a: min(a), np.array([])),
    (lambda a: sum(a), A),
    (lambda a: sum(a), I),
    (lambda a: sum(a), np.array([True, True, False])),
    (lambda a: sum(a, 10), I),
    (lambda x, y: sum((x, y, 1)), X, N),
    (lambda a: any(a > 5), A),
    (lambda a: all(a > 5), A),
    (lambda a: pow(a[0], 2), A),
    (lambda x, y: pow(x, y), X, 2.0),
    (lambda x, y: divmod(x, y), N, 3),
    (lambda x, y: divmod(x, y), -X, 1.5),
    (lambda x, y: divmod(x, y), N, 0),
    (lambda x, y: x // y, N, 0),
    (lambda a: divmod(a, 3), I),
    (lambda a: tuple(x * 2 for x in (a[0], a[1])), A),
    (lambda n: isinstance(n, float), X),
    (lambda n: isinstance(n, (int, np.floating)), F32),
    (lambda a: isinstance(a, np.ndarray), A),
    (lambda n: math.sqrt(n), X),
    (lambda n: math.sqrt(n), N),
    (lambda n: math.sqrt(n), -1.0),
    (lambda n: math.sqrt(n), F32),
    (lambda n: math.sqrt(abs(n)), F32),
    (lambda n: math.exp(n), X),
    (lambda n: math.exp(n), 1e4),
    (lambda n: math.log(n), X),
    (lambda n: math.log(n), 0.0),
    (lambda n: math.log(n, 2), X),
    (lambda n: math.log(n, n), X),
    (lambda n: math.log10(n) + math.log2(n) + math.log1p(n), X),
    (lambda n: math.sin(n) + math.cos(n) * math.tan(n), X),
    (lambda n: math.sin(n), math.inf),
    (lambda n: math.asin(n), 0.5),
    (lambda n: math.asin(n), 1.5),
    (lambda n: math.acos(n), -0.5),
    (lambda n: math.atan(n) + math.sinh(n) + math.tanh(n), X),
    (lambda n: math.cosh(n), 1e4),
    (lambda n: math.acosh(n), 0.5),
    (lambda n: math.atanh(n), 1.0),
    (lambda x, y: math.atan2(x, y), X, -0.0),
    (lambda x, y: math.hypot(x, y), X, N),
    (lambda x, y: math.pow(x, y), X, N),
    (lambda x, y: math.pow(x, y), -2.0, 0.5),
    (lambda x, y: math.pow(x, y), 0.0, -1.0),
    (lambda x, y: math.fmod(x, y), -X, 2.0),
    (lambda x, y: math.fmod(x, y), X, 0.0),
    (lambda x, y: math.copysign(x, y), X, -0.0),
    (lambda n: math.floor(n), -X),
    (lambda n: math.ceil(n), X),
    (lambda n: math.trunc(n), -X),
    (lambda n: math.floor(n), N),
    (lambda n: math.floor(n), math.nan),
    (lambda n: (math.isnan(n), math.isinf(n), math.isfinite(n)), math.inf),
    (lambda n: math.fabs(n), -N),
    (lambda n: math.degrees(n) + math.radians(n), X),
    (lambda x, y: math.gcd(x, y), 12, 18),
    (lambda x, y: (math.isclose(x, y), math.isclose(x, y, rel_tol=0.9)), 1.0, 1.5),
    (lambda x, y: math.isclose(x, y), math.inf, math.inf),
    (lambda x, y: math.isclose(x, y, abs_tol=1e-3), 0.0, 1e-4),
    (lambda x, y: math.prod((x, y, 2)), X, N),
    (lambda n: math.modf(n), -X),
    (lambda n: math.modf(n), -math.inf),
    (lambda x, y: sum(map(lambda k: k * 2, (x, y))), X, N),
    (lambda a: [x + y for x, y in zip((1, 2), (a[0], a[1]), strict=True)][1], A),
    (lambda n: cmath.exp(n) + cmath.sqrt(n) * cmath.sin(n), Z),
    (lambda n: cmath.sqrt(n), -2.0),
    (lambda n: cmath.log(n), Z),
    (lambda n: cmath.log(n), 0.0),
    (lambda n: cmath.exp(n), 1e4 + 1j),
    (lambda n: cmath.phase(n), Z),
    (lambda n: cmath.polar(n), Z),
    (lambda r, p: cmath.rect(r, p), X, 0.5),
    (lambda n: (cmath.isnan(n), cmath.isfinite(n)), complex(1, math.nan)),
    (lambda a: [getattr(a, how)() for how in ("max", "argmin", "mean")][1], A),
    (lambda a: getattr(np, "min")(a) + getattr(a, "shape")[0], A),  # noqa: B009
    (lambda a: (getattr(a, "missing", 3), getattr(math, "missing", None) is None, getattr(a, "T", 0)), A),
    (lambda a: getattr(a, "missing"), A),  # noqa: B009
    (lambda a, n: (hasattr(a, "T"), hasattr(a, "missing"), hasattr(math, "tau"), hasattr(n, "is_integer")), A, X),
    (lambda n: n * math.pi + math.e - math.inf, X),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0].__code__.co_firstlineno}-{case[1:]}")
def test_as_python(case):
    function, *arguments = case
    expected, raised = outcome(lambda: function(*arguments))
    got, error = outcome(lambda: interpreted(function, *arguments))
    if raised is not None:
        assert type(error) is type(raised) or isinstance(error, FrontendError), (raised, error, got)
        return
    if error is not None:
        raise error
    assert_same(got, expected, 1e-14, "")
    assert not isinstance(expected, float) or math.copysign(1, got) == math.copysign(1, expected)


def test_loops_over_iterators():
    def loop(a, c):
        total = 0.0
        for i, (x, y) in enumerate(zip(a, c, strict=True)):
            total += i * x - y
        for x in reversed(a):
            total = total / 2 + x
        for i in reversed(range(3)):
            total = total * 2 + i
        return total

    c = np.arange(4.0)
    assert interpreted(loop, A, c) == pytest.approx(loop(A, c))


def test_print_is_pythons(capsys):
    def shout(n, a):
        print(n, f"{n + 1:03d} {a[1]:.2f} {a!r}", a, sep="; ", end="!")

    interpreted(shout, 3, np.arange(3.0))
    printed = capsys.readouterr().out
    shout(3, np.arange(3.0))
    assert printed == capsys.readouterr().out


def test_characters_have_numbers():
    def digits(n):
        return tuple(ord(c) - ord("0") + n for c in "1905")

    assert interpreted(digits, 2) == digits(2)
    assert "ord() expected a character" in refusal(lambda n: ord("ab") + n, 1)
