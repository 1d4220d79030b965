"""Messages that say what to write instead, and what they say, executed: lists, strings, sorting, memory."""

import statistics

import numpy as np
import pytest

from tests.support.lowering import refusal
from tests.support.oracles import check_same

X = np.array([3.0, 1.0, 2.0, 5.0])


def missing_as_none(x):
    y = x.copy()
    y[x > 2] = None
    return y


def missing_as_nan(x):
    y = x.copy()
    y[x > 2] = np.nan
    return y


def printed(x):
    print(f"{x:.3e}")
    return x


ADVICE = [
    (
        lambda n, x: sorted([n, x])[0],
        "convert all to one type, `float(n)`",
        lambda n, x: sorted([float(n), x])[0],
        (3, 2.5),
    ),
    (
        lambda n, x: sorted([n, x])[0],
        "sort the places in an array: `key=lambda i: v[i]`",
        lambda n, x: sorted(range(2), key=lambda i: np.array([n, x])[i]),
        (3, 2.5),
    ),
    (lambda x: print("total".ljust(int(x)), x), 'print(f"{x:.3e}")', printed, (2.5,)),
    (lambda x: np.frombuffer(x.data), "pass the array itself", lambda x: np.frombuffer(x) + 0, (X,)),
    (lambda x: statistics.stdev(x), "np.std(x, ddof=1)", lambda x: np.std(x, ddof=1), (X,)),
    (lambda x: np.mean(x, weights=x), "np.average takes weights", lambda x: np.average(x, weights=x), (X,)),
    (lambda x: x.sort(reverse=True), "np.sort(a)[::-1]", lambda x: np.sort(x)[::-1] + 0, (X,)),
    (lambda x: np.add.reduce(x, where=b"no"), "write where=mask != 0", lambda x: np.add.reduce(x, where=x != 0), (X,)),
    (lambda x: np.sort(x, key=abs), "a[np.argsort(np.abs(a))]", lambda x: x[np.argsort(np.abs(x))], (-X,)),
    (missing_as_none, "np.nan stands for a missing value", missing_as_nan, (X,)),
    (lambda x: np.histogram(x, bins="auto")[0], "pass a number of bins", lambda x: np.histogram(x, bins=3)[0], (X,)),
    (
        lambda x: sum(t for t in range(0, 1, x[1] / 4)),
        "np.arange(...)",
        lambda x: sum(t for t in np.arange(0, 1, 0.25)),
        (X,),
    ),
    (lambda x: np.vstack(x, x), "give all arrays as one tuple", lambda x: np.vstack((x, x)), (X,)),
    (lambda x: x.astype(np.int), "write int", lambda x: x.astype(int), (X,)),
]


@pytest.mark.cc
@pytest.mark.parametrize(("f", "words", "instead", "arguments"), ADVICE)
def test_what_messages_say_runs(f, words, instead, arguments):
    assert words in refusal(f, *arguments)
    check_same(instead, *arguments)
