"""Mistakes of newcomers: each message names the cause in their words, and its advice runs."""

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import FrontendError, UnknownName

pytestmark = pytest.mark.cc


def matches(a, b):
    found = 0
    for i in range(len(a)):
        if a[i] == b[i]:
            found += 1
    return found


def test_characters_of_texts():
    one, other = "GATTACAGATT", "GACTACAGATT"
    assert dcpy.program(matches)(one, other) == 10
    assert dcpy.program(matches)(*(np.frombuffer(text.encode(), dtype=np.uint8) for text in (one, other))) == 10
    assert dcpy.program(matches)(one.encode(), other.encode()) == 10


def test_characters_in_short_loops_are_known():
    assert dcpy.program(matches)("GATT", "GACT") == 3


def test_characters_that_are_known_are_constants():
    @dcpy.program
    def first(x):
        return x if "GATT"[0] == "G" else -x

    assert first(2.0) == 2.0


def degrees(neighbours, weights):
    total = np.zeros(len(neighbours))
    for i in range(len(neighbours)):
        for j in neighbours[i]:
            total[i] += weights[j]
    return total


def degrees_of_rows(items, starts, weights):
    total = np.zeros(len(starts) - 1)
    for i in range(len(total)):
        for j in items[starts[i] : starts[i + 1]]:
            total[i] += weights[j]
    return total


def test_rows_of_several_lengths_are_one_array_and_its_starts():
    few, weights = [[1, 2], [0, 2, 3], [0, 1], [1]], np.arange(4.0)
    assert (dcpy.program(degrees)(few, weights) == degrees(few, weights)).all()  # a branch for each
    rows = 5 * few
    with pytest.raises(FrontendError, match="different lengths") as caught:
        dcpy.program(degrees)(rows, weights)
    assert "np.concatenate(rows), np.cumsum([0, *map(len, rows)])" in caught.value.help
    items, starts = np.concatenate(rows), np.cumsum([0, *map(len, rows)])
    assert (dcpy.program(degrees_of_rows)(items, starts, weights) == degrees(rows, weights)).all()


@pytest.mark.parametrize(
    ("option", "advice"),
    [
        ("parallel", "programs use all cores"),
        ("nopython", "leave it out"),
        ("fastmath", "cpu_fast_math=True"),
        ("static_argnums", "n: dcpy.compiletime"),
        ("target", "device=dcpy.DeviceType.GPU"),
    ],
)
def test_options_of_other_compilers(option, advice):
    with pytest.raises(UnknownName, match=f"option '{option}' is not known") as caught:
        dcpy.program(**{option: True})(matches)
    assert advice in caught.value.help
    assert "there are cpu_compiler" in caught.value.notes[0]


def test_names_of_other_compilers():
    with pytest.raises(AttributeError, match=r"no attribute 'njit': use @dcpy\.program"):
        dcpy.njit  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute 'float': use dcpy\.float64"):
        dcpy.float  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute 'something'$"):
        dcpy.something  # noqa: B018


@pytest.mark.parametrize(
    ("wrong", "right", "advice"),
    [
        (lambda x: x.at[0].set(5.0), lambda x: np.where(np.arange(3) == 0, 5.0, x), "write `x[i] = v`"),
        (lambda x: x.append(3.0), lambda x: np.append(x, 3.0), "write `np.append(x, v)`"),
        (lambda x: x.extend([3.0]), lambda x: np.concatenate((x, np.array([3.0]))), "write `np.concatenate((x, y))`"),
        (lambda x: x.insert(1, 3.0), lambda x: np.insert(x, 1, 3.0), "write `np.insert(x, i, v)`"),
        (lambda x: x.iloc[0], lambda x: x[0], "indexed by number: `x[i]`"),
        (lambda x: x.values * 2, lambda x: x * 2, "leave `.values` out"),
        (lambda x: x.median(), lambda x: np.median(x), "write `np.median(x)`"),
    ],
)
def test_attributes_of_other_arrays(wrong, right, advice):
    x = np.array([1.0, -2.0, 3.0])
    with pytest.raises(AttributeError, match="has no attribute") as caught:
        dcpy.program(wrong)(x)
    assert advice in caught.value.help
    assert "did you mean" not in caught.value.help
    np.testing.assert_array_equal(dcpy.program(right)(x), right(x))


def test_missing_keys_name_the_keys():
    @dcpy.program
    def metres(x, unit):
        return x * {"m": 1.0, "km": 1000.0}[unit]

    assert metres(2.0, "km") == 2000.0
    with pytest.raises(KeyError) as caught:
        metres(2.0, "mi")
    assert caught.value.help == "it has 'm', 'km'"


def test_elements_that_are_no_numbers():
    @dcpy.program
    def mixed(x):
        return np.array([x, "a"])

    with pytest.raises(FrontendError, match="'a' is not a number") as caught:
        mixed(1.0)
    assert caught.value.help == "make an array of the numbers, and keep other things in tuples"
