"""``min(a[k], n)`` of an element and a Python number: the result is of the kind of the one that is chosen."""

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import FrontendError
from tests.support.oracles import check_same

DTYPES = [np.uint8, np.int16, np.int32, np.int64, np.float32, np.float64]


def clipped(x, low, high):
    return max(low, min(x, high))


def in_a_helper(a, n):
    out = np.zeros(a.shape, np.int64)
    for i in range(a.shape[0]):
        out[i] = clipped(a[i], 2, n)
    return out


def nested(a, n):
    out = np.zeros(len(a) + 1, np.int32)
    for i in range(len(a)):
        out[i + 1] = max(n - 2, min(n, out[i] + a[i]), -n)
    low = max(n - 2, min(n, a[0]))
    return out, low


def of_three(a, n):
    out = np.zeros(a.shape, np.int64)
    for i in range(a.shape[0]):
        out[i] = min(a[i], n, n + 2) * 2 + 250
    return out


def running(a, n):
    best = 0
    for value in a:
        best = max(best, value)
    return best, best + 1, n


def returned(a, n):
    return min(a[0], n), max(a[0], n), min(n, a[0])


def in_conditions(a, n):
    count = 0
    for i in range(len(a)):
        if min(a[i], n) == n and max(a[i], 3) > 3:
            count += 1
    return count


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("program", [in_a_helper, nested, of_three, running, returned, in_conditions])
def test_is_of_the_chosen_kind(program, dtype):
    values = np.array([3, 5, 1, 7, 2, 100], dtype)
    with np.errstate(over="ignore"):
        for n in (3, 4, 2):
            check_same(program, values, n, compiled=dtype == np.uint8)


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.int64])
def test_is_a_position(dtype):
    def counted(a, n):
        out = np.zeros(n + 1, np.int64)
        for i in range(a.shape[0]):
            out[max(min(a[i], n - 1), 0)] += 1
        low = max(0, 2 - a[0])
        return out, out[low : min(n, a[1] + 1)].sum()

    check_same(counted, np.array([3, 5, 1, 7, 2], dtype), 4)


def test_steps_of_a_while_loop():
    def hops(a, n):
        i = count = 0
        while i < a.shape[0]:
            i = max(i + 1, a[i] + n)
            count += 1
        return count

    check_same(hops, np.array([2, 0, 4, 1, 1], np.int64), 0)


def test_in_comprehensions_lists_know_kinds_of_several_dtypes():
    def mixed(a, n):
        return [max(value, n) for value in a], sum(int(min(value, n)) for value in a)

    check_same(mixed, np.array([3, 5], np.uint8), 4, compiled=False)
    with pytest.raises(FrontendError, match="the kind of a number in a list depends on the path taken") as caught:
        dcpy.program(mixed).to_sdfg(np.array([3, 5]), 4)
    assert "make all of them one type" in str(caught.value)


def test_callbacks_get_the_chosen_kind():
    seen = []

    @dcpy.callback
    def show(x) -> None:
        seen.append(x)

    @dcpy.program
    def shown(a):
        for i in range(len(a)):
            show(max(0.0, a[i]))

    shown(np.array([-1.5, 2.5]))
    shown(np.array([-1.5, 2.5]))
    assert [type(x) for x in seen] == [float, np.float64] * 2
    assert seen == [0.0, 2.5] * 2
