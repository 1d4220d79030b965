"""Lists of numbers as arguments, and programs with ``**kwargs``."""

import functools

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import DcpyError
from tests.support.lists import assert_same_items, check_lists
from tests.support.oracles import assert_equal
from tests.support.oracles import check_same as check_all

check_same = functools.partial(check_all, compiled=False)
V = np.array([1.0, 4.0, 2.0])


def dot(pairs):
    s = 0.0
    for x, y in pairs:
        s += x * y
    return s, pairs[-1][0], len(pairs)


def asked(x):
    return len(x), x[1:], x[-1], sum(x), max(x), sorted(x), x + x, x * 2, isinstance(x, list), x == x[:]


def grown(x):
    longer = list(x)
    longer.append(x[0])
    return longer, [v * 2 for v in x]


CASES = [
    (asked, [1.5, 2.5]),
    (asked, [3, 1, 2]),
    (asked, [np.float32(1), np.float32(3)]),
    (grown, [1, 2]),
    (grown, [True, False]),
    (dot, [(1.0, 2.0), (3.0, 4.0), (5.0, 6.0)]),
    (dot, [(1, 2)]),
    (lambda x: (np.array(x) * 2, np.sum(x), x[0][1], x[1]), [[1, 2], [3, 4]]),
    (lambda x: V[x], [0, 2]),
    (lambda x: V[x], [True, False, True]),
]


@pytest.mark.parametrize(("f", "x"), CASES)
def test_lists_of_numbers_are_lists(f, x):
    check_same(f, x)


@pytest.mark.cc
def test_compiled_calls_with_lists():
    @dcpy.program
    def f(x, a):
        return x, sum(x) + a[0], [v + 1 for v in x]

    for x in ([1.0, 2.0], [1.0, 2.0, 3.0], [1, 2]):
        found = f(x, V)
        assert found[0] is x
        assert_equal(found[1:], (sum(x) + V[0], [v + 1 for v in x]))


def refusal(f, *arguments):
    with pytest.raises(DcpyError) as caught:
        dcpy.program(f).to_sdfg(*arguments)
    text = str(caught.value)
    assert "= help: " in text
    return text


def test_refuses_changes_of_the_caller_s_list_and_says_what_to_write():
    def appends(x):
        x.append(2.0)
        return len(x)

    def copies(x):
        longer = x.copy()
        longer.append(2.0)
        return longer

    assert "it is the caller's list 'x', of which the program has a copy" in refusal(appends, [1.0])
    check_same(copies, [1.0])


def kinds(x):
    s = 0
    for v in x:
        s += v // 2
    return s, [v * 2 for v in x], [isinstance(v, int) for v in x], sum(x), len(x), 1 if x else 2


def as_arrays(x):
    return np.array(x), np.asarray(x) * 2, np.array(x).dtype == np.float64


def as_lists(x):
    longer = [*x, 7]
    copied = list(x)
    copied.append(3.5)
    return x, longer, copied, x == x[:], 1 in x, x * 2


def pairs_of(x):
    s = 0.5
    for k, v in x:
        s += k * v
    return s, x[0], [k for k, _ in x]


def rows_of(x):
    return [len(r) for r in x], [sum(r) for r in x], [r for r in x if len(r) > 1]


MIXED = [
    (kinds, [[], [1, 2.5], [True, 2], [1, np.int64(2)], [1.5, np.float64(2)], [np.float32(1), 2, 3.5]]),
    (as_arrays, [[], [1, 2.5], [True, 2], [1, 2j], [[1, 2], [3.5, 4]]]),
    (as_lists, [[], [1, 2.5], [np.int64(3), 1]]),
    (pairs_of, [[(1, 2.5), (3, 4.5)], [(1, 2.5), (np.int64(3), 4)]]),
    (rows_of, [[[1, 2], [3.5]], [[], [1]], [[1], [2, 3, 4]]]),
    (lambda x: (x[0] / 2, x[-1], x[1:]), [[1, 2.5], [2.5, 1, 3]]),
]


@pytest.mark.parametrize(("f", "x"), [(f, x) for f, several in MIXED for x in several])
def test_lists_of_several_kinds_and_without_items(f, x):
    check_lists(f, x)


@pytest.mark.cc
def test_compiled_calls_with_lists_of_several_kinds():
    for f, several in MIXED[:3]:
        program = dcpy.program(f)
        for x in (*several[:3], *several[:3]):
            assert_same_items(program(x), f(x))


def test_lists_with_the_same_items_are_others():
    @dcpy.program
    def f(x):
        return x, list(x), x[:], []

    for x in ([], [1, 2.5], [1, 2]):
        found = f.to_sdfg(x).interpret(x)
        assert_same_items(found, (x, x[:], x[:], []))
        assert found[0] is x
        assert len(set(map(id, found))) == 4


def test_what_lists_of_several_kinds_raise_and_refuse():
    check_lists(lambda x: x[0], [])
    check_lists(lambda x: max(x), [])
    assert "it is the caller's list 'x'" in refusal(lambda x: x.append(1), [1, 2.5])
    assert "it is the caller's list 'x'" in refusal(lambda x: x.append(1), [])


@pytest.mark.parametrize("x", [[2**70], [V, V], [1, 2.5, 2**70] * 40])
def test_refuses_other_lists(x):
    assert "argument 'x' is a list, but an array is needed" in refusal(lambda x: len(x), x)


@pytest.mark.parametrize(
    ("x", "advice"),
    [
        ([V, V], "pass np.array(x)"),
        ([(V, V[1:]), (V, V)], "pass a tuple: tuple(x)"),
        ([{"w": V}], "pass a tuple: tuple(x)"),
    ],
)
def test_advice_on_lists_that_are_refused(x, advice):
    with pytest.raises(dcpy.ArgumentError) as caught:
        dcpy.program(lambda x: len(x))(x)
    assert advice in caught.value.help


# -- keywords ----------------------------------------------------------------------------------------------------------


def scaled(a, *, scale=1.0, shift=0.0):
    return a * scale + shift


def passes_on(a, *more, **kwargs):
    return scaled(a, **kwargs) + len(more)


def looks(a, b=2, **options):
    s = 0.0
    for name in options:
        s += options[name]
    return s * b + a[0], len(options), "x" in options, options.get("y", 7.0)


def changes(a, **kwargs):
    kwargs["shift"] = 1.0
    return scaled(a, **kwargs)


@pytest.mark.cc
@pytest.mark.parametrize(
    ("f", "arguments", "keywords"),
    [
        (passes_on, (V,), {}),
        (passes_on, (V, 1, 2), {"scale": 2.0}),
        (passes_on, (V,), {"shift": 1, "scale": 2}),
        (looks, (V,), {"x": 1.0, "y": 2.0}),
        (looks, (V,), {"b": 3, "z": 1.0}),
        (changes, (V,), {"scale": 2.0}),
        (lambda a, *, b=1.0, **more: a * b + more["c"], (V,), {"c": 2.0}),
    ],
)
def test_keywords_are_those_of_the_call(f, arguments, keywords):
    program = dcpy.program(f)
    assert_equal(program(*arguments, **keywords), f(*arguments, **keywords))
    assert_equal(program(*arguments, **keywords), f(*arguments, **keywords))


@pytest.mark.cc
def test_programs_with_keywords_call_one_another():
    inner = dcpy.program(changes)
    assert_equal(dcpy.program(lambda a: inner(a, scale=3.0))(V), V * 3 + 1)
    assert_equal(inner.to_sdfg(V, scale=2.0).interpret(a=V, scale=2.0), V * 2 + 1)


# -- what is still refused, with words that are true -------------------------------------------------------------------

REFUSED = [
    (lambda a: zip(a, a)[0], "zip() gives an iterator", lambda a: list(zip(a, a))[1]),
    (lambda a: len(map(abs, a)), "object of type 'map' has no len()", lambda a: len(list(map(abs, a)))),
]


@pytest.mark.parametrize(("f", "words", "rewrite"), REFUSED)
def test_refusals_are_true_and_rewrites_run(f, words, rewrite):
    assert words in refusal(f, V)
    check_same(rewrite, V)


def test_sets_and_dictionaries_of_what_is_known():
    def f(a):
        pairs = {(i, j): i * j for i in range(2) for j in range(3)}
        pairs[1, 1] = a[0]
        pairs[1, 2] += 1
        few = {i % 3 for i in range(6)}
        return pairs[1, 1], pairs[1, 2], len(few), 2 in few, len(set((1, 2, 1)))

    check_same(f, V)


def test_ranges_with_steps_of_either_sign_have_positions():
    def f(a, n):
        r = range(0, 10, n)
        return r[1], len(r), r[-1]

    check_same(f, V, 3)


RECORDS = [(0, 1, 2.5), (1, 2, 0.5), (0, 2, 4.0)]
MANY = [(i, (i * 7) % 50, float(i % 13) / 2) for i in range(100)]


def lightest(edges):
    total = 0.0
    for u, v, w in sorted(edges, key=lambda e: e[2]):
        total += (u - v) * w
    return total, edges[0], min(edges, key=lambda e: e[2]), len(edges), edges[1:3]


def without_none(xs):
    known = [x for x in xs if x is not None]
    return known, sum(known), xs[1], xs.count(None)


def of_texts(tokens):
    return [value * 2 for kind, value in tokens if kind == "num"], tokens[0]


KEPT_APART = [
    (lightest, RECORDS), (lightest, MANY), (without_none, [1, None, 3.5]), (without_none, [1, None, 2.5] * 40),
    (without_none, [1, None, np.float64(2.5), np.int8(3)] * 40), (of_texts, [("num", 3), ("op", 4)] * 40),
    (of_texts, [("num", 3), ("op", "+"), ("num", 0.5)] * 40),
    (lightest, [(1, 2, np.float32(0.5)), (2, 5, np.float32(0.25))]),
]  # fmt: skip


@pytest.mark.parametrize(("f", "x"), KEPT_APART)
def test_items_of_several_kinds_keep_theirs(f, x):
    check_same(f, x)


@pytest.mark.cc
def test_compiled_calls_with_records():
    program = dcpy.program(lightest)
    for x in (RECORDS, MANY, [(u, v, int(w)) for u, v, w in MANY], RECORDS[:2]):
        assert_same_items(program(x), lightest(x))


def test_refuses_many_kinds_and_large_ints():
    for x in ([str(k) for k in range(100)], [2**70, 0.5] * 50, [[1], "a"] * 50):
        with pytest.raises(DcpyError, match="is a list, but an array is needed"):
            dcpy.program(lambda x: len(x))(x)
