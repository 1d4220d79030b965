"""Forward mode: values for each construct against differences, interpreter and machine code alike; texts; refusals."""

import numpy as np
import pytest

import dcpy
from dcpy.autodiff.forward import forward_mode
from tests.support.derivatives import along, assert_close, outputs

RNG = np.random.default_rng(7)


def stencil(x, steps):
    y = np.zeros_like(x)
    for _ in range(steps):
        y[1:-1] = 0.3 * (x[:-2] + x[1:-1] * x[2:])
        x[1:-1] = np.sin(y[1:-1]) + x[1:-1]
    return np.sum(x * y)


def branches(x, y):
    total = 0.0
    for i in range(x.shape[0]):
        if x[i] > 0.5:
            total += x[i] * y
        elif x[i] > 0.25:
            continue
        else:
            total -= np.exp(x[i])
        if total > 2.0:
            break
    return total


def halving(x):
    while x[0] > 0.1:
        x *= 0.5 + 0.1 * x
    return x[1] / x[0]


def early(x):
    for i in range(x.shape[0]):
        if x[i] > 0.6:
            return x[i] * x[0]
    return x[0]


def products(a, b):
    c = a @ b
    c += a[:, :1] @ b[:1]
    return np.dot(c[0], c[1]), c.T, c @ b[:, 0]


def reductions(a):
    return a.sum(axis=0), a.mean(), a.max(), a.min(axis=1), np.prod(a[0]), np.cumsum(a, axis=1), np.cumprod(a[1])


def indices(x, idx):
    y = x[idx] * 2.0
    x[idx[:2]] += y[:2] ** 2
    return y, x[x > 0.4], np.where(x > 0.3, x * x, 0.0)


def solved(a, b):
    return np.linalg.solve(a, b), np.linalg.inv(a), np.linalg.cholesky(a @ a.T), np.linalg.det(a)


def transformed(x):
    z = np.fft.fft(x)
    return np.abs(z), z.real, np.fft.irfft(np.fft.rfft(x), x.shape[0])


def views(x):
    y = x.reshape(2, -1)
    z = y.T
    z[1] = z[0] * z[2]
    return x[::-1] * 2.0, y


def numbers(x: float, k: int):
    y = x
    for _ in range(k):
        y = y * x + 1.0
    return y, k, float(int(x))


def single(x):
    return x * x, (x.astype(np.float64) ** 3).sum()


A = RNG.random((4, 4)) + 3 * np.eye(4)
CASES = {
    "stencil": (stencil, (RNG.random(7), 3), (0,)),
    "branches": (branches, (RNG.random(9), 0.7), (0, 1)),
    "halving": (halving, (RNG.random(3) + 1,), (0,)),
    "early": (early, (np.array([0.2, 0.3, 0.7, 0.9]),), (0,)),
    "products": (products, (RNG.random((3, 3)), RNG.random((3, 3))), (0, 1)),
    "reductions": (reductions, (RNG.random((3, 4)),), (0,)),
    "indices": (indices, (RNG.random(6), np.array([3, 1, 4, 4])), (0,)),
    "solved": (solved, (A, RNG.random(4)), (0, 1)),
    "transformed": (transformed, (RNG.random(8),), (0,)),
    "views": (views, (RNG.random(6),), (0,)),
    "numbers": (numbers, (1.3, 4), (0,)),
}


def flat(found):
    items = found if isinstance(found, tuple) else (found,)
    return [np.asarray(item) for item in items if item is not None]


def tangents_of(function, arguments, direction):
    """Return the tangents of what is returned, and of the array arguments, in the order of `outputs`."""
    names = list(function.__code__.co_varnames)
    given = {names[k]: v for k, v in direction.items()}
    mine = [np.array(arg) if isinstance(arg, np.ndarray) else arg for arg in arguments]
    outs, found = dcpy.jvp(function, wrt=list(direction))(*mine, tangents=given)
    updated = found if isinstance(found, dict) else {"return": found}
    left = [updated.get(names[k], given[names[k]]) for k, arg in enumerate(arguments)
            if isinstance(arg, np.ndarray) and arg.dtype.kind == "f"]  # fmt: skip
    return flat(outs), mine, [*flat(updated["return"]), *left]


@pytest.mark.parametrize("name", CASES)
def test_tangents_are_slopes(name):
    function, arguments, wrt = CASES[name]
    direction = {k: np.random.default_rng(k).random(np.shape(arguments[k]))[()] for k in wrt}
    if name == "early" or name == "numbers":
        direction = {k: v if np.ndim(v) else float(v) for k, v in direction.items()}
    outs, left, found = tangents_of(function, arguments, direction)
    expected = along(function, arguments, direction, 1e-4)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert_close(one, other)
    plain = outputs(function, arguments)
    arrays = [np.asarray(value) for value in left if isinstance(value, np.ndarray)]
    mine = [out for out in (*outs, *arrays) if out.dtype.kind in "fc"]
    for one, other in zip(mine, plain, strict=True):
        assert_close(one, other, 1e-12)


@pytest.mark.parametrize("name", ["stencil", "branches", "halving", "products", "reductions", "views"])
def test_the_interpreter_agrees(name):
    function, arguments, wrt = CASES[name]
    sdfg = dcpy.jvp(function, wrt=list(wrt)).to_sdfg(*arguments)
    sdfg.validate()
    direction = [RNG.random(np.shape(arguments[k])) if np.ndim(arguments[k]) else 0.4 for k in wrt]
    mine, its = [[np.array(a) if isinstance(a, np.ndarray) else a for a in arguments] for _ in range(2)]
    compiled, interpreted = sdfg.compile()(*mine, *direction), sdfg.interpret(*its, *direction)
    for one, other in zip(leaves(compiled), leaves(interpreted), strict=True):
        assert_close(one, other, 1e-12)


def leaves(found):
    if isinstance(found, tuple):
        return [leaf for part in found for leaf in leaves(part)]
    return [] if found is None else [found]


def test_single_precision_stays_single():
    x = np.arange(3, dtype=np.float32)
    _, (square, cubes) = dcpy.jvp(single)(x, tangents=np.ones(3))
    assert square.dtype == np.float32
    assert cubes.dtype == np.float64
    assert cubes == 3.0 * (x**2).sum()


def test_of_complex_numbers():
    z, v = np.array([1 + 2j, 0.5 - 1j]), np.array([0.3 + 0.1j, -1j])
    _, (square, size, turned) = dcpy.jvp(lambda z: (z * z / (1 + z), np.abs(z), np.conj(z)))(z, tangents=v)
    assert_close(square, (2 * z * (1 + z) - z * z) / (1 + z) ** 2 * v, 1e-12)
    assert_close(size, (z.conj() * v).real / np.abs(z), 1e-12)
    assert_close(turned, v.conj(), 1e-12)


def test_a_zero_tangent_stays_zero():
    x = np.array([0.0, 4.0, -1.0])
    _, found = dcpy.jvp(lambda x: np.where(x > 0, np.sqrt(x), 0.0))(x, tangents=np.ones(3))
    np.testing.assert_array_equal(found, [0.0, 0.25, 0.0])


@pytest.mark.parametrize("size", range(6))
@pytest.mark.parametrize("steps", [-2, 0, 1, 3])
def test_small_sizes_and_few_trips(size, steps):
    x = np.random.default_rng(size).random(size)
    v = np.random.default_rng(9).random(size)
    _, _, found = tangents_of(stencil, (x, steps), {0: v})
    for one, other in zip(found, along(stencil, (x, steps), {0: v}, 1e-4), strict=True):
        assert_close(one, other)


def scale(x, y):
    x *= y


def test_arguments_that_are_updated_have_tangents_by_name():
    x, y = np.array([1.0, 2.0]), np.array([3.0, 5.0])
    outs, tangents = dcpy.jvp(scale, wrt="y")(x, y, tangents=np.array([1.0, 10.0]))
    assert outs is None
    assert tangents["return"] is None
    np.testing.assert_array_equal(tangents["x"], [1.0, 20.0])
    np.testing.assert_array_equal(x, [3.0, 10.0])


def text_of(function, *arguments, wrt=None):
    return str(dcpy.jvp(function, wrt).to_sdfg(*arguments))


def test_text_of_a_map_in_a_loop():
    def double(T, x):
        for t in range(T):
            x[:] = x * x

    assert text_of(double, 3, np.ones(4)) == """\
sdfg @double(T, x: f64[N], x_dot_entry: f64[N]) symbols(T: i64, N: size) -> (x_dot: array) as (none, (none, (0,))) {
  data x_dot: f64[N]
  state {
    copy x_dot_entry[0:N] -> x_dot[0:N]
  }
  loop t = 0:T {
    state {
      map i0 = 0:N {
        tasklet (x_in <- x[i0], x_in_dot1 <- x_dot[i0]) -> (out -> x[i0], out_dot4 -> x_dot[i0]) { v2 = x_in * x_in; out = v2; d3 = x_in * x_in_dot1 + x_in * x_in_dot1; out_dot4 = d3 }
      }
    }
  }
}"""  # noqa: E501


def test_text_of_a_product():
    text = text_of(lambda a, b: a @ b, np.ones((2, 3)), np.ones((3, 2)), wrt=["a", "b"])
    assert "(a <- a_dot[0:N, 0:M], b <- b[0:M, 0:N]) -> (c -> __return_dot[0:N, 0:N])" in text
    assert "(a <- a[0:N, 0:M], b <- b_dot[0:M, 0:N]) -> (c -> __return_dot[0:N, 0:N] (add))" in text


@pytest.mark.parametrize(
    ("function", "arguments", "words"),
    [
        (lambda x: np.sort(x), (np.ones(3),), "no derivative rule for sort.*x\\[np.argsort"),
        (lambda x: np.linalg.eigvalsh(x), (np.eye(3),), "no derivative rule for lapack.eigh"),
        (lambda x: np.linalg.svd(x)[1], (np.eye(3),), "no derivative rule for lapack.svd"),
        (lambda x: np.random.default_rng(1).normal(x, 1.0), (0.5,), "rule for random.draw.*rng.standard_normal"),
    ],
)
def test_refusals_say_what_to_write(function, arguments, words):
    with pytest.raises(dcpy.GradientRefused, match=f"(?s){words}"):
        dcpy.jvp(function)(*arguments, tangents=arguments[0])


def test_overlapping_arguments_are_refused():
    x = np.arange(6.0)
    with pytest.raises(dcpy.GradientRefused, match=r"(?s)may overlap.*copies"):
        dcpy.jvp(scale, wrt="y")(x[:4], x[2:], tangents=np.ones(4))
    shifted = dcpy.jvp(scale, wrt="y")
    shifted(x[:3], np.ones(3), tangents=np.ones(3))
    with pytest.raises(dcpy.GradientRefused):
        shifted(x[:3], x[1:4], tangents=np.ones(3))


@pytest.mark.parametrize(
    ("wrt", "tangents", "words"),
    [
        (None, None, "2 floating-point arguments.*wrt='x'"),
        ("k", 1.0, "'k' is no floating-point number"),
        ("nothing", 1.0, "no argument 'nothing'"),
        ("x", np.ones(3), "shape \\(3,\\), not \\(2,\\)"),
        ("x", None, "no tangents for the argument 'x'"),
        (["x", "y"], {"x": np.ones(2)}, "no tangents for the argument 'y'"),
        ("x", {"x": np.ones(2), "y": np.ones(2)}, "tangents for 'y'"),
    ],
)
def test_mistakes_in_calls(wrt, tangents, words):
    with pytest.raises(dcpy.ArgumentError, match=f"(?s){words}"):
        dcpy.jvp(lambda x, y, k: x * y * k, wrt)(np.ones(2), np.ones(2), 3, tangents=tangents)


def test_the_history_names_the_mode():
    sdfg = dcpy.program(scale).to_sdfg(np.ones(2), np.ones(2), as_called=True)
    forward_mode(sdfg, ["y"])
    assert sdfg.history[-1] == "forward-mode{wrt=(y)}"
