"""Chains of ``elif`` whose tests need code, deep targets and default values, and values that nest too deep."""

import numpy as np
import pytest

import dcpy
from dcpy.frontend.lower.control.long_chains import LONGEST
from tests.fuzz.program import define

X = np.arange(6.0)


def chain(number, test, side="r = {}.0", otherwise="r = -1.0"):
    """A function of an array and a number with so many tests."""
    lines = ["def f(x, k):", "    r = 0.0"]
    for position in range(number):
        lines += [f"    {'el' if position else ''}if {test.format(position)}:", f"        {side.format(position)}"]
    return define("\n".join([*lines, "    else:", f"        {otherwise}", "    return r", ""]))


def taken(number, choices):
    """The result of a function that chains `number` tests, for each of these `k`, interpreted, beside Python's."""
    sdfg = dcpy.program(choices).to_sdfg(X, 3)
    for k in (0, 1, number // 2, number - 1, number + 5):
        assert sdfg.interpret(X, k) == choices(X, k), k


TESTS = {"walrus": "(t := k + {0}) == 2*{0}", "reduction": "np.sum(x*0) + k == {0}", "any": "(x*0 + k == {0}).any()"}


@pytest.mark.parametrize("number", [LONGEST - 1, LONGEST, LONGEST + 2, 60])
@pytest.mark.parametrize("test", TESTS)
def test_the_side_is_pythons(test, number):
    taken(number, chain(number, TESTS[test]))


@pytest.mark.parametrize("test", TESTS)
def test_sides_that_leave_and_raise(test):
    taken(40, chain(40, TESTS[test], "return x[k % 6] + {}.5", "r = k + 0.25"))


def test_tests_behind_the_true_one_do_not_run():
    function = define(
        "def f(x, k):\n    def seen(p):\n        x[0] += 1\n        return k == p\n    r = 0\n"
        + "".join(f"    {'el' if p else ''}if seen({p}):\n        r = {p}\n" for p in range(40))
        + "    return r\n"
    )
    for k in (0, 7, 39, 50):
        mine, other = X.copy(), X.copy()
        assert dcpy.program(function).to_sdfg(mine, k).interpret(mine, k) == function(other, k)
        np.testing.assert_array_equal(mine, other)


def test_a_thousand_tests_are_flat():
    function = chain(1000, TESTS["walrus"])
    sdfg = dcpy.program(function).to_sdfg(X, 3, simplify=False)
    depth = max(len(line) - len(line.lstrip()) for line in str(sdfg).splitlines())
    assert depth < 40
    assert sdfg.simplify().interpret(X, 700) == function(X, 700)


TERMS = "+".join(["k"] * 600)
DEEP = {
    "a target": f"y = x.copy()\n    y[{TERMS}] = 3\n    return y",
    "an updated target": f"y = x.copy()\n    y[{TERMS}] += 3\n    return y",
    "a target behind its value": f"y = x.copy()\n    y[{TERMS} + 1] = y[0] + 2\n    return y",
    "a default": f"def g(z, a={TERMS} + 2):\n        return z * a\n    return g(x)",
    "a default by name": f"def g(z, *, a=1, b={TERMS} + 2):\n        return z * a + b\n    return g(x)",
}


@pytest.mark.parametrize("name", DEEP)
def test_deep_targets_and_defaults_are_split(name):
    function = define(f"def f(x, k):\n    {DEEP[name]}\n")
    sdfg = dcpy.program(function).to_sdfg(X, 0)
    np.testing.assert_array_equal(sdfg.interpret(X.copy(), 0), function(X.copy(), 0))


@pytest.mark.parametrize("around", ["({},)", "[{}]", "{{1: {}}}"])
def test_values_that_nest_too_deep_are_refused_where_they_do(around):
    function = define("def f(x):\n    t = x\n" + f"    t = {around.format('t')}\n" * 900 + "    return x\n")
    with pytest.raises(dcpy.FrontendError, match="nests too deep") as caught:
        dcpy.program(function).to_sdfg(X)
    assert not isinstance(caught.value, dcpy.CompilerFault)
    assert caught.value.span is not None
    assert "flat list" in caught.value.help
