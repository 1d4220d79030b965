"""Section 3, the old `np.random.*` and Python's `random`: their streams, to the last bit, and their states after."""

import random

import numpy as np
import pytest

import dcpy
from dcpy import plugins
from dcpy.frontend.lower.function_to_sdfg import lower_function
from dcpy.frontend.specialize.types_from_call import types_from_call
from dcpy.ir.interp import run
from tests.support.oracles import assert_equal

A = np.array([0.5, 2.0, 1.25])
N = 5
STATE = np.random.RandomState(11)

PROGRAMS = (
    lambda a, n: np.random.rand(),
    lambda a, n: (np.random.rand(3), np.random.rand(n, 2), np.random.random(n), np.random.random_sample((2, n))),
    lambda a, n: (np.random.ranf(2), np.random.sample(), np.random.random()),
    lambda a, n: (np.random.uniform(), np.random.uniform(2, 5, n), np.random.uniform(a, 7), np.random.uniform(5, 2)),
    lambda a, n: (np.random.randint(10), np.random.randint(3, n), np.random.randint(0, 10, n)),
    lambda a, n: np.random.randint(0, 200, (2, n), dtype=np.uint8),
    lambda a, n: (np.random.randint(-5, 5, 7, dtype=np.int16), np.random.randint(2, size=9, dtype=bool)),
    lambda a, n: (np.random.randint(0, 2**40, n), np.random.randint(-(2**63), 2**63 - 1, 3), np.random.randint(1)),
    lambda a, n: np.random.randint(np.array([0, 10]), np.array([[5], [100]]) + 10),
    lambda a, n: (np.random.permutation(n), np.random.permutation(a), np.random.permutation(np.ones((n, 2)))),
    lambda a, n: (np.random.choice(n), np.random.choice(n, 3), np.random.choice(a, (2, n)), np.random.choice(a)),
    lambda a, n: (np.random.choice(n, 3, replace=False), np.random.choice(a, 2, replace=False)),
    lambda a, n: (np.random.choice(3, n, p=a / a.sum()), np.random.choice(3, 2, False, a / a.sum())),
    lambda a, n: (np.random.randn(), np.random.randn(3), np.random.randn(n, 2), np.random.randn()),
    lambda a, n: (np.random.normal(), np.random.normal(1, 2, n), np.random.normal(a, 0.5), np.random.rand()),
    lambda a, n: (np.random.standard_normal(3), np.random.standard_normal(), np.random.standard_normal((n, 1))),
    lambda a, n: (np.random.exponential(), np.random.exponential(2.0, 3), np.random.exponential(scale=a, size=(2, 3))),
    lambda a, n: (np.random.poisson(3.0), np.random.poisson(a), np.random.binomial(n, 0.3, 4)),
    lambda a, n: (np.random.geometric(0.5), np.random.hypergeometric(n, 3, 4), np.random.logseries(0.5, 3)),
    lambda a, n: (np.random.gamma(2.0), np.random.beta(a, 1.0), np.random.lognormal(size=2), np.random.laplace()),
    lambda a, n: (np.random.triangular(0, 1, n), np.random.vonmises(0, 1, 2), np.random.weibull(a), np.random.zipf(3)),
    lambda a, n: np.random.seed(n),
    lambda a, n: (np.random.randn(), np.random.seed(7), np.random.rand(), np.random.randn()),
    lambda a, n: (STATE.rand(3), STATE.normal(size=n), np.random.rand(), STATE.randint(0, 5)),
)


def shuffled(a, n):
    rows = np.arange(6.0).reshape(3, 2)
    np.random.shuffle(a)
    np.random.shuffle(rows)
    return rows, np.random.rand()


def in_loops(a, n):
    total = 0.0
    for i in range(n):
        if np.random.rand() < 0.5:
            total += np.random.normal()
        else:
            total -= np.random.uniform(0, i) + a[np.random.randint(3)]
    return total


def in_functions(a, n):
    def noise(scale):
        return scale * np.random.rand() + np.random.normal(0, scale)

    return noise(1.0) + noise(n), noise(a)


def of_python(a, n):
    random.seed(n)
    total = 0.0
    for _ in range(n):
        total += random.random() + random.gauss(0, 1) * random.uniform(1, 2)
    whole = random.randint(1, 6), random.randrange(n), random.randrange(0, 10 * n, 3), random.getrandbits(20)
    random.shuffle(a)
    return total, whole, random.choice(a), random.choice((1, 2, 3)), random.expovariate(1.5), random.choice(range(n))


ALL = (*PROGRAMS, shuffled, in_loops, in_functions, of_python)


def states():
    old = [(s[1].tolist(), *s[2:]) for s in (np.random.get_state(), STATE.get_state())]
    return old, random.getstate()


def outcome(call, seed=3):
    """The result of a call that starts with known states, and the states afterwards."""
    np.random.seed(seed)
    STATE.seed(seed + 1)
    random.seed(seed)
    np.random.randn()  # one more normal number is kept
    arguments = (A.copy(), N)
    return call(*arguments), arguments[0], states()


def interpreted(function):
    plugins.load()

    def call(a, n):
        lowered = lower_function(function, types_from_call({"a": a, "n": n}), name="tested")
        extra = {argument.name: argument.array for argument in lowered.extra_arguments}
        return run(lowered.sdfg, {"a": a, "n": n, **extra})

    return call


def agree(got, expected):
    assert_equal(got[:2], expected[:2])
    assert got[2] == expected[2]


@pytest.mark.parametrize("function", ALL, ids=range(len(ALL)))
def test_numbers_and_states(function):
    agree(outcome(interpreted(function)), outcome(function))


@pytest.mark.cc
def test_compiled():
    for function in ALL:
        agree(outcome(dcpy.program(function)), outcome(function))


@pytest.mark.cc
def test_the_stream_goes_on_between_calls():
    program = dcpy.program(in_loops)
    np.random.seed(1)
    compiled = [program(A, N), np.random.normal(), program(A, N), np.random.rand()]
    np.random.seed(1)
    assert compiled == [in_loops(A, N), np.random.normal(), in_loops(A, N), np.random.rand()]


@pytest.mark.cc
def test_another_bit_generator():
    program, before = dcpy.program(PROGRAMS[1]), np.random.get_bit_generator()
    outcome(program)
    try:
        np.random.set_bit_generator(np.random.MT19937(5))
        got = program(A, N)
        np.random.set_bit_generator(np.random.MT19937(5))
        assert_equal(got, PROGRAMS[1](A, N))
    finally:
        np.random.set_bit_generator(before)


WRONG = (
    lambda a, n: np.random.randint(n, 2),
    lambda a, n: np.random.choice(n, 9, replace=False),
    lambda a, n: np.random.normal(0, -1),
    lambda a, n: np.random.poisson(-a),
    lambda a, n: np.random.uniform(0, np.inf),
    lambda a, n: random.choice(a[n:]),
    lambda a, n: random.randrange(0),
)


@pytest.mark.parametrize("function", WRONG, ids=range(len(WRONG)))
def test_what_numpy_and_python_raise(function):
    with pytest.raises(Exception) as expected:  # noqa: PT011
        function(A, N)
    with pytest.raises(type(expected.value)):
        interpreted(function)(A.copy(), N)


REFUSED = (
    (lambda a, n: np.random.get_state(), "np.random.get_state is not compiled"),
    (lambda a, n: np.random.bytes(3), "np.random.bytes is not compiled"),
    (lambda a, n: np.random.RandomState(n).rand(), "uses NumPy's legacy generator"),
    (lambda a, n: np.random.normal(1, 2, 3, 4), "normal\\(\\) too many positional arguments"),
    (lambda a, n: random.sample(range(n), 2), "random.sample is not compiled"),
    (lambda a, n: random.shuffle([1, 2]), "random.shuffle of a list"),
)


@pytest.mark.parametrize(("function", "message"), REFUSED)
def test_refused(function, message):
    with pytest.raises(dcpy.DcpyError, match=message):
        dcpy.program(function).to_sdfg(A, N)


def test_draws_in_a_parallel_map_are_refused():
    def f(n):
        out = np.empty(n)
        for i in dcpy.map[0:n]:
            out[i] = np.random.rand()
        return out

    with pytest.raises(dcpy.DcpyError, match="cannot draw from one generator"):
        dcpy.program(f).to_sdfg(N)
