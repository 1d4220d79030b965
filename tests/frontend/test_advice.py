"""Messages that say what to write instead, and what they say, executed: lists, strings, sorting, memory."""

import numpy as np
import pytest

from tests.support.lowering import refusal
from tests.support.oracles import check_same

X = np.array([3.0, 1.0, 2.0, 5.0])


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
    (
        lambda x: sorted(zip(x, range(len(x)), strict=True), reverse=True),
        "`(float(x), float(i))`",
        lambda x: sorted([(float(v), float(i)) for i, v in enumerate(x)], reverse=True),
        (X,),
    ),
    (
        lambda x: list(enumerate(x))[2],
        "hold int and np.float64",
        lambda x: [(float(v), float(i)) for i, v in enumerate(x)][2],
        (X,),
    ),
    (lambda x: print("{:.3e}".format(x)), 'print(f"{x:.3e}")', printed, (2.5,)),  # noqa: UP032
    (lambda x: np.frombuffer(x.data), "pass the array itself", lambda x: np.frombuffer(x) + 0, (X,)),
]


@pytest.mark.cc
@pytest.mark.parametrize(("f", "words", "instead", "arguments"), ADVICE)
def test_what_messages_say_runs(f, words, instead, arguments):
    assert words in refusal(f, *arguments)
    check_same(instead, *arguments)
