"""W10, W11: sizes in annotations may be expressions; programs that programs call hold to their annotations, too."""

import numpy as np
import pytest

import dcpy

N, M = dcpy.symbols("N M")


# -- W10: expressions --------------------------------------------------------------------------------------------------


@dcpy.program
def pairs(a: dcpy.float64[2 * N]):
    x = np.zeros(N)
    for i in range(N):
        x[i] = a[2 * i] + a[2 * i + 1]
    return x


@dcpy.program
def staggered(a: dcpy.float64[N], b: dcpy.float64[2 * N + 1]):
    return a + b[1::2]


@dcpy.program
def outer(a: dcpy.float64[N * M], b: dcpy.float64[N], c: dcpy.float64[M]):
    return a.reshape(N, M) + b[:, None] * c


@dcpy.program
def unfolded(a: dcpy.float64[N * M]):
    return a.reshape(N, M)


@dcpy.program
def slanted(a: dcpy.float64[3 * N - 1, N]):
    return a.sum() + N


def test_w10_a_symbol_is_solved_for():
    for size in (0, 2, 6, 8):
        a = np.arange(float(size))
        np.testing.assert_array_equal(pairs.to_sdfg().interpret(a), a.reshape(-1, 2).sum(axis=1))
    with pytest.raises(ValueError, match=r"argument 'a' has the size 5 along axis 0, which is 2\*N for no N"):
        pairs.to_sdfg().interpret(np.ones(5))


@pytest.mark.cc
def test_w10_calls_check_what_annotations_say():
    np.testing.assert_array_equal(pairs(np.arange(6.0)), [1, 5, 9])
    np.testing.assert_array_equal(pairs.compile()(np.arange(4.0)), [1, 5])
    with pytest.raises(ValueError, match=r"'a' has the size 7 along axis 0, which is 2\*N for no N"):
        pairs(np.ones(7))
    for size in (0, 1, 3):
        np.testing.assert_array_equal(staggered(np.ones(size), np.ones(2 * size + 1)), np.full(size, 2.0))
    with pytest.raises(ValueError, match=r"'b' has the size 8 along axis 0, but its annotation says 2\*N \+ 1: 7"):
        staggered(np.ones(3), np.ones(8))
    assert outer(np.arange(6.0), np.ones(2), np.ones(3)).shape == (2, 3)
    with pytest.raises(ValueError, match="'a' has the size 7 along axis 0"):
        outer(np.arange(7.0), np.ones(2), np.ones(3))
    assert slanted(np.ones((5, 2))) == 12
    with pytest.raises(ValueError, match=r"its annotation says 3\*N - 1: 5"):
        slanted(np.ones((4, 2)))


@pytest.mark.cc
def test_w10_what_no_size_tells_is_given_by_keyword():
    with pytest.raises(dcpy.ArgumentError, match="needs the symbol"):
        unfolded(np.arange(6.0))
    assert unfolded(np.arange(6.0), N=2, M=3).shape == (2, 3)
    with pytest.raises(ValueError, match="'a' has the size 6"):
        unfolded(np.arange(6.0), N=2, M=4)


# -- W11: programs in programs -----------------------------------------------------------------------------------------


@dcpy.program
def sixteen(x: dcpy.float64[16]):
    return x * 2


@dcpy.program
def twice_as_long(x: dcpy.float64[N], y: dcpy.float64[2 * N]):
    return x.sum() + y.sum()


def plain(x: dcpy.float64[16]):
    return x * 2


def calls_sixteen(a):
    return sixteen(a)


def calls_in_a_map(a):
    out = np.zeros(3)
    for i in dcpy.map[0:3]:
        out[i] = sixteen(a)[i]
    return out


def calls_twice(a, b):
    return twice_as_long(a, b)


def test_w11_a_wrong_dtype_or_rank_is_refused():
    for wrong, reason in ((np.ones(16, "f4"), "has the dtype float32"), (np.ones((4, 4)), "has 2 dimensions")):
        with pytest.raises(dcpy.FrontendError, match=rf"argument 'x' of sixteen\(\) {reason}, but a float64\[16\]"):
            dcpy.program(calls_sixteen).to_sdfg(wrong)


def test_w11_a_size_that_is_known_to_be_wrong_is_refused():
    def f():
        return sixteen(np.zeros(20))

    with pytest.raises(dcpy.DcpyError, match="argument 'x' has the size 20 along axis 0, but its annotation says 16"):
        dcpy.program(f).to_sdfg()


@pytest.mark.parametrize("function", [calls_sixteen, calls_in_a_map])
def test_w11_sizes_are_checked_at_run_time(function):
    sdfg = dcpy.program(function).to_sdfg(np.ones(17))
    assert sdfg.interpret(np.ones(16)).tolist()[:3] == [2, 2, 2]
    with pytest.raises(ValueError, match="argument 'x' has the size 20 along axis 0, but its annotation says 16"):
        sdfg.interpret(np.ones(20))


@pytest.mark.cc
def test_w11_calls_give_the_error_of_a_direct_call():
    assert dcpy.program(calls_sixteen)(np.ones(16)).shape == (16,)
    with pytest.raises(ValueError, match="16"):
        dcpy.program(calls_sixteen)(np.ones(20))
    program = dcpy.program(calls_twice)
    assert program(np.ones(3), np.ones(6)) == 9
    for size in (3, 7):
        with pytest.raises(ValueError, match=r"its annotation says 2\*N"):
            program(np.ones(3), np.ones(size))


@pytest.mark.cc
def test_w11_functions_that_are_no_programs_take_anything():
    def f(a):
        return plain(a)

    assert dcpy.program(f)(np.ones(20)).shape == (20,)
    loose = dcpy.program(plain, ignore_type_hints=True)

    def g(a):
        return loose(a)

    assert dcpy.program(g)(np.ones(20)).shape == (20,)
