"""Parallel maps: dimensions, steps, what iterations may share, and conflicts that become reductions."""

import numpy as np
import pytest

import dcpy
from tests.support.oracles import check_same

pytestmark = pytest.mark.cc

A8 = np.arange(8.0)
I8 = np.arange(8)
M = np.arange(12.0).reshape(3, 4)


# -- domains ---------------------------------------------------------------------------------------------------------


def test_one_two_and_three_dimensions():
    def f(a, m):
        c = np.zeros((2, 3, 4))
        for i in dcpy.map[0:8]:
            a[i] += i
        for i, j in dcpy.map[0 : m.shape[0], 0 : m.shape[1]]:
            m[i, j] = m[i, j] * 2 + i - j
        for i, j, k in dcpy.map[0:2, 0:3, 0:4]:
            c[i, j, k] = i * 100 + j * 10 + k
        return c

    check_same(f, A8, M)


@pytest.mark.parametrize(("lo", "hi"), [(0, 8), (2, 5), (5, 2), (3, 3)])
def test_bounds_and_steps(lo, hi):
    def f(a, m, lo, hi):
        for i in dcpy.map[lo:hi]:
            a[i] = -1
        for i, j in dcpy.map[0:3:2, 1:4:2]:
            m[i, j] = lo
        for i in dcpy.map[7:3:-2]:
            a[i] += i
        for i in dcpy.map[lo + 1 : 8 : 3]:
            a[i] *= 2

    check_same(f, A8, M, lo, hi)


def test_maps_in_maps_and_loops():
    def f(m):
        for t in range(3):
            for i in dcpy.map[0:3]:
                for j in dcpy.map[0:4]:
                    m[i, j] += t * i * j
        for i in dcpy.map[0:3]:
            for j in range(1, 4):
                m[i, j] += m[i, j - 1]
            k = 0
            while m[i, k] < 3 and k < 3:
                k += 1
            m[i, 0] = k

    check_same(f, M)


# -- what an iteration has -------------------------------------------------------------------------------------------


def test_names_and_arrays_of_one_iteration():
    def f(m):
        for i in dcpy.map[0 : m.shape[0]]:
            t = m[i] * 2
            t[0] = 5
            total = t.sum()
            for j in range(4):
                if t[j] > 6:
                    break
                m[i, j] = t[j] + total
            else:
                m[i, 0] = 77

    check_same(f, M)


def test_branches_continue_and_calls():
    def f(a, m):
        for i in dcpy.map[0:8]:
            if a[i] > 5:
                continue
            a[i] = halved(a[i], i) if i % 2 else -1.0
        for i in dcpy.map[0:3]:
            tripled(m[i, 1:])

    check_same(f, A8, M)


def halved(x, i):
    if i > 2:
        return x / 2
    return x + i


def tripled(v):
    v *= 3


def test_rows_and_slices():
    def f(m, out):
        for i in dcpy.map[0 : m.shape[0]]:
            out[i, :2] = m[i, ::2] + m[i].max()
            out[i, 2:] = m[i, 1]

    check_same(f, M, np.zeros((3, 4)))


# -- conflicts -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint16, np.float32, np.float64, np.complex128])
def test_sums_and_products(dtype):
    def f(m):
        alpha = m[0, 0] * 0
        beta = m[0, 0] * 0 + 1
        for i, j in dcpy.map[0 : m.shape[0], 0 : m.shape[1]]:
            alpha += m[i, j]
            beta *= m[i, j]
        return alpha, beta

    check_same(f, (M % 3 + 1).astype(dtype), rtol=1e-6)


def test_two_accumulators_under_a_condition():
    def f(a):
        total, count = 0, 0
        for i in dcpy.map[0:8]:
            if a[i] % 2 == 0:
                total += a[i]
                count += 1
        rest = 100
        for i in dcpy.map[0:8]:
            rest -= a[i]
        return total, count, rest

    check_same(f, I8)


def test_bitwise_accumulators():
    def f(a):
        s, t, u = 255, 0, 0
        for i in dcpy.map[4:7]:
            s &= a[i]
            t |= a[i]
            u ^= a[i]
        return s, t, u

    check_same(f, I8)


def test_elements_found_by_an_index():
    def f(idx, out, weights):
        for i in dcpy.map[0 : idx.shape[0]]:
            out[idx[i]] += weights[i]

    check_same(f, np.array([1, 1, 2, 0, 1, -1]), np.zeros(4), np.arange(6.0))
    check_same(f, np.array([1, 1, 2, 0, 1, -1]), np.zeros(4, np.int32), np.arange(6, dtype=np.int32))


def test_elements_shared_by_one_dimension():
    def f(m, rows, columns):
        for i, j in dcpy.map[0:3, 0:4]:
            rows[i] += m[i, j]
            columns[j] += m[i, j]

    check_same(f, M, np.zeros(3), np.zeros(4))


def test_whole_arrays_as_accumulators():
    def f(m):
        total = np.zeros(4)
        overlapping = np.zeros(6)
        for i in dcpy.map[0:3]:
            total += m[i]
            overlapping[i : i + 4] += m[i]
        return total, overlapping

    check_same(f, M)


def test_many_conflicts_lose_nothing():
    def f(idx, out):
        for i in dcpy.map[0 : idx.shape[0]]:
            out[idx[i]] += 1

    check_same(f, (np.arange(1000) * 7) % 3, np.zeros(3, np.int64))
    program, idx = dcpy.program(f), (np.arange(200_000) * 7) % 3
    out = np.zeros(3, np.int64)
    program(idx, out)
    np.testing.assert_array_equal(out, np.bincount(idx))


# -- refusals --------------------------------------------------------------------------------------------------------


def refused():
    def assigns(a):
        x = 0.0
        for i in dcpy.map[0:8]:
            x = a[i]
        return x

    def returns(a):
        for i in dcpy.map[0:8]:
            if a[i] > 3:
                return i
        return 0

    def breaks(a):
        for i in dcpy.map[0:8]:
            if a[i] > 3:
                break
            a[i] = 0

    def uses_the_parameter_afterwards(a):
        for i in dcpy.map[0:8]:
            a[i] = 0
        return i

    def reads_its_accumulator(a):
        t = 0.0
        for i in dcpy.map[0:8]:
            t += a[i]
            a[i] = t
        return t

    def has_too_few_names(a):
        for i in dcpy.map[0:4, 0:2]:
            a[i[0]] = 0

    def calls_the_map(a):
        for i in dcpy.map(8):
            a[i] = 0

    return [
        assigns,
        returns,
        breaks,
        uses_the_parameter_afterwards,
        reads_its_accumulator,
        has_too_few_names,
        calls_the_map,
    ]


@pytest.mark.parametrize("function", refused(), ids=lambda function: function.__name__)
def test_what_has_no_meaning_in_parallel_is_refused(function):
    with pytest.raises(dcpy.DcpyError) as caught:
        dcpy.program(function)(A8)
    text = str(caught.value)
    assert "test_maps.py" in text
    assert "= help:" in text
    assert "mapscope" not in text


def test_outside_of_programs_maps_are_loops():
    assert [(i, j) for i, j in dcpy.map[0:2, 0:3:2]] == [(0, 0), (0, 2), (1, 0), (1, 2)]
    assert list(dcpy.map[3:0:-1]) == [3, 2, 1]


# -- W9: names that nested functions in maps see ----------------------------------------------------------------------


def seen_by_nested_functions():
    def the_parameter(A):
        for i in range(3):
            for j in dcpy.map[0:3]:

                def f(x):
                    return x + j

                A[i, j] = f(i)

    def a_name_of_the_iteration(A):
        for i in range(3):
            for j in dcpy.map[0:3]:
                t = j * 2 + i
                f = lambda x: x + t  # noqa: E731
                A[i, j] = f(i)

    def through_two_functions(A):
        while A[0, 0] < 10:
            for i, j in dcpy.map[0:3, 0:3]:

                def f(x):
                    def g(y):
                        return y + i

                    return g(x) + j

                A[i, j] += f(i) + 1

    def a_parameter_that_was_another_name_before(A):
        for i in dcpy.map[0:3]:

            def f(x):
                return x + i

            for j in range(3):
                A[i, j] = f(j)
        i = 7
        for j in dcpy.map[0:3]:
            A[0, j] += i

    def a_name_from_outside(A):
        t = 3.0
        for i in dcpy.map[0:3]:

            def f(x):
                return x + t

            for j in range(3):
                A[i, j] = f(j)

    return (
        the_parameter, a_name_of_the_iteration, through_two_functions, a_parameter_that_was_another_name_before,
        a_name_from_outside,
    )  # fmt: skip


@pytest.mark.parametrize("function", seen_by_nested_functions(), ids=lambda function: function.__name__)
def test_w9_nested_functions_in_a_map_see_the_names_of_their_iteration(function):
    check_same(function, np.zeros((3, 3)))


def test_w9_what_a_map_binds_has_no_value_afterwards():
    """W9: and that is the reason which is given, also where a loop is around."""

    def the_parameter(A):
        j = 5
        for j in dcpy.map[0:3]:
            A[j] = j
        return j

    def a_name(A):
        for j in dcpy.map[0:3]:
            t = j * 2
            A[j] = t
        return t

    def in_a_loop(A):
        for _ in range(3):
            for j in dcpy.map[0:3]:
                t = j * 2
                A[j] = t
            A[0] += t

    for function, name in ((the_parameter, "j"), (a_name, "t"), (in_a_loop, "t")):
        with pytest.raises(dcpy.FrontendError, match=f"'{name}' has no value after a parallel map"):
            dcpy.program(function)(A8)
