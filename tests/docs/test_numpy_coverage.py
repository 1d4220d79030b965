"""How much of NumPy compiles, that its signatures are NumPy's, and that what is missing has a reason."""

import re

import pytest

from docs.numpy_coverage import array_methods, public_callables
from docs.numpy_page import numpy_page

FUNCTIONS = public_callables()
METHODS = array_methods()
COMPILED = [found for found in (*FUNCTIONS, *METHODS) if found.entry is not None]


def test_nine_of_ten_functions_that_make_sense_compile():
    compiled = sum(function.entry is not None for function in FUNCTIONS)
    assert compiled >= 400
    assert compiled >= 0.95 * sum(function.makes_sense for function in FUNCTIONS)


def test_what_is_missing_has_a_reason():
    assert [f.name for f in (*FUNCTIONS, *METHODS) if f.entry is None and f.refusal is None] == []
    assert [f.name for f in (*FUNCTIONS, *METHODS) if f.entry is not None and f.refusal is not None] == []


@pytest.mark.parametrize("function", COMPILED, ids=lambda found: found.name)
def test_signatures_are_numpys(function):
    assert function.differences() == []
    assert [keyword for keyword, reason in function.lacking().items() if not reason] == []


def test_the_page_lists_everything():
    text = "\n".join(numpy_page())
    for function in (*FUNCTIONS, *METHODS):
        assert re.search(rf"\b{re.escape(function.name.rpartition('.')[2])}\b", text), function.name
