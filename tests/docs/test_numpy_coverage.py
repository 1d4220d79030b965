"""How much of NumPy compiles, that its signatures are NumPy's, and that what is missing has a reason."""

import re
from pathlib import Path

import numpy as np
import pytest

from docs.numpy_coverage import array_methods, public_callables
from docs.numpy_page import numpy_page

TESTS = Path(__file__).parent.parent
FUNCTIONS = public_callables()
METHODS = array_methods()
COMPILED = [found for found in (*FUNCTIONS, *METHODS) if found.entry is not None]


def test_functions_that_make_sense_compile():
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


def test_every_function_is_tested():
    """Ufuncs are, all of them, by one table; the others are named somewhere, distributions in a list of words."""
    tests = "\n".join(path.read_text() for path in TESTS.rglob("*.py"))
    named = set(re.findall(r"\.(\w+)", tests)) | set(re.findall(r"[\"'](\w+)[\"']", tests))
    words = set(re.findall(r"\w+", tests))
    untested = [
        found.name
        for found in COMPILED
        if not isinstance(found.function, np.ufunc)
        and (words if "Generator" in found.name else named).isdisjoint(n.rpartition(".")[2] for n in found.names)
    ]
    assert untested == []


def test_the_page_lists_everything():
    text = "\n".join(numpy_page())
    for function in (*FUNCTIONS, *METHODS):
        assert re.search(rf"\b{re.escape(function.name.rpartition('.')[2])}\b", text), function.name


def test_the_page_lists_functions_of_all_modules():
    lines = "\n".join(numpy_page()).splitlines()
    for start in ("numpy.random.default_rng(", "numpy.random.rand(*args)", "numpy.polynomial.polynomial.polyval("):
        assert [line for line in lines if line.startswith(start)], start
