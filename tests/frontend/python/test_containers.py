"""The classes that stand for Python's containers, run by Python: contents and orders are those of the originals."""

import random
from collections import deque

import numpy as np
import pytest

from dcpy.frontend.python.containers.double_ended_queues import DoubleEndedQueue
from dcpy.frontend.python.containers.hash_maps import HashMap
from dcpy.frontend.python.containers.hash_sets import HashSet
from dcpy.frontend.python.containers.hash_values import hash_of


@pytest.fixture(autouse=True)
def _iterators(monkeypatch):
    """Python wants iterators of ``__iter__``, a program takes lists."""
    for cls in (HashMap, HashSet, DoubleEndedQueue):
        monkeypatch.setattr(cls, "__iter__", lambda self, listed=cls.__iter__: iter(listed(self)))
    with np.errstate(all="ignore"):
        yield


def test_hash_values():
    draw = random.Random(1)
    limits = [0, -1, 2**61, 2**61 - 1, 1 - 2**61, -(2**61) + 2, 2**63 - 1, -(2**63)]
    integers = [*limits, *(draw.randint(-(2**63), 2**63 - 1) for _ in range(500))]
    floats = [0.0, -0.0, -1.0, 0.5, float("inf"), float("-inf"), 5e-324, 1.8e308]
    floats += [draw.gauss(0, 1) * 10.0 ** draw.randint(-300, 300) for _ in range(500)]
    for value in (*integers, *floats, *zip(integers, floats, strict=False), ((1, 2), -1)):
        assert hash_of(value) == hash(value), value


def _pair(draw, limit):
    items = [draw.randint(-limit, limit) for _ in range(draw.choice([0, 1, 3, 6, 20, 100]))]
    return set(items), HashSet(items)


SET_STEPS = {
    "add": lambda s, x, other: s.add(x), "discard": lambda s, x, other: s.discard(x),
    "pop": lambda s, x, other: s.pop() if len(s) else None, "or": lambda s, x, other: s | other,
    "and": lambda s, x, other: s & other, "sub": lambda s, x, other: s - other, "xor": lambda s, x, other: s ^ other,
    "copy": lambda s, x, other: s.copy(), "update": lambda s, x, other: s.update([x, x + 1, 7]),
    "ior": lambda s, x, other: s.__ior__(other), "isub": lambda s, x, other: s.__isub__(other),
    "iand": lambda s, x, other: s.__iand__(other), "ixor": lambda s, x, other: s.__ixor__(other),
    "clear": lambda s, x, other: s.clear(),
}  # fmt: skip
OFTEN = ["add"] * 8 + ["discard"] * 3 + ["pop", "update"] * 2


def test_sets_have_the_order_of_cpython():
    draw = random.Random(2)
    for _ in range(300):
        limit = draw.choice([3, 20, 1000, 10**12])
        (mine, own), (other, theirs) = _pair(draw, limit), _pair(draw, limit)
        for _ in range(draw.randint(1, 40)):
            step, x = SET_STEPS[draw.choice([*OFTEN, *SET_STEPS])], draw.randint(-limit, limit)
            expected, found = step(mine, x, other), step(own, x, theirs)
            if isinstance(expected, set):
                mine, own = expected, found
            else:
                assert found == expected
            assert list(own) == list(mine)
            assert (len(own), own <= theirs, own == theirs) == (len(mine), mine <= other, mine == other)


def test_dictionaries_keep_the_order_of_insertion():
    draw = random.Random(3)
    for _ in range(200):
        mine, own = {}, HashMap()
        for number in range(draw.randint(1, 80)):
            x = draw.randint(-20, 20)
            match draw.choice(["set", "set", "set", "pop", "popitem", "get"]):
                case "set":
                    mine[x] = own[x] = number
                case "pop":
                    assert own.pop(x, None) == mine.pop(x, None)
                case "popitem" if mine:
                    assert own.popitem() == mine.popitem()
                case _:
                    assert (own.get(x), x in own, len(own)) == (mine.get(x), x in mine, len(mine))
        assert list(own.items()) == list(mine.items())
        assert list(own.as_python().items()) == list(mine.items())


def test_queues():
    draw = random.Random(4)
    for _ in range(200):
        most = draw.choice([None, None, 5])
        mine, own = deque([1, 2, 3], most), DoubleEndedQueue([1, 2, 3], most)
        for number in range(draw.randint(1, 80)):
            step = draw.choice(["append", "appendleft", "pop", "popleft", "rotate", "reverse"])
            if step in ("pop", "popleft", "reverse"):
                if mine:
                    assert getattr(mine, step)() == getattr(own, step)()
            else:
                for one in (mine, own):
                    getattr(one, step)(number)
            assert list(own) == list(mine)
        assert own.as_python() == mine
