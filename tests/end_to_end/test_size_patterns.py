"""S-1: a program that was called with other sizes is as right as a fresh one, and its versions are as good.

Versions are made as calls make them, and interpreted: no compiler is needed. What compiled calls choose is tested at
the end.
"""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.frontend.specialize.argument_types import ArrayType
from dcpy.programs.specialization.size_versions import SPECULATIVE, SizeVersions
from tests.support.used import Used


def outcome(function, values):
    """What a call gives, and what it leaves in its arguments; the exception where it raises one."""
    copies = [value.copy() if isinstance(value, np.ndarray) else value for value in values]
    try:
        result = function(*copies)
    except (ValueError, IndexError) as error:
        return type(error).__name__
    return [np.asarray(part).tolist() for part in (result, *copies) if part is not None]


# -- programs whose meaning hangs on sizes -----------------------------------------------------------------------------


def hdiff(field, out, coeff):
    n, m = out.shape[0], out.shape[1]
    lap = 4.0 * field[1 : n + 3, 1 : m + 3] - (field[2 : n + 4, 1 : m + 3] + field[0 : n + 2, 1 : m + 3])
    flux = lap[1:, 1 : m + 1] - lap[:-1, 1 : m + 1]
    out[:, :] = field[2 : n + 2, 2 : m + 2] - coeff * (flux[1:, :] - flux[:-1, :])


def broadcast(a, b):
    return a * 2 + b


def halo(a, b):
    b[:] = a[2:] - a[:-2]


def fdtd(ex, ey, hz):
    ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
    ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
    hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


def convolution(x, w):
    out = np.zeros(x.shape[0] - w.shape[0] + 1)
    for k in range(w.shape[0]):
        out += w[k] * x[k : x.shape[0] - w.shape[0] + 1 + k]
    return out


def gathered(a, index, scale):
    return a[index] * scale + a[-1]


def padded(a, n):
    out = np.zeros((n + 2, n))
    out[1:-1, :] = a
    return out[:, 1:] - out[:, :-1]


def shifted(a, n, k):
    return a[k:n] - a[: n - k]


def smooth(a):
    return a[1:-1] + a[2:] - a[:-2]


def helper_called(a, b):
    return smooth(a) * smooth(b) + smooth(a[: b.shape[0]])


def columns(points):
    x, y = points[:, 0:1], points[:, 1:2]
    return x.T - x + (y.T - y)


def sliced_again(a, k):
    a[k:][1:][:2] = 1
    t = a[1:][k:]
    return t[-k:] * 1


def stepped(a, k):
    return a[::k] * 2.0


def last(a, k):
    return a[k] + a[-1] + a[2:k].sum()


def array(*shape):
    return np.arange(1.0, np.prod(shape) + 1).reshape(shape) ** 1.5


CALLS = {
    hdiff: [(array(n + h, m + h), array(n, m), array(*c)) for n, m, h, c in [
        (8, 8, 4, (8, 8)), (8, 12, 4, (8, 12)), (12, 8, 4, (12, 8)), (9, 9, 4, (9, 9)), (1, 8, 4, (1, 8)), (8, 1, 4,
        (1, 1)),
        (0, 3, 4, (0, 3)), (8, 8, 3, (8, 8)), (8, 8, 6, (8, 8)), (8, 12, 4, (12, 8)), (2, 3, 4, (1, 3)), (9, 10, 0,
        (1, 10)),
    ]],
    broadcast: [(array(*a), array(*b)) for a, b in [
        ((9, 1), (9, 9)), ((9, 1), (9, 7)), ((4, 5), (4, 5)), ((4, 5), (5, 5)), ((1, 1), (3, 4)), ((3, 1), (1, 4)),
        ((3, 4), (1, 1)),
        ((0, 4), (1, 4)), ((2, 3), (3, 2)), ((1, 5), (4, 5)), ((7, 7), (7, 7)), ((5, 4), (5, 1)), ((10, 8), (10,
        8)), ((10, 8), (10, 9)),
    ]],
    halo: [(array(n), array(m)) for n, m in [
        (12, 10), (20, 18), (3, 1), (2, 0), (12, 9), (12, 1), (5, 3), (1, 0), (0, 0), (0, 1), (4, 2), (30, 1), (9,
        7), (12, 12)]],
    fdtd: [(array(n, m), array(n, m), array(n, m)) for n, m in [(8, 8), (8, 9), (2, 2), (1, 5), (5, 1), (1, 1), (0,
        4), (9, 8), (12, 3)]],
    convolution: [(array(n), array(k)) for n, k in [(9, 3), (9, 9), (10, 8), (3, 3), (5, 1), (20, 4), (7, 6), (1,
        1), (40, 3)]],
    gathered: [(array(n), np.array(i), np.float64(2)) for n, i in [
        (5, [1, 2, -1]), (5, [0] * 5), (1, [0, 0]), (9, [8]), (3, [3]), (8, [0, 1, 2, 3, 4, 5, 6, 7]), (0, [])] if
        i],
    padded: [(array(*shape), n) for shape, n in [
        ((9, 9), 9), ((8, 8), 8), ((9, 8), 8), ((1, 8), 8), ((8, 1), 8), ((3, 3), 3), ((1, 1), 1), ((9, 9), 8), ((2,
        2), 2), ((8, 8), 1)]],
    shifted: [(array(size), n, k) for size, n, k in [
        (10, 10, 2), (10, 10, 0), (10, 8, 2), (10, 12, 2), (10, 10, -2), (10, -2, 2), (10, 10, 9), (10, 10, 10),
        (10, 10, 12), (12, 12, 5),
        (1, 1, 0), (0, 0, 0), (20, 15, 5), (3, 9, 2)]],
    helper_called: [(array(n), array(m)) for n, m in [(9, 9), (8, 8), (3, 3), (4, 4), (2, 2), (9, 8), (8, 9), (3,
        9), (9, 3), (5, 5), (0, 0)]],
    columns: [(array(n, k),) for n, k in [(4, 3), (5, 3), (3, 3), (4, 2), (4, 1), (1, 3), (0, 3), (2, 5)]],
    sliced_again: [(array(n), k) for n in (3, 1, 4, 0) for k in (2, 0, 1, -2)],
    stepped: [(array(n), k) for n, k in [(9, 2), (9, 1), (8, 3), (9, 9), (1, 5), (0, 2), (5, 7)]],
    last: [(array(n), k) for n, k in [(9, 4), (9, 0), (9, -3), (9, 8), (9, 9), (9, -10), (2, 1), (1, 0), (1, -1),
        (0, 0), (3, 2)]],
}  # fmt: skip


def rotations(calls):
    """Several orders in which a program may meet its calls: which is the first one decides what is assumed."""
    yield calls
    yield calls[::-1]
    third = len(calls) // 3
    yield calls[third:] + calls[:third]


@pytest.mark.parametrize("function", CALLS, ids=lambda function: function.__name__)
def test_a_used_program_gives_what_a_fresh_one_gives(function):
    """S-1: in any order of size patterns, values and exceptions are NumPy's."""
    for calls in rotations(CALLS[function]):
        used = Used(function)
        for values in calls:
            assert outcome(used, values) == outcome(function, values), [np.shape(value) or value for value in values]


@pytest.mark.parametrize("function", CALLS, ids=lambda function: function.__name__)
def test_the_number_of_versions_is_bounded(function):
    """S-1: a pattern (dtypes, ranks, sizes of 1) has some versions with guards, and one for each relation that ends."""
    used = Used(function)
    for values in CALLS[function]:
        outcome(used, values)
    sizes = max(sum(value.ndim for value in values if isinstance(value, np.ndarray)) for values in CALLS[function])
    assert max(map(len, used.versions.calls.values())) <= SPECULATIVE + sizes
    seen = len(used.made)
    for values in CALLS[function]:
        outcome(used, values)
    assert len(used.made) == seen  # each call has its version


def test_a_second_pattern_is_lowered_as_well_as_the_first():
    """S-1: relations that held in all calls stay, and slices that fit are assumed to fit: nothing is clamped."""
    used = Used(hdiff)
    for n, m in [(64, 64), (48, 64), (32, 48), (12, 80), (5, 9), (16, 16)]:
        used.found((array(n + 4, m + 4), array(n, m), array(n, m)))
    texts = [str(dcpy.SDFG.of(sdfg)) for _, sdfg in used.made]
    assert len(texts) == 2  # the related sizes, and the general ones: 48 and 64, and all that follow
    assert not any("min(" in text or "max(" in text or "check" in text for text in texts)
    assert len({text.count("\n") for text in texts}) == 1


def test_sizes_related_in_all_calls_stay_related():
    versions = SizeVersions()
    first = {"field": array(68, 68), "out": array(64, 64), "levels": array(60, 30)}
    versions.add(versions.next(first, {}, ()))
    second = versions.next({"field": array(52, 68), "out": array(48, 64), "levels": array(60, 30)}, {}, ())
    dims = {name: str(kind) for name, kind in second.types.items() if isinstance(kind, ArrayType)}
    assert dims == {"field": "float64[N + 4, M + 8]", "out": "float64[N, M + 4]", "levels": "float64[M, K]"}
    versions.add(second)
    third = versions.next({"field": array(52, 52), "out": array(48, 48), "levels": array(60, 30)}, {}, ())
    dims = {name: str(kind) for name, kind in third.types.items() if isinstance(kind, ArrayType)}
    assert dims == {"field": "float64[N + 4, M + 4]", "out": "float64[N, M]", "levels": "float64[K, L]"}


def test_an_integer_that_is_a_size_stands_for_it():
    """OPTIMIZER T1c: ``n`` is the size of `a` in this call, so it is in the program, behind a guard."""
    used = Used(padded)
    used(array(9, 9), 9)
    (_, sdfg), *_ = used.made
    assert sdfg.symbols.keys() == {"n"}
    assert "check" not in str(dcpy.SDFG.of(sdfg))


def test_the_text_says_what_is_assumed():
    used = Used(halo)
    used(array(12), array(10))
    used(array(20), array(18))
    used(array(9), array(7))
    assert len(used.made) == 1
    signature, sdfg = used.made[0]
    text = str(dcpy.SDFG.of(sdfg))
    assert "assumes" in text or not signature.assumes
    assert str(dcpy.parse(text)) == text


# -- compiled ----------------------------------------------------------------------------------------------------------


@pytest.mark.cc
def test_compiled_calls_find_their_version():
    """S-1: values, exceptions and the number of versions of compiled calls, coincidences and ones included."""
    for function in (shifted, padded, broadcast):
        program = dcpy.program(function)
        for values in CALLS[function][:8]:
            assert outcome(program, values) == outcome(function, values), values
        before = program.specializations
        for values in CALLS[function][:8]:
            assert outcome(program, values) == outcome(function, values), values
        assert program.specializations == before


def grown(b, c, k):
    return c + b[k::-1]


@pytest.mark.cc
def test_a_version_of_the_cache_whose_size_is_an_integer_argument_is_for_calls_where_it_is():
    """The first version takes the columns for ``k + 1``; for another `k` the cache has nothing."""
    program = dcpy.program(grown)
    for values in [(array(4), array(4, 3), 2), (array(5), array(5, 4), 0), (array(5), array(5, 4), 3)]:
        assert outcome(program, values) == outcome(grown, values)
