"""W8: iterations of `dcpy.map` that depend on each other are refused, or found by the interpreter."""

import functools

import numpy as np
import pytest

import dcpy
from dcpy.ir.analysis.polyhedral.footprints import Footprint
from dcpy.ir.analysis.polyhedral.integer_sets import LONG, always_overlap
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import Ranges, sym

VECTOR, MATRIX = np.arange(12.0), np.arange(30.0).reshape(5, 6)


def wrong():
    """Programs that are wrong whatever the sizes are, with the accesses that the message names."""

    def carried(a):
        for i in dcpy.map[1 : a.shape[0]]:
            a[i] = a[i - 1] + 1

    def two_updates(a):
        for i in dcpy.map[0 : a.shape[0] - 1]:
            a[i] += 1
            a[i + 1] += 1

    def one_target(a):
        for i in dcpy.map[0 : a.shape[0]]:
            a[0] = a[i]

    def reversed_in_place(a):
        n = a.shape[0]
        for i in dcpy.map[0:n]:
            a[n - 1 - i] = a[i]

    def rows(A):
        for i, j in dcpy.map[1 : A.shape[0], 0 : A.shape[1]]:
            A[i, j] = A[i - 1, j]

    def nested(A):
        for i in dcpy.map[0 : A.shape[0]]:
            for j in dcpy.map[0 : A.shape[1]]:
                A[0, j] = i * A[i, j]

    def stencil_in_place(A):
        for i in dcpy.map[1 : A.shape[0] - 1]:
            A[i, :] = A[i - 1, :] + A[i + 1, :]

    def halves(a):
        for i in dcpy.map[0 : a.shape[0] // 4]:
            a[2 * i] = a[4 * i]

    def through_a_view(a):
        later = a[1:]
        for i in dcpy.map[0 : a.shape[0] - 1]:
            later[i] = a[i]

    def in_a_loop(a):
        for _ in range(3):
            for i in dcpy.map[1 : a.shape[0]]:
                a[i] = a[i - 1]

    def last_one_wins(a):
        for i in dcpy.map[0 : a.shape[0]]:
            a[3] = i

    return {
        carried: ("writes a[i]", "reads a[i - 1]"),
        two_updates: ("writes a[i + 1]", "reads a[i]"),
        one_target: ("writes a[0]", "reads a[i]"),
        reversed_in_place: ("writes a[N - i - 1]", "reads a[i]"),
        rows: ("writes A[i, j]", "reads A[i - 1, j]"),
        nested: ("writes A[0, j]", "A[i, j]"),
        stencil_in_place: ("writes A[i, 0:M]", "reads A[i - 1, "),
        halves: ("writes a[2*i]", "reads a[4*i]"),
        through_a_view: ("writes a[", "reads a["),
        in_a_loop: ("writes a[i]", "reads a[i - 1]"),
        last_one_wins: ("writes a[3]", "writes a[3]"),
    }


@pytest.mark.parametrize(("function", "accesses"), wrong().items(), ids=lambda x: getattr(x, "__name__", ""))
def test_w8_what_is_wrong_for_all_sizes_is_refused(function, accesses):
    """W8: with both places, and what to write instead."""
    x = (MATRIX if function.__code__.co_varnames[0] == "A" else VECTOR).copy()
    with pytest.raises(dcpy.FrontendError, match="iterations of this parallel map depend on each other") as refused:
        dcpy.program(function).to_sdfg(x)
    text = str(refused.value)
    assert all(access in text for access in accesses)
    assert "test_map_races.py" in text
    assert "plain for loop" in refused.value.help
    line = function.__code__.co_firstlineno
    assert any(f"line {line + offset}: it " in text for offset in range(1, 6))


def proved():
    def halves(a):
        n = a.shape[0] // 2
        for i in dcpy.map[0:n]:
            a[i] = a[i + n]

    def odd_and_even(a):
        for i in dcpy.map[0 : a.shape[0] // 2]:
            a[2 * i] = a[2 * i + 1]

    def scan_of_rows(A):
        for i in dcpy.map[1 : A.shape[0] - 1]:
            for j in range(1, A.shape[1]):
                A[i, j] = A[i, j - 1] + 1

    def total(a):
        t = 0.0
        for i in dcpy.map[0 : a.shape[0]]:
            t += a[i]
        return t

    def temporaries(A):
        for i in dcpy.map[0 : A.shape[0]]:
            row = A[i] * 2
            A[i] = row + row[::-1]

    def one_after_the_other(a):
        for i in dcpy.map[1 : a.shape[0]] @ dcpy.ScheduleType.Sequential:
            a[i] = a[i - 1] + 1

    return halves, odd_and_even, scan_of_rows, total, temporaries, one_after_the_other


def believed():
    """Programs that may be right: values or sizes decide."""

    def shifted(a, k):
        for i in dcpy.map[0 : a.shape[0] - k]:
            a[i] = a[i + k]

    def gathered(a, k):
        index = (np.arange(12) * k) % 12
        for i in dcpy.map[0:12]:
            a[index[i]] = i

    def conditional(a, k):
        for i in dcpy.map[0 : a.shape[0]]:
            if i > k:
                a[i] = a[i - k]

    return shifted, gathered, conditional


@pytest.mark.parametrize("function", proved(), ids=lambda function: function.__name__)
def test_w8_what_is_proved_is_not_watched(function):
    x = (MATRIX if function.__code__.co_varnames[0] == "A" else VECTOR).copy()
    sdfg = dcpy.program(function).to_sdfg(x)
    assert "claimed" not in str(sdfg)
    y, expected = x.copy(), x.copy()
    found, wanted = sdfg.interpret(y), function(expected)
    np.testing.assert_allclose(y, expected)
    assert (found is None) == (wanted is None)


@pytest.mark.parametrize("function", believed(), ids=lambda function: function.__name__)
@pytest.mark.parametrize("simplify", [False, True])
def test_w8_the_interpreter_finds_the_other_races(function, simplify):
    right, wrong = {"shifted": (7, 3), "gathered": (5, 4), "conditional": (11, 3)}[function.__name__]
    sdfg = dcpy.program(function).to_sdfg(VECTOR.copy(), right, simplify=simplify)
    assert "claimed" in str(sdfg)
    assert str(dcpy.parse(str(sdfg))) == str(sdfg)
    y, expected = VECTOR.copy(), VECTOR.copy()
    sdfg.interpret(y, right)
    function(expected, right)
    np.testing.assert_array_equal(y, expected)
    with pytest.raises(dcpy.DataRace, match="two iterations of the map over") as race:
        sdfg.interpret(VECTOR.copy(), wrong)
    assert "test_map_races.py" in str(race.value)


def test_w8_one_value_may_be_written_by_many():
    def any_negative(a, found):
        for i in dcpy.map[0 : a.shape[0]]:
            if a[i] < 0:
                found[0] = True

    found = np.zeros(1, bool)
    dcpy.program(any_negative).to_sdfg(VECTOR - 5, found).interpret(VECTOR - 5, found)
    assert found[0]

    def all_ones(a):
        for _ in dcpy.map[0 : a.shape[0]]:
            a[2] = 1.0

    dcpy.program(all_ones).to_sdfg(VECTOR).interpret(VECTOR.copy())


def test_w8_check_races_runs_in_the_interpreter():
    def shifted(a, k=7):
        for i in dcpy.map[0 : a.shape[0] - k]:
            a[i] = a[i + k]
        return a[0]

    program = dcpy.program(shifted, check_races=True)
    x, expected = VECTOR.copy(), VECTOR.copy()
    assert program(x) == shifted(expected)
    np.testing.assert_array_equal(x, expected)
    with pytest.raises(dcpy.DataRace):
        program(x, k=1)


def test_w8_claims_are_part_of_the_file(tmp_path):
    shifted = believed()[0]
    sdfg = dcpy.program(shifted).to_sdfg(VECTOR, 3)
    sdfg.save(tmp_path / "f.sdfg")
    assert str(dcpy.load(tmp_path / "f.sdfg")) == str(sdfg)
    assert "@claimed" not in str(sdfg)


@pytest.mark.parametrize("slopes", [(1, 1), (1, -1), (2, 4), (2, 2), (3, 2), (0, 1), (0, 0), (2, 6)])
def test_w8_certain_meetings_are_those_that_long_ranges_have(slopes):
    """Against brute force: the answer for every length from `LONG` on, and for none where the answer is no."""
    n, i = sym("n"), sym("i")
    first, second = slopes
    for shift in (-3, -1, 0, 1, 2):
        left, right = Subset.point(first * i + 200), Subset.point(second * i + 200 + shift)
        points = (("i", Range.of(0, n)),)
        sure = always_overlap(Footprint(left), Footprint(right), points, Ranges().bind("n", 0, None))
        lengths = range(LONG, LONG + 6)
        meets = [
            any(first * a == second * b + shift for a in range(length) for b in range(length) if a != b)
            for length in lengths
        ]
        assert sure == all(meets), (slopes, shift)


PLACES = np.array([0, 2, 1, 3])
MEETING = np.array([0, 1, 1, 3])


def test_w8_check_races_passes_global_arrays():
    def placed(a):
        made = np.zeros(4)
        for i in dcpy.map[0:4]:
            made[PLACES[i]] = a[i]
        return made

    def met(a):
        made = np.zeros(4)
        for i in dcpy.map[0:4]:
            made[MEETING[i]] = a[i]
        return made

    program = dcpy.program(placed, check_races=True)
    np.testing.assert_array_equal(program(VECTOR[:4]), placed(VECTOR[:4]))
    with pytest.raises(dcpy.DataRace):
        dcpy.program(met, check_races=True)(VECTOR[:4])


def test_w8_check_races_passes_lists_and_global_arrays():
    def weighted(a, weights):
        made = np.empty_like(a)
        for i in dcpy.map[0:4]:
            made[i] = a[PLACES[i]] * weights[i]
        return made

    program = dcpy.program(weighted, check_races=True)
    given = VECTOR[:4].copy(), [1.0, 2.0, 3.0, 4.0]
    np.testing.assert_array_equal(program(*given), weighted(*given))
    with pytest.raises(TypeError):
        program(given[0])


def test_w8_check_races_gives_what_a_call_gives():
    def lists(a):
        return sorted([a[1], a[0]]), list(a[:2])

    def kind_of_the_path(a, n):
        x = 1
        for k in range(n):
            x = a[k] * 0.5
        return x

    def parts(a):
        return a[1:], a[::-1]

    def states(a, n):
        for k in range(n):
            a = a * 2
            yield k, a

    def by_name(a, kind):
        return a.max() if kind == "most" else a.min()

    check = functools.partial(dcpy.program, check_races=True)
    assert check(by_name)(VECTOR, "most") == by_name(VECTOR, "most")
    assert check(lists)(VECTOR) == lists(VECTOR)
    assert type(check(kind_of_the_path)(VECTOR, 0)) is int
    assert check(kind_of_the_path)(VECTOR, 2) == kind_of_the_path(VECTOR, 2)
    for got, expected in zip(check(parts)(VECTOR), parts(VECTOR), strict=True):
        np.testing.assert_array_equal(got, expected)
        assert np.shares_memory(got, VECTOR)
    for (n, got), (m, expected) in zip(check(states)(VECTOR, 3), states(VECTOR, 3), strict=True):
        assert n == m
        np.testing.assert_array_equal(got, expected)
