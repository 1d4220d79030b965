"""Section 3, `np.errstate`: as a context, as a decorator, in helpers; what would raise in NumPy is refused."""

import numpy as np
import pytest

import dcpy
from tests.support.oracles import check_same

A = np.array([0.0, -1.0, 4.0, np.inf])
QUIET = np.errstate(divide="ignore", invalid="ignore")


def around_a_part(a):
    b = a + 1
    with np.errstate(divide="ignore", invalid="ignore"):
        c = 1 / a
        d = np.log(a)
    return b + c, d


def around_everything(a):
    with np.errstate(all="ignore"):
        return np.sqrt(a)


def leaves_early(a, n):
    total = np.float64(0.0)
    for i in range(n):
        with np.errstate(all="warn"), np.errstate(over="ignore") as state:
            if a[i] < 0:
                break
            if state is None and a[i] > 3:
                return total * 2
            total += 1 / a[i] if a[i] != 0 else 7.0
        total += 1
    return total


def with_one_made_before(a):
    quiet = np.errstate(all="ignore")
    how = "ignore"
    with quiet:
        b = a / 0.0
    with np.errstate(under=how):
        return b * 1e-300


def nothing_inside(a):
    with np.errstate():
        pass
    return a


def in_a_helper(a):
    @np.errstate(all="ignore")
    def ratio(x, y):
        return x / y

    return ratio(a, a), quotient(a, 0.0)


@np.errstate(divide="ignore")
def quotient(x, y):
    return x / y


@np.errstate(all="ignore")
@np.errstate(invalid="warn")
def decorated(a, k=2):
    return np.log(a) * k


PROGRAMS = [around_a_part, around_everything, with_one_made_before, nothing_inside, in_a_helper, decorated]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", PROGRAMS)
def test_values_are_those_of_numpy(program):
    check_same(program, A, rtol=1e-15, compiled=False)


@pytest.mark.filterwarnings("ignore")
def test_bodies_that_leave():
    for n in (0, 1, 2, 4):
        for a in (A, np.array([2.0, 5.0, 1.0, 1.0]), np.ones(4)):
            check_same(leaves_early, a, n, compiled=False)


@pytest.mark.cc
@pytest.mark.filterwarnings("ignore")
def test_compiled():
    check_same(around_a_part, A, rtol=1e-15)
    check_same(decorated, A, rtol=1e-15)
    check_same(leaves_early, A, 4)


def test_programs_under_a_decorator_are_called_from_programs():
    inner = np.errstate(all="ignore")(dcpy.program(quotient))

    def outer(a):
        return inner(a, 0.0)

    check_same(outer, A, compiled=False)


def refusal(program, *arguments):
    with pytest.raises(dcpy.DcpyError) as caught:
        dcpy.program(program).to_sdfg(*arguments)
    return str(caught.value)


@pytest.mark.parametrize("how", ["raise", "print", "call", "log"])
def test_refuses_what_would_raise_or_print(how):
    def f(a):
        with np.errstate(divide=how):
            return 1 / a

    @np.errstate(all="raise")
    def g(a):
        return 1 / a

    assert f"np.errstate(divide={how!r}) is not supported" in refusal(f, A)
    assert "raise FloatingPointError" in refusal(f, A)
    assert "np.errstate(all='raise')" in refusal(lambda a: g(a), A)
    with pytest.raises(dcpy.DcpyError, match=r"np.errstate\(all='raise'\)"):
        dcpy.program(g)


def test_refuses_to_change_numpy_itself():
    def f(a):
        np.seterr(all="ignore")
        return 1 / a

    assert "write `with np.errstate(...)`" in refusal(f, A)


def test_refuses_what_is_known_at_run_time_only():
    def f(a, how):
        with np.errstate(divide=how):
            return 1 / a

    assert "divide of np.errstate" in refusal(f, A, 1)
