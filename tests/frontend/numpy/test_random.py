"""NumPy's ``Generator`` in programs: results, what the caller's generator is left as, and what is refused."""

import threading

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import FrontendError
from tests.support.draws import ARGUMENTS, PROGRAMS
from tests.support.streams import compare, interpreted, state_of

A, N = ARGUMENTS


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_interpreted(program):
    for simplify in (False, True):
        compare(program, interpreted(program, simplify=simplify), *ARGUMENTS, seeds=(0, 42))


# -- what does not fit -----------------------------------------------------------------------------------------------

#: NumPy raises each of these; `a` is positive, `n` is 3. The message is the same.
WRONG = (
    lambda rng, a, n: rng.normal(0, -1),
    lambda rng, a, n: rng.normal(0, -0.0),
    lambda rng, a, n: rng.normal(0, -a),
    lambda rng, a, n: rng.normal(0, -a[0], n),
    lambda rng, a, n: rng.normal(size=-n),
    lambda rng, a, n: rng.uniform(2, 1),
    lambda rng, a, n: rng.uniform(a, 1),
    lambda rng, a, n: rng.uniform(0, np.inf),
    lambda rng, a, n: rng.uniform([0, np.inf], 1),
    lambda rng, a, n: rng.gamma(-1),
    lambda rng, a, n: rng.standard_gamma([-1.0]),
    lambda rng, a, n: rng.beta(a - 0.5, 1),
    lambda rng, a, n: rng.chisquare(0),
    lambda rng, a, n: rng.noncentral_chisquare(1, -a[0]),
    lambda rng, a, n: rng.f(1, n - 3),
    lambda rng, a, n: rng.lognormal(0, -1),
    lambda rng, a, n: rng.triangular(1, 0, 2),
    lambda rng, a, n: rng.triangular(0, [3], 2),
    lambda rng, a, n: rng.triangular(n, n, n),
    lambda rng, a, n: rng.poisson(-1),
    lambda rng, a, n: rng.poisson([-1]),
    lambda rng, a, n: rng.poisson(1e20 * a),
    lambda rng, a, n: rng.poisson(np.nan),
    lambda rng, a, n: rng.binomial(-n, 0.5),
    lambda rng, a, n: rng.binomial(1, a[5]),
    lambda rng, a, n: rng.binomial(1, a),
    lambda rng, a, n: rng.negative_binomial(0, 0.5),
    lambda rng, a, n: rng.negative_binomial(1, a[5]),
    lambda rng, a, n: rng.negative_binomial(1e20, 0.5),
    lambda rng, a, n: rng.geometric(2),
    lambda rng, a, n: rng.hypergeometric(-1, 1, 1),
    lambda rng, a, n: rng.hypergeometric(2 * 10**9, 1, 5),
    lambda rng, a, n: rng.hypergeometric(1, 1, -n),
    lambda rng, a, n: rng.logseries([1]),
    lambda rng, a, n: rng.zipf(a),
    lambda rng, a, n: rng.random(3, out=a),
    lambda rng, a, n: rng.random(out=a[::2]),
    lambda rng, a, n: rng.integers(0),
    lambda rng, a, n: rng.integers(n, 2),
    lambda rng, a, n: rng.integers(0, n - 5, size=4, endpoint=True),
    lambda rng, a, n: rng.integers(0, 300, dtype=np.uint8),
    lambda rng, a, n: rng.integers(-n, 30, dtype=np.uint8),
    lambda rng, a, n: rng.integers([0, 5], [3, 3]),
    lambda rng, a, n: rng.integers([0, 0], [3, -3]),
    lambda rng, a, n: rng.choice(0),
    lambda rng, a, n: rng.choice(n - 3),
    lambda rng, a, n: rng.choice(n, 6, replace=False),
    lambda rng, a, n: rng.choice(5, p=a),
    lambda rng, a, n: rng.choice(6, p=a),
    lambda rng, a, n: rng.choice(6, p=-a),
    lambda rng, a, n: rng.choice(6, p=a * np.nan),
    lambda rng, a, n: rng.choice(6, 6, replace=False, p=(a > 1.0) / 4),
    lambda rng, a, n: rng.dirichlet(-a),
    lambda rng, a, n: rng.multinomial(-n, a / 100),
    lambda rng, a, n: rng.multinomial(n, a),
    lambda rng, a, n: rng.multinomial(n, [0.6, 0.6, 0.1]),
    lambda rng, a, n: rng.multinomial(n, [[0.6, 0.6, 0.1]]),
    lambda rng, a, n: rng.multivariate_hypergeometric([-1, n], 1),
    lambda rng, a, n: rng.multivariate_hypergeometric([1, n], 5),
    lambda rng, a, n: rng.multivariate_hypergeometric([1, 10**9], 1),
    lambda rng, a, n: rng.multivariate_normal([0, 0], [[1, 2], [2, 1]], check_valid="raise"),
    lambda rng, a, n: rng.multivariate_normal(a, np.eye(2)),
)


@pytest.mark.parametrize("function", WRONG, ids=range(len(WRONG)))
def test_what_numpy_raises(function):
    """At run time; where all is known, when the function is compiled."""
    generator, twin = np.random.default_rng(0), np.random.default_rng(0)
    with pytest.raises((ValueError, OverflowError)) as expected:
        function(twin, A, N)
    with pytest.raises((ValueError, OverflowError, FrontendError)) as got:
        interpreted(function)(generator, A, N)
    raised = got.value
    assert str(expected.value) in str(raised)
    assert expected.type.__name__ in str(raised) if isinstance(raised, FrontendError) else type(raised) is expected.type
    assert state_of(generator) == state_of(twin)


REFUSED = (
    (lambda rng, a: np.random.default_rng().random(), "without a seed"),
    (lambda rng, a: np.random.default_rng(1.5).random(), "a seed is an integer"),
    (lambda rng, a: np.random.RandomState(3).rand(), "uses NumPy's legacy generator"),
    (lambda rng, a: rng.normall(), "did you mean .normal()"),
    (lambda rng, a: rng.integers(a), "must be integers"),
    (lambda rng, a: rng.normal(1j), "not a real number"),
    (lambda rng, a: rng.binomial(a, 0.5), "not an integer"),
    (lambda rng, a: rng.random(dtype=np.float16), "Unsupported dtype"),
    (lambda rng, a: rng.shuffle([1, 2]), "shuffles arrays"),
    (lambda rng, a: np.random.default_rng(3), "cannot return a random generator"),
    (lambda rng, a: (rng if a[0] > 0 else np.random.default_rng(1)).random(), "a random generator or another one"),
    (lambda rng, a: rng.bytes(8), "no method 'bytes'"),
)


@pytest.mark.parametrize(("function", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_refused(function, words):
    with pytest.raises(FrontendError, match=words.replace(".", r"\.").replace("(", r"\(").replace(")", r"\)")):
        dcpy.program(function).to_sdfg(np.random.default_rng(0), A)


def normals(rng, mean, cov):
    return (
        rng.multivariate_normal(mean, cov),
        rng.multivariate_normal(mean, cov, (2, 3), method="eigh"),
        rng.multivariate_normal(mean, cov, 4, method="cholesky"),
        rng.multivariate_normal(mean, cov, check_valid="ignore"),
    )


@pytest.mark.parametrize("way", [interpreted, pytest.param(dcpy.program, marks=pytest.mark.cc)])
def test_normal_vectors(way):
    """The noise is NumPy's to the bit, the products to rounding."""
    mean, cov = np.array([1.0, 2.0, 3.0]), np.diag([1.0, 2.0, 3.0]) + 0.25
    generator, twin = np.random.default_rng(0), np.random.default_rng(0)
    for got, expected in zip(way(normals)(generator, mean, cov), normals(twin, mean, cov), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-11, strict=True)
    assert state_of(generator) == state_of(twin)


@pytest.mark.parametrize("way", [interpreted, pytest.param(dcpy.program, marks=pytest.mark.cc)])
def test_a_covariance_that_is_none_warns(way):
    def normal(rng, cov):
        return rng.multivariate_normal([0, 0], cov)

    with pytest.warns(RuntimeWarning, match="covariance is not symmetric positive-semidefinite"):
        assert np.isfinite(way(normal)(np.random.default_rng(0), np.array([[1.0, 2.0], [2.0, 1.0]]))).all()


# -- order -----------------------------------------------------------------------------------------------------------


def walk(rng, steps):
    """Each draw decides how many follow: no two may change places, and none may be dropped."""
    position, heights = 0.0, np.zeros(steps)
    for i in range(steps):
        rng.random()
        while rng.random() < 0.5:
            position += rng.normal()
        heights[i] = position + (rng.random() if position > 0 else 10 * rng.random())
    return heights, rng.integers(100)


def helped(rng, n):
    def draw_twice(scale):
        return rng.normal(0, scale) - rng.normal(0, scale)

    return np.array([draw_twice(float(k + 1)) for k in range(4)]), total(rng, n), total(rng, n)


def total(generator, n):
    return generator.random(n).max()


def stencil(rng, n):
    """Elementwise code around draws: maps are fused, draws stay where they are."""
    a = rng.random(n)
    b = a * 2 + 1
    c = rng.random(n)
    d = b * c
    rng.random(n)  # nobody reads this, but the generator advances
    return d + a, rng.random()


@pytest.mark.parametrize("function", [walk, helped, stencil], ids=lambda function: function.__name__)
@pytest.mark.parametrize(
    "options", [{}, {"simplify": False}, {"auto_optimize": True}], ids=["simplified", "as written", "optimized"]
)
@pytest.mark.cc
def test_draws_stay_in_order(function, options):
    compare(function, dcpy.program(function, **options), 20, seeds=(0, 1))


def test_a_loop_that_draws_stays_a_loop():
    def fill(rng, n):
        a = np.empty(n)
        for i in range(n):
            a[i] = rng.random()
        return a

    sdfg = dcpy.program(fill, auto_optimize=True).to_sdfg(np.random.default_rng(0), 10)
    text = str(sdfg)
    assert "loop i" in text
    assert "map" not in text


def test_iterations_of_a_map_do_not_share_a_generator():
    def shared(rng, n):
        a = np.empty(n)
        for i in dcpy.map[0:n]:
            a[i] = rng.random()
        return a

    with pytest.raises(FrontendError, match="cannot draw from one generator"):
        dcpy.program(shared).to_sdfg(np.random.default_rng(0), 10)


@pytest.mark.cc
def test_iterations_of_a_map_may_have_generators_of_their_own():
    def own(seed, n):
        a = np.empty(n)
        for i in dcpy.map[0:n]:
            a[i] = np.random.default_rng([seed, i]).normal()
        return a

    expected = [np.random.default_rng([5, i]).normal() for i in range(100)]
    np.testing.assert_array_equal(dcpy.program(own)(5, 100), expected, strict=True)


# -- generators around the program -----------------------------------------------------------------------------------

SHARED = np.random.default_rng(3)


@pytest.mark.cc
def test_a_global_generator_is_the_one_that_the_name_stands_for():
    def numbers(n):
        return SHARED.random(n)

    global SHARED
    program = dcpy.program(numbers)
    for seed in (3, 4):
        SHARED, twin = np.random.default_rng(seed), np.random.default_rng(seed)
        for _ in range(2):
            np.testing.assert_array_equal(program(4), twin.random(4), strict=True)
    assert state_of(SHARED) == state_of(twin)


@pytest.mark.cc
def test_two_arguments_may_be_one_generator():
    def both(left, right):
        return left.random(), right.random(), left.random()

    program = dcpy.program(both)
    a, b, twin = (np.random.default_rng(seed) for seed in (1, 2, 1))
    assert program(a, b) == both(np.random.default_rng(1), np.random.default_rng(2))
    twin.random(2)
    assert program(a, a) == both(twin, twin)
    assert program(np.random.Generator(a.bit_generator), a) == both(twin, twin)


@pytest.mark.cc
def test_the_lock_is_held():
    """Two threads draw from one generator: each number is drawn once."""

    def many(rng, n):
        return rng.integers(0, 2**63, size=n)

    program, generator, n = dcpy.program(many), np.random.default_rng(0), 20000
    program(np.random.default_rng(0), n)
    found = [None] * 4

    def work(place):
        found[place] = np.concatenate([program(generator, n) for _ in range(10)])

    threads = [threading.Thread(target=work, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = np.random.default_rng(0).integers(0, 2**63, size=40 * n)
    np.testing.assert_array_equal(np.sort(np.concatenate(found)), np.sort(expected))


def is_free(generator):
    """Whether another thread could draw."""
    found = []

    def draw():
        found.append(generator.bit_generator.lock.acquire(blocking=False))
        if found[0]:
            generator.bit_generator.lock.release()

    thread = threading.Thread(target=draw)
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.cc
def test_the_lock_is_released_where_a_program_raises():
    def risky(rng, scale):
        return rng.normal(0.0, scale)

    program, generator = dcpy.program(risky), np.random.default_rng(0)
    with pytest.raises(ValueError, match="scale < 0"):
        program(generator, -1.0)
    assert is_free(generator)
    assert program(generator, 1.0) == np.random.default_rng(0).normal(0.0, 1.0)


@pytest.mark.cc
def test_the_lock_is_not_held_by_a_program_that_calls_back():
    """What it calls may draw from the same generator, in another thread even, and draws keep their order."""

    @dcpy.callback
    def elsewhere() -> float:
        drawn = []
        thread = threading.Thread(target=lambda: drawn.append(SHARED.random()))
        thread.start()
        thread.join(10)
        return drawn[0]

    def numbers(n):
        found = np.empty(n)
        for i in range(n):
            found[i] = SHARED.random() - elsewhere()
        return found

    global SHARED
    SHARED, twin = np.random.default_rng(3), np.random.default_rng(3)
    expected = [twin.random() - twin.random() for _ in range(5)]
    np.testing.assert_array_equal(dcpy.program(numbers)(5), expected)


@pytest.mark.cc
def test_the_lock_is_taken_once_where_another_argument_is_copied():
    free = []

    @dcpy.callback
    def look() -> None:
        free.append(is_free(generator))

    def numbers(rng, a, parts):
        look()
        return a + rng.random() + parts[0]

    generator, a, parts = np.random.default_rng(1), np.ones((2, 3)), (np.ones(3),)
    compiled = dcpy.program(numbers).compile(generator, a, parts)
    for given in (a, np.asfortranarray(a)):
        assert compiled(generator, given, parts).shape == (2, 3)
    assert free == [True, True]


@pytest.mark.cc
def test_annotated_ahead_of_time():
    def numbers(rng: np.random.Generator, x: dcpy.float64[5]):
        return x + rng.random(5)

    compiled = dcpy.program(numbers).compile()
    generator = np.random.default_rng(1)
    np.testing.assert_array_equal(compiled(generator, np.ones(5)), 1 + np.random.default_rng(1).random(5))
    for run in (compiled, dcpy.program(numbers)):
        for other in (7, np.zeros(5, np.uint64)):
            with pytest.raises(dcpy.DcpyError, match=r"'rng' is .*, but a numpy.random.Generator is needed"):
                run(other, np.ones(5))


@pytest.mark.cc
def test_an_sdfg_knows_its_generators():
    free = []

    @dcpy.callback
    def look() -> None:
        free.append(is_free(generator))

    def drawn(rng, x):
        x += rng.random()

    def numbers(rng, unused, x):
        drawn(rng, x)
        look()
        drawn(rng, x)

    generator, x = np.random.default_rng(1), np.zeros(1)
    sdfg = dcpy.program(numbers).to_sdfg(generator, generator, x)
    read = dcpy.parse(str(sdfg)).bind(sdfg.callbacks)
    for each in (sdfg, read):
        each.compile()(generator, generator, x)
    assert x[0] == sum(np.random.default_rng(1).random(4))
    assert free == [True, True]


@pytest.mark.cc
def test_something_else_is_another_program():
    def numbers(rng):
        return rng.random()

    program = dcpy.program(numbers)
    assert program(np.random.default_rng(1)) == np.random.default_rng(1).random()
    with pytest.raises(FrontendError, match="random"):
        program(7)
    assert program(np.random.RandomState(1)) == np.random.RandomState(1).random()
