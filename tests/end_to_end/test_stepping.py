"""Programs that yield: iterators that keep their state, as Python's are."""

import copy
import itertools

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import FrontendError
from tests.support.oracles import assert_equal

pytestmark = pytest.mark.cc
A = np.array([1.0, -1.0, 2.0, 3.0, 1.0])


def outcome(function, arguments, limit):
    """The first items, and how it ends."""
    found, mine = [], copy.deepcopy(arguments)
    try:
        iterator = function(*mine)
        for _ in range(limit):
            found.append(copy.deepcopy(next(iterator)))
    except StopIteration as end:
        found.append(("stop", end.value))
    except (IndexError, ValueError, NameError) as error:
        found.append((type(error).__name__, str(error)))
    return found, mine


def check(function, *arguments, limit=8):
    """The items, the end, and what becomes of the arguments are Python's."""
    assert_equal(outcome(dcpy.program(function), arguments, limit), outcome(function, arguments, limit))


def fibonacci():
    a, b = 0, 1
    while True:
        yield a
        a, b = b, a + b


def shallow_water(height, u, v, dt=0.1):
    height = height.copy()
    t = 0.0
    while True:
        yield height, u, t
        u[:, 1:-1] -= dt * (height[:, 1:] - height[:, :-1])
        v[1:-1, :] -= dt * (height[1:, :] - height[:-1, :])
        height -= dt * ((u[:, 1:] - u[:, :-1]) + (v[1:, :] - v[:-1, :]))
        t += dt


def life(n, seed):
    g = np.random.default_rng(seed).integers(0, 2, (n, n))
    while True:
        yield g
        around = sum(np.roll(np.roll(g, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
        g = ((around == 3) | ((g == 1) & (around == 2))).astype(g.dtype)


def jumps(a):
    for i, x in enumerate(a):
        if x < 0:
            continue
        for y in a[:i]:
            if y > 2:
                break
            yield i, x * y
        else:
            yield -i
        yield i


def collatz(n):
    while n != 1:
        yield n
        if n % 2 == 0:
            n //= 2
            continue
        n = 3 * n + 1
        if n > 40:
            break
    else:
        yield -1
    yield 1
    return n


def walk(n):
    place, names = (0, (0, 1.5)), "xy"
    for k in range(n, 0, -2):
        yield place
        place = (place[0] + k, (place[1][0] - 1, place[1][1] * len(names)))


def several(a, s):
    def twice(x):
        return x * s

    for x, y in zip(a, a * 2, strict=False):
        yield twice(x) + y
    yield from range(s)
    for k in range(0, 5, s):
        if k > 3:
            return k
        yield k


def maze(n):
    walls = np.ones((2 * n + 1, 2 * n + 1), dtype=np.int8)
    stack = [(1, 1)]
    walls[1, 1] = 0
    k = 7
    while len(stack) > 0:
        x, y = stack[-1]
        free = []
        for dx, dy in ((2, 0), (-2, 0), (0, 2), (0, -2)):
            if 0 < x + dx < 2 * n and 0 < y + dy < 2 * n and walls[x + dx, y + dy] == 1:
                free.append((dx, dy))
        if len(free) == 0:
            stack.pop()
            continue
        k = (k * 1103515245 + 12345) % 2147483648
        dx, dy = free[k % len(free)]
        walls[x + dx // 2, y + dy // 2] = 0
        walls[x + dx, y + dy] = 0
        stack.append((x + dx, y + dy))
        yield walls


def history(n):
    found = []
    for i in range(n):
        yield list(found), len(found)
        found.append(i * 0.5)


@pytest.mark.parametrize(
    ("f", "arguments"),
    [
        (maze, (3,)),
        (history, (3,)),
        (fibonacci, ()),
        (shallow_water, (np.random.default_rng(0).random((4, 4)), np.zeros((4, 5)), np.zeros((5, 4)))),
        (life, (6, 0)),
        (jumps, (A,)),
        (collatz, (7,)),
        (collatz, (4,)),
        (walk, (5,)),
        (several, (A, 2)),
    ],
    ids=lambda part: getattr(part, "__name__", ""),
)
def test_items_are_those_of_python(f, arguments):
    check(f, *arguments)


def test_a_kind_that_changes_from_item_to_item():
    def f(n):
        k, x = 0, 1.5
        for i in range(n):
            if i % 2:
                k = x * i
            yield k

    check(f, 5)


def test_exceptions_come_where_python_raises_them_and_end_the_generator():
    def f(a, n):
        for i in range(n):
            yield a[i]

    check(f, A, 6)
    iterator = dcpy.program(f)(A, 6)
    with pytest.raises(IndexError):
        list(iterator)
    assert list(iterator) == []


def test_an_array_that_is_yielded_is_the_one_that_changes():
    @dcpy.program
    def f(n):
        u = np.zeros(n)
        same = u
        for i in range(n):
            u[i] = i + 1
            yield same

    iterator = f(3)
    first = next(iterator)
    assert next(iterator) is first
    np.testing.assert_array_equal(first, [1.0, 2.0, 0.0])


def test_the_protocol_is_that_of_generators():
    calls = []

    @dcpy.program
    def f(n, *, k=2):
        for i in range(n):
            yield i * k

    with pytest.raises(TypeError):
        f()
    iterator = f(3, k=5)
    assert iter(iterator) is iterator
    with pytest.raises(TypeError, match="just-started"):
        iterator.send(1)
    assert [next(iterator), iterator.send(None), *itertools.islice(iterator, 5)] == [0, 5, 10]
    closed = f(3)
    assert next(closed) == 0
    closed.close()
    assert list(closed) == calls
    thrown = f(3)
    with pytest.raises(KeyError):
        thrown.throw(KeyError("x"))
    assert list(thrown) == []


def test_programs_loop_over_programs_that_yield():
    @dcpy.program
    def squares(n):
        for k in range(n):
            yield k * k

    @dcpy.program
    def total(n):
        return sum(squares(n))

    assert total(4) == 14


def of_a_match(a):
    for k in range(len(a)):
        match k % 4:
            case 0:
                yield k
                yield a[k]
            case 1 | 2 if a[k] > 1:
                yield -a[k]
            case 3:
                continue
            case other:
                yield other * 10
                if a[k] > 100:
                    break
        yield 100 + k


def inside_of_with(a):
    s = 0.0
    with np.errstate(all="ignore"):
        for v in a:
            s += v / 2
            yield s
            if s > 5:
                break
            with np.errstate(divide="ignore"):
                yield -s
            s += 1
        yield 7.0
    yield s


def counted(a):
    for k in range(len(a)):
        if a[k] > 1:
            yield k
        yield a[k]


def twice(a):
    yield -1
    yield from counted(a)
    for v in counted(a * 2):
        yield v + 1


def loops_over_others(a):
    s = 0.0
    for v in twice(a):
        for w in a[:2]:
            s += v * w
            yield s
    yield from range(2)
    yield from a


def test_a_generator_that_is_defined_anew_is_the_one_that_is_looped_over(monkeypatch):
    f = dcpy.program(twice)
    a = np.array([3.0, 1.0])
    assert list(f(a)) == list(twice(a))

    def other(a):
        for v in a:
            yield v - 1

    other.__module__ = __name__
    monkeypatch.setitem(globals(), "counted", other)
    assert list(f(a)) == list(twice(a)) == [-1, 2.0, 0.0, 6.0, 2.0]


@pytest.mark.parametrize("f", [of_a_match, inside_of_with, twice, loops_over_others])
def test_items_of_match_and_with_are_those_of_python(f):
    for a in (np.arange(9.0), np.array([3, 1, 2]), np.zeros(0)):
        got, expected = list(dcpy.program(f)(a)), list(f(a))
        assert [(type(x), x) for x in got] == [(type(x), x) for x in expected]


def two_parts(n):
    u = np.zeros(n)
    v = u[1:]
    for _ in range(n):
        v += 1
        yield u


def taken_anew(n):
    u = np.zeros(n)
    for _ in range(n):
        v = u[1:]
        v += 1
        yield u


def over_a_generator(n):
    for x in (k * k for k in range(n)):
        yield x + 1


def over_an_array(n):
    for x in np.array([k * k for k in range(n)]):
        yield x + 1


def same_list(n):
    found = [0.5]
    for i in range(n):
        found.append(i * 0.5)
        yield found


def copied_list(n):
    found = [0.5]
    for i in range(n):
        found.append(i * 0.5)
        yield list(found)


def inside(n):
    with np.nditer(np.zeros(n)) as items:
        for x in items:
            yield float(x)


def behind(n):
    for x in np.zeros(n):
        yield float(x)


@pytest.mark.parametrize(
    ("words", "refused", "rewrite"),
    [
        ("two names show parts of one array", two_parts, taken_anew),
        ("a generator yields inside of a loop over a generator", over_a_generator, over_an_array),
        ("the generator yields the list 'found', or has it twice", same_list, copied_list),
        ("a generator yields inside of `try`, or of `with ... as`", inside, behind),
    ],
)
def test_refusals_and_their_rewrites(words, refused, rewrite):
    with pytest.raises(FrontendError, match=words) as caught:
        list(dcpy.program(refused)(3))
    assert "test_stepping.py:" in str(caught.value)
    assert "= help: " in str(caught.value)
    check(rewrite, 3)
