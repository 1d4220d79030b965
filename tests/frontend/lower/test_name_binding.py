"""Names bind values: rebinding never changes what another name stands for, and dtypes follow the values."""

import numpy as np
import pytest

from dcpy.ir.interp import run
from tests.support.lowering import lower, refusal, refused_line, same
from tests.support.oracles import check_same

A = np.arange(8) * 1.5 - 3
SCALE = 2.5
TABLE = np.array([1.0, 2.0, 3.0])


def test_arrays_are_bound_not_copied():
    def f(a):
        b = c = a + 1
        b[0] = 100
        d = c
        d = d * 2
        return c

    same(f, A)


def test_rebinding_a_parameter_leaves_the_argument():
    def f(a):
        a = a + 1
        a[0] = 7
        return a

    same(f, A)


def test_scalars_are_copied():
    def f(a):
        x = 1.0
        y = x
        y += 1
        z = a[0]
        a[0] = x
        return x, y, z

    same(f, A)


@pytest.mark.parametrize("dtype", [float, np.float32, np.int32, np.int8])
def test_an_accumulator_gets_the_dtype_of_what_it_adds(dtype):
    def f(a):
        s = 0
        for i in range(len(a)):
            s += a[i]
        return s

    same(f, A.astype(dtype))


def test_swaps():
    def f(a):
        x, y = a[0], a[1]
        x, y = y, x
        a[2], a[3] = a[3], a[2]
        return x, y

    same(f, A)


def test_fibonacci():
    def f(n):
        x, y = 0, 1
        for _ in range(n):
            x, y = y, x + y
        return x

    same(f, 10)


def test_powers_of_integers_are_sizes():
    def f(r, k):
        a = np.ones((r, r**k))
        return a[:, : r ** (k - 1)].sum(), a.size

    same(f, 2, 3)


def test_a_negative_power_of_integers_is_an_error_at_run_time():
    def f(r, k):
        return r**k

    with pytest.raises(ValueError, match="negative integer powers"):
        run(lower(f, 2, 3).sdfg, {"r": 2, "k": -3})


def test_starred_targets_and_nested_tuples():
    def f(a):
        x, *y = a[0], a[1], a[2]
        (p, q), r = (y[0], x), y
        return p, q, r[1], len(y)

    same(f, A)


def test_walrus():
    def f(a):
        if (x := a[0] + 1) > -10:
            return x
        return x * 2

    same(f, A)


def test_globals_and_closures():
    k = 3

    def f(a):
        return a * SCALE + k + TABLE[1], TABLE * 2

    same(f, A)


def test_a_changed_global_breaks_a_dependence(monkeypatch):
    from tests.support.lowering import lower

    def f(a):
        return a * SCALE

    lowered = lower(f, A)
    assert [d.name for d in lowered.dependences] == ["SCALE"]
    assert all(d.holds() for d in lowered.dependences)
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert not any(d.holds() for d in lowered.dependences)


def test_nested_functions_see_the_names_around_them():
    def f(a):
        c = 2.0

        def add(x):
            return x + c

        double = lambda x, k=2: x * k  # noqa: E731
        c = 3.0
        return add(a), double(add(a[0]))

    same(f, A)


def test_an_unknown_name():
    def f(array):
        return arary + 1  # noqa: F821

    assert refusal(f, A) == (
        "error[frontend.raises]: name 'arary' is not defined\n"
        "  = note: Python raises NameError here\n"
        "  = help: did you mean 'array'?"
    )
    assert refused_line(f, A) == "return arary + 1  # noqa: F821"


def test_a_deleted_name():
    def f(a):
        x = a[0]
        del x
        return x  # noqa: F821

    assert "'x' was deleted" in refusal(f, A)


def test_comprehensions():
    def f(a):
        x = [a[i] * i for i in range(3) if i != 1]
        return x[1], sum(x), len([k for k in (1, 2, 3)])

    same(f, A)


def test_a_misspelled_name_is_compared_with_those_of_the_function_first():
    def f(a):
        for i in range(len(a)):
            if a[i] > 2:
                best = i  # noqa: F841
        return bset  # noqa: F821

    assert "help: did you mean 'best'?" in refusal(f, A)


def test_a_method_without_its_parentheses():
    def f(a):
        b = a.copy
        return b + 1

    assert "help: write () behind the method, to call it" in refusal(f, A)
    assert "()" not in refusal(lambda a: a + "b", A)


def test_help_for_what_is_no_number_says_what_is():
    def text(a):
        a[0] = "one"

    def row(a):
        a[0] = a

    assert "help: store a number" in refusal(text, A)
    assert "help: store it into a slice, or reduce it" in refusal(row, A)


def test_numbers_are_keys_among_texts():
    def f(a):
        counts = {"a": 0}
        for x in a:
            counts[int(x)] = 1
        return counts["a"], counts

    check_same(f, A)


def test_arrays_to_concatenate_are_one_tuple():
    assert "help: give all arrays as one tuple: np.concatenate((x, y))" in refusal(lambda a: np.concatenate(a, a), A)
