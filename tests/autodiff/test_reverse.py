"""Reverse mode: gradients for each construct, against complex step and forward mode; texts; refusals."""

import numpy as np
import pytest

import dcpy
from tests.support.derivatives import assert_close, complex_gradient

RNG = np.random.default_rng(11)


def dense(x, w, b):
    return np.sum(np.tanh(x @ w + b) * 2.0)


def softmax(x):
    e = np.exp(x - x[:, :1])
    return np.sum(e[:, 1] / np.sum(e, axis=1))


def vectors(a, x):
    return np.dot(x @ a, a @ x) + x @ x


def in_place(x, y):
    x *= y
    x += x * x
    y[1:] = x[:-1] * y[1:]
    return np.sum(x * y)


def shared(x):
    v, w = x[1:], x[::-1]
    v *= v
    w[0] = w[1] * 3.0
    return np.sum(x**3)


def overwritten(x):
    y = x * x
    z = y * x
    y[:] = 1.0
    return np.sum(y * z)


def twice(x):
    y = np.zeros_like(x)
    y[:] = x * x
    y[:] = x
    return np.sum(y * y)


def burgers(u, c, steps):
    for _ in range(steps):
        u[1:-1, 1:-1] = u[1:-1, 1:-1] - c * u[1:-1, 1:-1] * (u[1:-1, 1:-1] - u[:-2, 1:-1])
    return np.sum(u * u)


def two_writes(u, v, steps):
    for _ in range(steps):
        v[1:-1] = u[1:-1] * u[2:] + v[1:-1]
        u[1:-1] = v[1:-1] * v[:-2] * 0.5
        u *= 0.9 + 0.1 * u
    return np.sum(u * v)


def nested(x, steps):
    for t in range(steps):
        for i in range(1, x.shape[0]):
            x[i] = x[i] * x[i - 1] + 0.1 * t * x[i]
        x *= 0.7 + 0.1 * x
    return np.sum(x * x)


def triangle(a):
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] -= a[i, i] * a[j, j] * a[j, 0]
        a[i, i] = a[i, i] * a[i, 0]
    return np.sum(a * a)


def backwards(x):
    for i in range(x.shape[0] - 2, -1, -2):
        x[i] += x[i + 1] * x[i]
    return np.sum(x * x)


def gathered(x, idx):
    total = 0.0
    for i in range(idx.shape[0]):
        k = idx[i]
        total += x[k] * x[i]
        x[k] = x[k] * x[k]
    return total + np.sum(x)


def indexed(x, idx):
    return np.sum(x[idx] * x[idx] * 0.5)


def columns(x, y):
    for j in range(1, x.shape[1]):
        y[:, j] = x[:, j] + np.sin(y[:, j - 1] * x[:, j])
    return np.sum(y)


IDX = np.array([2, 0, 2, 3, 1])
CASES = {
    "dense": (dense, (RNG.random((3, 4)), RNG.random((4, 2)), RNG.random(2)), (0, 1, 2)),
    "softmax": (softmax, (RNG.random((3, 4)),), (0,)),
    "vectors": (vectors, (RNG.random((3, 3)), RNG.random(3)), (0, 1)),
    "in_place": (in_place, (RNG.random(5), RNG.random(5)), (0, 1)),
    "shared": (shared, (RNG.random(6),), (0,)),
    "overwritten": (overwritten, (RNG.random(4),), (0,)),
    "twice": (twice, (RNG.random(4),), (0,)),
    "burgers": (burgers, (RNG.random((5, 6)), 0.3, 4), (0, 1)),
    "two_writes": (two_writes, (RNG.random(7), RNG.random(7), 3), (0, 1)),
    "nested": (nested, (RNG.random(5), 3), (0,)),
    "triangle": (triangle, (RNG.random((4, 4)),), (0,)),
    "backwards": (backwards, (RNG.random(7),), (0,)),
    "gathered": (gathered, (RNG.random(5), IDX), (0,)),
    "indexed": (indexed, (RNG.random(5), IDX), (0,)),
    "columns": (columns, (RNG.random((3, 4)), RNG.random((3, 4))), (0, 1)),
}


def copies(arguments):
    return [np.array(arg) if isinstance(arg, np.ndarray) else arg for arg in arguments]


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_complex_step(name):
    function, arguments, wrt = CASES[name]
    program = dcpy.value_and_grad(function, wrt=list(wrt))
    mine, plain = copies(arguments), copies(arguments)
    value, gradients = program(*mine)
    assert_close(value, function(*plain), 1e-12)
    for one, other in zip(mine, plain, strict=True):
        assert_close(one, other, 1e-12)
    its, found = program.to_sdfg(*arguments).interpret(*copies(arguments))
    assert_close(its, value, 1e-12)
    for which, gradient, interpreted in zip(wrt, gradients, found, strict=True):
        expected = complex_gradient(function, arguments, which)
        assert_close(gradient, expected, 1e-11)
        assert_close(interpreted, expected, 1e-11)


STENCILS = {"burgers": 2, "two_writes": 1, "nested": 1, "backwards": 1}


@pytest.mark.parametrize("name", STENCILS)
@pytest.mark.parametrize("size", range(6))
def test_small_sizes_and_few_trips(name, size):
    function, arguments, wrt = CASES[name]
    rng = np.random.default_rng(size)
    program = dcpy.value_and_grad(function, wrt=list(wrt))
    for trips in (-2, -1, 0, 1, 2, 3):
        given = [rng.random((size,) * arg.ndim) if isinstance(arg, np.ndarray) else arg for arg in arguments]
        given = [trips if isinstance(arg, int) else arg for arg in given]
        sdfg = program.to_sdfg(*given)
        _, found = sdfg.interpret(*copies(given))
        for which, gradient in zip(wrt, found, strict=True):
            assert_close(gradient, complex_gradient(function, tuple(given), which), 1e-11)


def stencil_of(steps, u):
    for _ in range(steps):
        u[1:-1] = np.sin(u[:-2]) * u[2:] + u[1:-1]
    return np.sum(u * u)


def test_one_gradient_for_several_sizes():
    gradient = dcpy.grad(stencil_of, wrt="u")
    for size, steps in ((9, 3), (4, 2), (3, 1), (2, 2), (1, 1), (0, 2), (12, -1), (5, 0)):
        u = np.random.default_rng(size).random(size)
        assert_close(gradient(steps, u.copy()), complex_gradient(stencil_of, (steps, u), 1), 1e-11)


def several(x, y, n):
    x *= y
    return x[0] * y, x.sum(), n


def test_products_with_seeds_are_those_of_forward_mode():
    x, y = RNG.random(4), RNG.random(4)
    v, w = {"x": RNG.random(4), "y": RNG.random(4)}, {"return": (RNG.random(4), 0.7), "x": RNG.random(4)}
    outs, tangents = dcpy.jvp(several, wrt=("x", "y"))(x.copy(), y, 3, tangents=v)
    again, gradients = dcpy.vjp(several, wrt=("x", "y"))(x.copy(), y, 3, seeds=w)
    np.testing.assert_allclose(again[0], outs[0])
    forward = sum(np.sum(a * b) for a, b in zip(w["return"], tangents["return"], strict=False))
    forward += np.sum(w["x"] * tangents["x"])
    backward = sum(np.sum(g * v[name]) for name, g in zip(("x", "y"), gradients, strict=True))
    assert backward == pytest.approx(forward, rel=1e-13)


def repeated(x):
    y = x * x
    return y, x.shape[0], y, y[::2], x.sum()


def test_results_that_show_the_same_memory_add_up():
    x, v = RNG.random(4), RNG.random(4)
    _, tangents = dcpy.jvp(repeated)(x, tangents=v)
    seeds = (RNG.random(4), None, RNG.random(4), RNG.random(2), 0.3)
    _, gradient = dcpy.vjp(repeated)(x, seeds=seeds)
    forward = sum(np.sum(w * t) for w, t in zip(seeds, tangents, strict=True) if w is not None)
    assert np.sum(gradient * v) == pytest.approx(forward, rel=1e-13)
    with pytest.raises(dcpy.ArgumentError, match="a seed for result 1 of"):
        dcpy.vjp(repeated)(x, seeds=(None, 1.0))


def handed_back(x):
    x *= x
    return x[1:]


def test_a_result_that_is_a_part_of_an_argument_shares_its_adjoint():
    x = np.array([1.0, 2.0, 3.0])
    _, gradient = dcpy.vjp(handed_back)(x.copy(), seeds={"return": np.array([10.0, 20.0]), "x": np.ones(3)})
    np.testing.assert_array_equal(gradient, [2.0, 44.0, 126.0])


def test_what_has_no_seed_has_the_seed_zero():
    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    _, gradient = dcpy.vjp(several, wrt="y")(x.copy(), y, 1, seeds={"x": np.array([1.0, 10.0])})
    np.testing.assert_array_equal(gradient, [1.0, 20.0])


def test_a_zero_seed_stays_zero():
    x = np.array([0.0, 4.0, -1.0])
    gradient = dcpy.grad(lambda x: np.sum(np.where(x > 0, np.sqrt(x), 0.0)))(x)
    np.testing.assert_array_equal(gradient, [0.0, 0.25, 0.0])


def test_ties_have_one_half_each():
    gradient = dcpy.grad(lambda x: np.sum(np.maximum(x, 1.0)))(np.array([0.0, 1.0, 2.0]))
    np.testing.assert_array_equal(gradient, [0.0, 0.5, 1.0])


def test_an_argument_that_only_decides_has_the_gradient_zero():
    gradients = dcpy.grad(lambda x, k: np.sum(np.where(x > k, x, 2.0)), wrt=("x", "k"))(np.ones(3), 0.5)
    np.testing.assert_array_equal(gradients[0], np.ones(3))
    assert gradients[1] == 0.0


def test_single_precision_stays_single():
    gradient = dcpy.grad(lambda x: np.sum(x * x))(np.arange(3, dtype=np.float32))
    assert gradient.dtype == np.float32
    np.testing.assert_array_equal(gradient, [0, 2, 4])


def test_nothing_is_kept_of_a_linear_loop():
    def smooth(u, steps):
        for _ in range(steps):
            u[1:-1] = 0.5 * (u[:-2] + u[2:])
        return np.sum(u)

    text = str(dcpy.grad(smooth).to_sdfg(np.ones(9), 3))
    assert "tape" not in text


def test_what_is_kept_is_the_box_that_is_read():
    text = str(dcpy.grad(stencil_of, wrt="u").to_sdfg(3, np.ones(9)))
    assert "u_tape: f64[max(0, steps), max(0, N)] transient" in text or "u_tape: f64[max(0, steps), N]" in text
    text = str(dcpy.grad(columns, wrt="y").to_sdfg(np.ones((3, 4)), np.ones((3, 4))))
    assert "tape" not in text


def test_text_of_a_value_that_is_overwritten():
    def f(x):
        x[:] = np.sin(x)
        return np.sum(x)

    text = str(dcpy.grad(f).to_sdfg(np.ones(3)))
    saved = text.index("tasklet (value <- x[k]) -> (out -> x_tape[k])")
    assert saved < text.index("out = sin(x_in)") < text.index("cos(x0)")


@pytest.mark.parametrize(
    ("function", "arguments", "words"),
    [
        (lambda x: x * 2, (np.ones(2),), "does not return one real number.*dcpy.vjp"),
        (lambda x: (x.sum(), x.max()), (np.ones(2),), "does not return one real number"),
        (lambda z: np.sum(np.abs(z)), (np.ones(2) + 1j,), "complex numbers have no gradients yet.*dcpy.jvp"),
    ],
)
def test_refusals(function, arguments, words):
    with pytest.raises(dcpy.GradientRefused, match=f"(?s){words}"):
        dcpy.grad(function)(*arguments)


def looping(x):
    while x[0] < 3.0:
        x *= 1.5
    return np.sum(x)


def leaving(x):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i]
        if total > 1.0:
            break
    return total


@pytest.mark.parametrize(
    ("function", "arguments", "words"),
    [
        (looping, (np.ones(2),), "a while with active values is not reversed yet"),
        (leaving, (np.ones(2),), "a break is not reversed yet"),
    ],
)
def test_control_flow_is_refused_at_its_place(function, arguments, words):
    with pytest.raises(dcpy.GradientRefused, match=f"(?s){words}") as caught:
        dcpy.grad(function, wrt="x")(*arguments)
    assert "test_reverse.py" in str(caught.value)


def test_overlapping_arguments():
    x = np.arange(6.0)
    with pytest.raises(ValueError, match="'x' and 'y' overlap"):
        dcpy.grad(in_place, wrt=("x", "y"))(x[:4], x[2:])
    with pytest.raises(dcpy.GradientRefused, match=r"(?s)may overlap.*copies"):
        dcpy.grad(in_place, wrt="x")(x[:4], x[2:])


def test_scipy_minimizes_with_gradients():
    optimize = pytest.importorskip("scipy.optimize")

    def rosenbrock(x):
        return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)

    found = optimize.minimize(dcpy.value_and_grad(rosenbrock), np.full(4, 1.3), jac=True)
    np.testing.assert_allclose(found.x, np.ones(4), atol=1e-4)
