"""Results of distributed calls: nested as the function returns them, with the caller's own arguments among them."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import FrontendError
from dcpy.codegen.artifact import ArgumentResult, ArrayArg, Chosen, ScalarResult, Signature
from dcpy.programs.ranks.call_results import apart, delivered, put_together, signature_of_rank

A, B = object(), object()
SWAPPED = Signature(
    "swapped",
    (ArrayArg("A", "float64", ()), ArrayArg("B", "float64", ())),
    results=(ScalarResult("int64"), ArgumentResult(0), ArgumentResult(1)),
    structure=(Chosen(0, (1, 2)), (0,)),
)


def swap(n, x, y):
    for _ in range(n):
        x[1:] = y[:-1]
        x, y = y, x
    return x


def in_a_list(x):
    return [x + 1, x * 2]


@pytest.mark.parametrize(("which", "chosen"), [(0, A), (1, B)])
def test_an_argument_that_is_returned_is_the_callers_object(which, chosen):
    found = delivered(SWAPPED, (np.int64(which), "a part of A", "a part of B"), {"A": A, "B": B})
    assert found[0] is chosen
    assert found[1] == (which,)


def test_one_rank_returns_each_result_for_itself():
    assert apart(SWAPPED).structure == (0, 1, 2)
    assert put_together(None, ()) is None


def test_what_the_path_decides_is_in_the_signature():
    sdfg = dcpy.program(swap).to_sdfg(3, np.ones(5), np.ones(5))
    signature = signature_of_rank(sdfg, sdfg.convention)
    assert signature.structure == Chosen(2, (0, 1))
    assert signature.results[:2] == (ArgumentResult(1), ArgumentResult(2))


def test_a_program_that_returns_a_list_is_refused():
    sdfg = dcpy.program(in_a_list).to_sdfg(np.ones(5))
    with pytest.raises(FrontendError, match=r"in_a_list\(\) returns a list or an object") as caught:
        signature_of_rank(sdfg, sdfg.convention)
    assert "a tuple of them" in caught.value.help
