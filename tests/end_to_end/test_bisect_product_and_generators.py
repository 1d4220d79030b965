"""`bisect`, ``itertools.product(repeat=...)``, generator expressions that containers take, and ``in`` of bytes."""

import bisect
from bisect import bisect_left, insort
from collections import Counter, deque
from itertools import product

import numpy as np
import pytest

from tests.support.oracles import check_same

X = np.array([1.0, 0.2, 0.7, 0.9])


def longest_increasing(x):
    tails = []
    for value in x:
        place = bisect_left(tails, value)
        if place == len(tails):
            tails.append(value)
        else:
            tails[place] = value
    return len(tails), tails


def sorted_by_insertion(x):
    out = []
    for value in x:
        insort(out, value)
    return out, bisect_left(out, 0.7), bisect.bisect(out, 0.7), bisect.bisect_left(out, 0.7, 1, 2)


def in_known_lists(x):
    marks = [60, 70, 80, 90]
    return [bisect.bisect(marks, 100 * value) for value in x], bisect.bisect_right([1.0, 2.0, 2.0, 3.0], 2.0)


def with_a_key(x):
    pairs = [(0.1, 3), (0.5, 1), (0.9, 2)]
    return bisect_left(pairs, x[2], key=lambda pair: pair[0]), bisect.bisect_right([3, 2, 1], -2, key=lambda v: -v)


def dice(x):
    counts = np.zeros(25, int)
    for found in product(range(1, 7), repeat=4):
        counts[sum(found)] += 1
    total = 0
    for a, b in product((0, 1), repeat=2):
        total = total * 3 + (a ^ b)
    return counts, total


def queue(x):
    todo, found = deque(i for i in range(len(x)) if x[i] > 0.5), 0
    while todo:
        found = found * 10 + todo.popleft()
    return found


@pytest.mark.parametrize("program", [longest_increasing, sorted_by_insertion, in_known_lists, with_a_key, dice, queue])
def test_as_in_python(program):
    check_same(program, X)


def vowels(text):
    counts = Counter(byte for byte in text if byte != 32)
    return sum(byte in b"aeiou" for byte in text), 97 in b"aeiou", b"ei" in b"aeiou", max(counts.values()), len(counts)


def test_bytes():
    check_same(vowels, b"hello world queue")
