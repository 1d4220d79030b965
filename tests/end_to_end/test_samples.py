"""W12: an SDFG for sample arguments is for all sizes that the function takes, not for those that happen to be equal."""

import numpy as np
import pytest

import dcpy

SQUARE, LINE = np.arange(9.0).reshape(3, 3), np.arange(5.0)


def header(function, *samples) -> str:
    return str(dcpy.program(function).to_sdfg(*samples)).splitlines()[0]


def scaled(a):
    return a * 2


def added(a, b):
    return a + b


def product(a, b):
    return a @ b


def totals(a, b):
    return a.sum() + b.sum()


def one_way(a, b, c):
    if c > 0:
        return a + b
    return a * 2


def stencil(u, v, steps=2):
    for _ in range(steps):
        v[1:-1] = u[:-2] + u[2:]


def nested(a, b):
    return added(a, b) * 2


@pytest.mark.parametrize(
    ("function", "samples", "arguments"),
    [
        (scaled, (SQUARE,), "a: f64[N, M]"),
        (added, (SQUARE, SQUARE.copy()), "a: f64[N, M], b: f64[N, M]"),
        (nested, (SQUARE, SQUARE.copy()), "a: f64[N, M], b: f64[N, M]"),
        (product, (SQUARE, SQUARE.copy()), "a: f64[N, M], b: f64[M, K]"),
        (totals, (LINE, LINE.copy()), "a: f64[N], b: f64[M]"),
        (one_way, (LINE, LINE.copy(), 1), "a: f64[N], b: f64[M], c"),
        (stencil, (LINE, LINE.copy(), 2), "u: f64[N], v: f64[N], steps"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_w12_only_what_the_program_requires_is_related(function, samples, arguments):
    assert f"({arguments})" in header(function, *samples)


def calls():
    rng = np.random.default_rng(0)
    return {
        scaled: ((SQUARE,), [(rng.random((3, 4)),), (rng.random((1, 7)),), (rng.random((0, 2)),)]),
        product: ((SQUARE, SQUARE.copy()), [(rng.random((2, 3)), rng.random((3, 5)))]),
        totals: ((LINE, LINE.copy()), [(rng.random(4), rng.random(9))]),
        one_way: ((LINE, LINE.copy(), 1), [(rng.random(4), rng.random(9), 0), (rng.random(4), rng.random(4), 1)]),
        stencil: ((LINE, LINE.copy(), 2), [(rng.random(n), rng.random(m), 2) for n, m in ((6, 6), (3, 7), (2, 1))]),
    }


def run_all(run, function, given):
    mine, reference = [[np.copy(x) if isinstance(x, np.ndarray) else x for x in given] for _ in range(2)]
    expected = function(*reference)
    found = run(*mine)
    if expected is not None:
        np.testing.assert_allclose(found, expected)
    for x, y in zip(mine, reference, strict=True):
        np.testing.assert_allclose(x, y)


@pytest.mark.parametrize("function", calls(), ids=lambda function: function.__name__)
def test_w12_later_sizes_are_taken_by_the_interpreter(function):
    samples, later = calls()[function]
    sdfg = dcpy.program(function).to_sdfg(*samples)
    for given in (samples, *later):
        run_all(sdfg.interpret, function, given)


@pytest.mark.cc
@pytest.mark.parametrize("function", calls(), ids=lambda function: function.__name__)
def test_w12_later_sizes_are_taken_by_machine_code(function):
    samples, later = calls()[function]
    program = dcpy.program(function)
    for compiled in (program.compile(*samples), program.to_sdfg(*samples).compile()):
        for given in (samples, *later):
            run_all(compiled, function, given)


def test_w12_sizes_that_contradict_each_other_raise_as_before():
    sdfg = dcpy.program(stencil).to_sdfg(LINE, LINE.copy(), 2)
    with pytest.raises(ValueError, match="could not broadcast"):
        sdfg.interpret(np.ones(6), np.ones(9), 2)
    sdfg.interpret(np.ones(6), np.ones(9), 0)
    with pytest.raises(dcpy.ArgumentShapeError):
        dcpy.program(added).to_sdfg(LINE, LINE.copy()).interpret(np.ones(6), np.ones(9))


def smoothed(a, out):
    out[1:-1] = a[2:] + a[:-2]


def test_the_version_that_a_call_runs_is_shown_with_what_it_assumes():
    program = dcpy.program(smoothed)
    a, out = np.arange(7.0), np.zeros(7)
    called = program.to_sdfg(a, out, as_called=True)
    assert "assumes(N >= 2)" in str(called)
    assert "min(" not in str(called)
    assert "assumes" not in str(program.to_sdfg(a, out))
    called.interpret(a, out)
    np.testing.assert_array_equal(out[1:-1], a[2:] + a[:-2])
    with pytest.raises(dcpy.ArgumentShapeError, match="N - 2 is not negative, but N is 1"):
        called.interpret(np.ones(1), np.ones(1))


@pytest.mark.cc
def test_a_later_call_of_other_sizes_changes_no_version_that_is_there():
    program = dcpy.program(smoothed)
    first = str(program.to_sdfg(np.ones(7), np.ones(7), as_called=True))
    program(np.ones(7), np.ones(7))
    program(np.ones(3), np.ones(2))
    assert str(program.to_sdfg(np.ones(7), np.ones(7), as_called=True)) == first


def test_sizes_of_reshapes_are_those_of_the_array_in_a_call():
    def f(a, n, m):
        return np.reshape(a, (n, 1, m)) * 2

    program = dcpy.program(f)
    text = str(program.to_sdfg(np.ones((3, 4)), 3, 4, as_called=True))
    assert "check" not in text
    assert "cannot reshape" in str(program.to_sdfg(np.ones((3, 4)), 3, 4))
    assert "cannot reshape" in str(program.to_sdfg(np.ones((3, 4)), 6, 2, as_called=True))
    for n, m in ((3, 4), (6, 2), (12, 1)):
        found = program.to_sdfg(np.ones((3, 4)), n, m, as_called=True).interpret(np.ones((3, 4)), n, m)
        assert np.array_equal(found, f(np.ones((3, 4)), n, m))
