"""Python inside programs: numbers, dtypes, names, assignment, containers of known length."""

import math

import numpy as np
import pytest

import dcpy
from tests.support.oracles import check_same

pytestmark = pytest.mark.cc

A8 = np.arange(8.0)
I8 = np.arange(8)
M = np.arange(12.0).reshape(3, 4)
DTYPES = [np.bool_, np.int8, np.int32, np.int64, np.uint8, np.uint64, np.float16, np.float32, np.float64, np.complex64]


# -- numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("a", "b"), [(7, -2), (-7, 2), (0, 5), (-8, -3)])
def test_python_ints(a, b):
    def f(a, b):
        return a // b, a % b, a * b, a**2, a / b, divmod(a, b), -a, ~a, +a, a << 2, a >> 1, a & b, a | b, a ^ b, a**0

    check_same(f, a, b)


@pytest.mark.parametrize(("a", "b"), [(7.5, -2.0), (-7.5, 2.0), (-0.0, 1.0), (1e300, 1e-10)])
def test_python_floats(a, b):
    def f(a, b):
        return a // b, a % b, a * b, a / b, divmod(a, b), -a, abs(b), round(b), int(b), float(b), bool(a), a < b, a == b

    check_same(f, a, b)


@pytest.mark.parametrize(("a", "b"), [(True, False), (True, True), (np.bool_(True), np.bool_(False))])
def test_bools(a, b):
    def f(a, b):
        return a + b, a and b, a or b, not a, a & b, a | b, a ^ b, a * 2.5, a == b, a + 1, (1 if a else 2)

    check_same(f, a, b)


def test_arrays_of_bools():
    def f(a, b):
        return a + b, a & b, a | b, a ^ b, ~a, a * b, a * 2, a * 2.5, a == b, a.sum(), a.any(), a.all(), a.mean(), a < b

    check_same(f, np.array([True, False, True]), np.array([True, True, False]))


@pytest.mark.parametrize("x", [1 + 2j, np.complex64(1 - 2j), np.complex128(-3)])
def test_complex_scalars(x):
    def f(x):
        return x * 2, x / 3, x + 1j, x.real, x.imag, abs(x), x == x, -x, x * x, x.conjugate()

    check_same(f, x, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_arrays(dtype):
    def f(a, b):
        a.real[0] = 9
        a.imag += 1
        return a * b, a / b, np.abs(a), np.conj(a), a.conj(), a == b, a.sum(), np.exp(a), a * 1j, a.real + b

    check_same(f, np.array([1 + 2j, 3 - 1j], dtype), np.array([2.0, 0.5], np.float32), rtol=1e-6)


def test_pythons_complex_numbers_take_float64_as_a_float():
    def f(a, z):
        x = a[0]
        total = 0j
        for k in range(2):
            total += a[k]
        return 2j + x, x + 2j, 2j * x, z - x, z / x, z**2.0, z == x, x == z, z != x, total, 1j * a[0:1]

    check_same(f, np.array([2.0, 0.5]), 1 + 2j)
    check_same(f, np.array([2.0, 0.5], np.float32), 1 + 2j, rtol=1e-6, compiled=False)
    check_same(f, np.array([2, 1]), 1 + 2j, compiled=False)


def test_half_precision():
    def f(a, s):
        return a * 2, a + s, a * 1.1, a.sum(), np.sqrt(np.abs(a)), a.astype(np.float32), a > 0, a * np.float32(1), s**2

    check_same(f, np.array([1.5, -2.25, 0.1], np.float16), np.float16(3), rtol=1e-3)


@pytest.mark.parametrize("left", DTYPES)
def test_promotion_of_arrays_and_python_numbers(left):
    def f(a, n, x):
        return a + n, a * x, n + a, a / n, a == n, a + True

    check_same(f, np.ones(3, left), 2, 2.5, rtol=1e-6)


@pytest.mark.parametrize("right", [np.int8, np.uint8, np.uint64, np.float32])
@pytest.mark.parametrize("left", [np.int8, np.int64, np.uint64, np.float16])
def test_promotion_of_numpy_scalars(left, right):
    def f(a, b):
        return a + b, a * b, a < b, a / b

    check_same(f, left(3), right(5))
    check_same(f, np.full(2, 3, left), right(5))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint64])
def test_row_37_overflow_wraps(dtype):
    def f(a, b):
        return a + b, a * b, a - b, b - a, a * 2, -a

    info = np.iinfo(dtype)
    check_same(f, np.array([info.max, info.min, 100], dtype), np.array([1, 1, 100], dtype))
    check_same(f, dtype(info.max), dtype(100))


def test_python_and_numpy_integers_are_different():
    def f(n, a):
        i = np.int32(n)
        x = np.float32(n)
        return i * n, i + x, x * 2.5, i / n, np.int8(7) + n, int(x), a[i - 1], i * np.int64(2), a[np.uint8(2)]

    check_same(f, 3, A8)


def test_conversions():
    def f(a, n):
        return (
            int(a[3]),
            float(a[2]),
            bool(a[0]),
            int(a.sum()),
            round(a[5] / 3),
            round(a[5] / 3, 2),
            complex(n),
            int(-2.7),
        )

    check_same(f, A8, 3)


def test_extrema_and_sums():
    def f(a, n):
        return (
            min(n, 5),
            max(a[1], a[2]),
            max(1, n, 2),
            sum([1, 2, n]),
            sum(a),
            min(a),
            max(a),
            sum((a[0], 1.5)),
            abs(-a[1]),
        )

    check_same(f, A8, 3)


@pytest.mark.parametrize("x", [2.5, 0.3])
def test_the_math_module(x):
    def f(x):
        return (
            math.sqrt(x), math.exp(x), math.floor(x), math.ceil(-x), math.pi * x, math.atan2(x, 1.0), math.isnan(x),
            math.hypot(x, 2.0), math.pow(x, 2), math.log(x), math.trunc(-x), math.fabs(-x), math.inf,
            math.copysign(x, -1),
        )  # fmt: skip

    check_same(f, x, rtol=1e-15)


def test_the_math_module_raises():
    check_same(lambda x: math.sqrt(x), -1.0)
    check_same(lambda x: math.log(x), 0.0)


# -- names and assignment --------------------------------------------------------------------------------------------


def test_chained_assignment_and_swaps():
    def f(a):
        b = c = a + 1
        b[0] = 100
        a[0] = x = a[1] = 5.0
        y, z = 1, 2
        y, z = z, y
        a[2], a[3] = a[3], a[2]
        i = 0
        i, a[i + 4] = 1, 50
        return c, x, y, z, i

    check_same(f, A8)


def test_swaps_of_views_are_numpys():
    def views(a):
        a[:4], a[4:] = a[4:], a[:4]

    def copies(a):
        a[:4], a[4:] = a[4:].copy(), a[:4].copy()

    check_same(views, A8)
    check_same(copies, A8)


def test_unpacking():
    def f(a, m):
        x, *y, z = a[0], a[1], a[2], a[3]
        *p, q = (1, 2, 3)
        (u, v), w = (1, a[3]), 5
        rows, columns = m.shape
        (n,) = a.shape
        return x, y[0] + y[1], z, len(y), p[0] + p[1], q, u, v, w, rows * columns, n

    check_same(f, A8, M)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_unpacking_arrays(n):
    def f(a):
        x, y, z = a
        return x + y * z

    check_same(f, np.arange(n * 1.0))
    check_same(f, np.arange(n * 4.0).reshape(n, 4))


def test_names_are_bound_not_declared():
    def f(a):
        x = 1
        y = x + 2
        x = a
        x = x * y
        y = x.sum()
        x = (x, y)
        del y
        return x[0] + x[1]

    check_same(f, A8)


def test_annotated_assignment_and_nothing():
    def f(a):
        """A docstring."""
        x: float = 3
        y: int  # noqa: F842
        pass
        ...
        if (n := len(a)) > 3:
            x = x + n
        return x * a

    check_same(f, A8)


# -- augmented assignment --------------------------------------------------------------------------------------------


def test_augmented_assignment_to_names_views_elements_and_slices():
    def f(a):
        a += 1
        b = a[2:5]
        b *= 2
        c = b
        c -= a[0]
        a[0] -= 3
        a[1:3] /= 2
        a[-1] **= 2
        a[3] %= 2
        a[4] //= 2
        x = a[5]
        x += 1
        n = 3
        n <<= 2
        n //= 5
        return b, x, n

    check_same(f, A8)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64])
def test_augmented_assignment_to_integers(dtype):
    def f(a, b):
        a <<= 1
        a |= 1
        a ^= 3
        a &= 7
        a >>= 1
        a //= 2
        a %= 3
        a -= b
        a *= b
        a **= 2
        a[2] += 1.7

    check_same(f, np.arange(8).astype(dtype), np.ones(8, dtype))


@pytest.mark.parametrize("s", [2.5, np.float64(2.5), np.float32(0.1), 3])
def test_augmented_assignment_casts(s):
    def f(a, s):
        a += s
        a[1:] *= s
        a[0] -= s
        return a * s

    check_same(f, np.arange(4, dtype=np.float32), s, rtol=1e-6)


def test_casts_that_numpy_refuses():
    def add(a):
        a += 0.5

    def divide(a):
        a /= 2

    def part(a):
        a[1:] *= 1.5

    def too_large(a):
        a += 2**70

    for function in (add, divide, part, too_large):
        with pytest.raises(dcpy.DcpyError, match=r"Cannot cast ufunc|out of bounds|too large"):
            dcpy.program(function)(I8.copy())
    with pytest.raises(dcpy.DcpyError, match="-1 out of bounds for uint8"):
        dcpy.program(lambda a: a + (-1))(I8.astype(np.uint8))


# -- containers of known length --------------------------------------------------------------------------------------


def test_tuples_lists_dictionaries_and_comprehensions():
    def f(a):
        b = [x * 2 for x in range(3)]
        c = np.array([a[i] for i in range(3)])
        d = {"x": a, "y": 2}
        e = [(i, a[i]) for i in range(4) if i % 2]
        g = (1, 2) + (3,)  # noqa: RUF005
        h = [0] * 3
        total = d["x"] * d["y"]
        return b[1], c, total, e[1][1], g[-1], len(h), np.array([[1, 2], [3, 4]]), len("text"), g[1:], sum(b)

    check_same(f, A8)


def test_slices_and_indices_as_values():
    def f(a, m, n):
        s = slice(1, n)
        ij = (1, 2)
        m[ij] = 50
        return a[s], m[ij], m[1][2], m[-1][::-1][0], a[None][0], m[..., None].shape, m[ij[0], s], a[True * 2]

    check_same(f, A8, M, 3)


def test_indexing_by_arrays():
    def f(a, m, idx):
        m[[0, 2]] = 5
        m[:, [1]] += 1
        a[idx] = a[idx[::-1]]
        m[m > 5] *= 2
        return m[[0, 2]], m[:, [1, 1]], m[[0, 1], [1, 2]], m[1, [0, 3]], a[idx]

    check_same(f, A8, M, np.array([0, -1, 3]))


@pytest.mark.parametrize("k", [1, 2, 3, 20, 0])
def test_slices_with_a_step_known_at_run_time(k):
    def f(a, m, k):
        assert k > 0
        a[1:7:k] += 1
        a[20::k] = 5
        a[-3:-100:k] = 6
        window = a[::k][1::k]
        window *= 2
        return a[3::k], a[::k].sum(), m[::k, 1::k] + 1

    check_same(f, A8, M, k)


def test_the_sieve_of_eratosthenes():
    def f(n):
        prime = np.ones(n, dtype=bool)
        prime[:2] = False
        for i in range(2, int(n**0.5) + 1):
            if prime[i]:
                prime[i * i :: i] = False
        return prime

    check_same(f, 60)
