"""Known values are computed with while compiling: what raises there is the program's own exception."""

import operator

import numpy as np
import pytest

import dcpy


def _format_of_module(k):
    return f"{np:>3}"


def _percent_of_module(k):
    return "%d" % np  # noqa: UP031


def _format_of_float(k):
    return "{:d}".format(2.5)  # noqa: UP032


def _key_of_list(k):
    return {[1]: k}


def _key_of_comprehension(k):
    return {[i]: k for i in range(2)}


def _lookup_of_list(k):
    return {1: k}[[1]]


def _sorted_kinds(k):
    return sorted([1, "a", k])


def _inverse_of_text(k):
    return -"a"


def _class_that_is_none(k):
    return isinstance(k, 3)


def _power_without_inverse(k):
    return pow(2, -1, 4)


def _integer_of_infinity(k):
    return int(float("inf"))


def _largest_of_none(k):
    return max(x for x in (k, None, 2 * k))


CASES = [
    _format_of_module, _percent_of_module, _format_of_float, _key_of_list, _key_of_comprehension, _lookup_of_list,
    _inverse_of_text, _class_that_is_none, _power_without_inverse, _integer_of_infinity, _largest_of_none,
]  # fmt: skip


def raised(function, *args):
    with pytest.raises(Exception) as found:  # noqa: PT011
        function(*args)
    return found.value


@pytest.mark.parametrize("function", CASES, ids=operator.attrgetter("__name__"))
def test_in_straight_line_code_it_is_shown_when_compiling(function):
    error = raised(dcpy.program(function), 3)
    assert isinstance(error, type(raised(function, 3)))
    assert isinstance(error, dcpy.DcpyError)
    assert not isinstance(error, dcpy.CompilerFault)


@pytest.mark.parametrize("function", CASES, ids=operator.attrgetter("__name__"))
def test_in_a_branch_it_is_raised_where_it_is_reached(function):
    def branch(k):
        if k > 2:
            function(k)
        return k + 1

    compiled = dcpy.program(branch)
    assert compiled(2) == 3
    assert type(raised(compiled, 3)) is type(raised(branch, 3))
