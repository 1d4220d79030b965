"""What a program sees around it: constants, arrays, functions and modules, also when they change between calls."""

import collections
import copy
import dataclasses
import enum
import gc
import math
import sys
import types
import weakref

import numpy as np
import pytest

import dcpy
from tests.support.oracles import check_same

pytestmark = pytest.mark.cc

A8 = np.arange(8.0)
SCALE = 3
WEIGHTS = (0.5, np.float32(2.0), [1, 2])
TABLE = np.arange(8.0)
ROWS = (np.arange(3.0), np.arange(6.0).reshape(2, 3))
SETTINGS = {"factor": 2.0, "offset": 1}
namespace = types.SimpleNamespace(gain=2.0, inner=types.SimpleNamespace(bias=1))
module = types.ModuleType("a_module_of_the_users")
module.LIMIT = 4
module.double = lambda x: 2 * x


def scaled(a):
    return a * SCALE


def weighted(a):
    return a * WEIGHTS[0] + WEIGHTS[1] * WEIGHTS[2][1]


def settled(a):
    return a * SETTINGS["factor"] + SETTINGS["offset"]


def configured(a):
    return a * namespace.gain + namespace.inner.bias


def limited(a):
    return np.minimum(module.double(a), module.LIMIT)


def tabled(a):
    return a + TABLE


def filling(value):
    TABLE[2:4] = value
    return TABLE


def total():
    return TABLE.sum() * SCALE


def shifting(a):
    a[1:] = TABLE[:-1]


def inner_shift(x):
    TABLE[1:] = x[:-1]


def outer_shift(a):
    inner_shift(TABLE)
    inner_shift(a)


@pytest.mark.parametrize("function", [scaled, weighted, settled, configured, limited, tabled])
def test_constants_of_all_kinds(function):
    if function in (scaled, tabled):
        check_same(function, A8)
    np.testing.assert_array_equal(dcpy.program(function)(A8), function(A8))


def test_row_29_a_global_constant_that_changes(monkeypatch):
    program = dcpy.program(scaled)
    for value in (3, 4, 2.5, np.float32(2), 3):
        monkeypatch.setitem(globals(), "SCALE", value)
        got, expected = program(A8.astype(np.float32)), scaled(A8.astype(np.float32))
        np.testing.assert_array_equal(got, expected)
        assert got.dtype == expected.dtype
    assert program.specializations == 4  # the value 3 is known already


def test_equal_numbers_need_no_other_program(monkeypatch):
    program = dcpy.program(scaled)
    for value in (np.float64(1.5), np.float64(0.5) + 1):
        monkeypatch.setitem(globals(), "SCALE", value)
        np.testing.assert_array_equal(program(A8), A8 * 1.5)
    assert program.specializations == 1


def test_zeros_of_different_sign_are_different_constants(monkeypatch):
    program = dcpy.program(scaled)
    for value in (0.0, -0.0):
        monkeypatch.setitem(globals(), "SCALE", value)
        np.testing.assert_array_equal(np.signbit(program(A8)), np.signbit(A8 * value))


def test_a_list_and_a_dictionary_that_are_changed_in_place(monkeypatch):
    monkeypatch.setitem(globals(), "WEIGHTS", (0.5, 2, [1, 2]))
    monkeypatch.setitem(globals(), "SETTINGS", {"factor": 2.0, "offset": 1})
    for function, container, key in ((weighted, WEIGHTS[2], 1), (settled, SETTINGS, "offset")):
        programs = [dcpy.program(function) for _ in range(2)]  # the second one finds the first one's in the cache
        for value in (7, 8):
            for program in programs:
                np.testing.assert_array_equal(program(A8), function(A8))
            container[key] = value


def test_attributes_of_objects_and_modules_that_change(monkeypatch):
    one, other = dcpy.program(configured), dcpy.program(limited)
    np.testing.assert_array_equal(one(A8), configured(A8))
    np.testing.assert_array_equal(other(A8), limited(A8))
    monkeypatch.setattr(namespace.inner, "bias", 10)
    monkeypatch.setattr(module, "LIMIT", 6)
    monkeypatch.setattr(module, "double", lambda x: 3 * x)
    np.testing.assert_array_equal(one(A8), configured(A8))
    np.testing.assert_array_equal(other(A8), limited(A8))


class Settings:
    scale = 2.0


@dataclasses.dataclass(slots=True)
class Slots:
    scale: float = 2.0


class Computed:
    base = 1.0

    @property
    def scale(self):
        return self.base * 2


@pytest.mark.parametrize(("settings", "name"), [(Settings, "scale"), (Slots(), "scale"), (Computed(), "base")])
def test_attributes_of_classes_slots_and_properties_that_change(settings, name):
    def f(a):
        return a * settings.scale

    program = dcpy.program(f)
    for value in (2.0, 5.0, 5.0):
        setattr(settings, name, value)
        np.testing.assert_array_equal(program(A8), f(A8))
    assert program.specializations <= 2


def test_an_object_as_an_argument():
    def f(a, settings):
        return a * settings.scale

    program = dcpy.program(f)
    for settings in (Slots(3.0), Slots(4.0), Computed()):
        for _ in range(2):
            np.testing.assert_array_equal(program(A8, settings), f(A8, settings))
            if isinstance(settings, Slots):
                settings.scale += 1


def test_a_function_that_is_replaced(monkeypatch):
    program = dcpy.program(calling)
    assert program(2.0) == 3.0
    monkeypatch.setitem(globals(), "helper", lambda x: x * 10)
    assert program(2.0) == 20.0


def helper(x):
    return x + 1


def calling(x):
    return helper(x)


def test_a_cell_that_is_rebound():
    factor = 2

    def f(a):
        return a * factor

    program = dcpy.program(f)
    np.testing.assert_array_equal(program(A8), A8 * 2)
    factor = 2.5
    np.testing.assert_array_equal(program(A8), A8 * 2.5)


def test_global_arrays_are_read_and_written(monkeypatch):
    monkeypatch.setitem(globals(), "TABLE", np.arange(8.0))
    check_same(tabled, A8)
    program = dcpy.program(filling)
    assert program(5.0) is TABLE
    np.testing.assert_array_equal(TABLE, [0, 1, 5, 5, 4, 5, 6, 7])
    TABLE[0] = 100
    assert dcpy.program(total)() == total() == 399


def test_a_global_array_that_is_rebound_needs_no_other_program(monkeypatch):
    program = dcpy.program(filling)
    for _ in range(3):
        monkeypatch.setitem(globals(), "TABLE", np.zeros(8))
        assert program(2.0) is TABLE
        assert TABLE.sum() == 4
    assert program.specializations == 1


@pytest.mark.parametrize(
    "table", [np.arange(8), np.arange(9.0)[1:], np.arange(16.0)[::2], np.float32(2), 3.0, np.ones((2, 8))]
)
def test_a_global_array_that_becomes_something_else(monkeypatch, table):
    program = dcpy.program(tabled)
    np.testing.assert_array_equal(program(A8), A8 + TABLE)
    monkeypatch.setitem(globals(), "TABLE", table)
    np.testing.assert_array_equal(program(A8), A8 + table)


def test_a_global_array_whose_name_goes_away(monkeypatch):
    program = dcpy.program(tabled)
    program(A8)
    monkeypatch.delitem(globals(), "TABLE")
    with pytest.raises(dcpy.DcpyError, match="name 'TABLE' is not defined"):
        program(A8)


def test_a_read_only_global_array(monkeypatch):
    monkeypatch.setitem(globals(), "TABLE", np.broadcast_to(1.0, 8))
    np.testing.assert_array_equal(dcpy.program(tabled)(A8), A8 + 1)
    with pytest.raises(ValueError, match="'TABLE' is read-only"):
        dcpy.program(filling)(1.0)


def test_arrays_in_tuples_and_in_cells():
    def f(a):
        local[0] = a[0]
        return a + ROWS[0] + ROWS[1][1]

    local = np.zeros(2)
    program = dcpy.program(f)
    for _ in range(2):
        a = np.arange(3.0) + 7
        np.testing.assert_array_equal(program(a), a + ROWS[0] + ROWS[1][1])
        assert local[0] == 7
        local = np.zeros(2)
    assert program.specializations == 1


def test_one_array_under_two_names():
    first = np.zeros(4)
    second = first

    def f():
        first[0] = 1.0
        second[1] = second[0] + 1
        return first.sum()

    program = dcpy.program(f)
    assert program() == 3
    second = np.zeros(4)
    first[:] = 0
    assert program() == 1
    np.testing.assert_array_equal(second, [0, 1, 0, 0])


def test_an_argument_that_is_the_global_array(monkeypatch):
    program = dcpy.program(shifting)
    program(np.zeros(8))
    for array in (A8.copy(), A8 * 2):
        monkeypatch.setitem(globals(), "TABLE", array)
        expected = array.copy()
        expected[1:] = array[:-1]
        program(TABLE)
        np.testing.assert_array_equal(TABLE, expected)


def test_an_argument_that_overlaps_the_global_array(monkeypatch):
    base = np.arange(9.0)
    expected = base.copy()
    monkeypatch.setitem(globals(), "TABLE", expected[:8])
    shifting(expected[1:])
    monkeypatch.setitem(globals(), "TABLE", base[:8])
    dcpy.program(shifting)(base[1:])
    np.testing.assert_array_equal(base, expected)


def test_a_callee_that_is_passed_the_global_array_it_writes(monkeypatch):
    results = []
    for run in (outer_shift, dcpy.program(outer_shift)):
        monkeypatch.setitem(globals(), "TABLE", A8.copy())
        run(A8 * 10)
        results.append(TABLE)
    np.testing.assert_array_equal(*results)


def test_nested_functions_see_the_newest_value():
    def f(a):
        k = 3

        def times(x):
            return x * k

        first = times(a)
        k = 5
        return first, times(a), (lambda x, y=k: x + y * k)(a)

    check_same(f, A8)


def test_functions_as_arguments_and_values():
    def twice(g, x):
        return g(g(x))

    def f(a):
        chosen = np.sqrt if a.ndim == 1 else np.exp
        return twice(lambda x: x + 1, a), twice(chosen, a), twice(math.sqrt, 16.0)

    check_same(f, A8, rtol=1e-15)


def test_assigning_variables_outside_is_refused():
    def f(a):
        global SCALE
        SCALE = 4
        return a

    k = 0

    def g(a):
        nonlocal k
        k = a.shape[0]
        return a

    for function, reason in ((f, "cannot assign global variables"), (g, "around the program are never written")):
        with pytest.raises(dcpy.DcpyError, match=reason):
            dcpy.program(function)(A8)
    assert k == 0


def test_named_tuples_and_enumerations():
    point = Point(3, np.arange(8.0))

    def f(a, kind):
        if kind is Kind.LARGE:
            a = a * Kind.LARGE
        return a * point.scale + point[1] + point.shift[0]

    program = dcpy.program(f)
    for kind in Kind:
        np.testing.assert_array_equal(program(A8, kind), f(A8, kind))


def test_members_of_enumerations_by_their_values():
    def f(a):
        total = 0.0
        for side in Side:
            total += side.value * a[Side(side.value).value]
        for position, kind in enumerate(Kind):
            total += position * kind
        return total, len(Side), Side(2).name, [side.value for side in Side], Kind(100) + 1

    def unknown(a):
        return Side(3).value

    def at_run_time(k):
        return Side(k).value

    check_same(f, A8)
    with pytest.raises(ValueError, match="3 is not a valid Side"):
        dcpy.program(unknown)(A8)
    with pytest.raises(dcpy.DcpyError, match=r"known at run time only(.|\n)*compare the number with `Side.LEFT.value`"):
        dcpy.program(at_run_time)(2)


Point = collections.namedtuple("Point", "scale shift")


class Side(enum.Enum):
    LEFT = 1
    RIGHT = 2


class Kind(enum.IntEnum):
    SMALL = 1
    LARGE = 100


def test_nothing_outlives_the_program():
    def make():
        table = np.ones(8)

        @dcpy.program
        def f(a):
            return a + table

        f(A8)
        before = sys.getrefcount(table)
        for _ in range(100):
            f(A8)
        assert sys.getrefcount(table) == before
        return weakref.ref(f), weakref.ref(table)

    references = make()
    gc.collect()
    assert [reference() for reference in references] == [None, None]


offsets = np.arange(5.0)
strided = np.arange(12.0)[::2]


def shifted(p):
    p[1:-1] = p[2:] + offsets[1:-1] + strided[1:4]
    return p


def test_w3_names_of_global_arrays_of_callees_outlive_dry_runs():
    """W3: a global array that a dry run finds keeps its name; locals of that name (and the next ones) are others."""

    def in_while(s, u, p, offsets):
        while s > 0.1:
            offsets = u * 2
            strided = u * 3  # noqa: F841
            p = shifted(p)
            s = np.sum(u) * 0
        return s, p, offsets

    def in_for(u, n):
        for i in range(n):
            offsets = u * i
            offsets_1 = offsets + 1
            offsets_2 = shifted(offsets_1) if i > 2 else offsets_1 * 2
            u = offsets_2
        return u

    for function, *args in ((in_while, 1.0, np.ones(5), np.arange(5.0), np.ones(5)), (in_for, np.ones(5), 6)):
        expected = function(*copy.deepcopy(args))
        for found, wanted in zip(dcpy.program(function)(*args), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_w3_names_of_global_generators_of_callees_outlive_dry_runs():
    rng = np.random.default_rng(3)

    def drawn(x):
        return x + rng.random(5)

    def f(x, n):
        while n > 0:
            rng = x * 2
            x = drawn(rng)
            n -= 1
        return x

    got = dcpy.program(f)(np.ones(5), 3)
    rng = np.random.default_rng(3)
    np.testing.assert_array_equal(got, f(np.ones(5), 3))
