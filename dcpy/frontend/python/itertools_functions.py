"""itertools` functions, `map` and `filter` as generators in Python."""

from __future__ import annotations

import collections
import itertools
import operator
from collections.abc import Callable, Iterator
from typing import Any

from dcpy.frontend.python.bisections import BISECTIONS
from dcpy.frontend.python.combinatorics import CHOOSING
from dcpy.frontend.python.containers.double_ended_queues import DoubleEndedQueue
from dcpy.frontend.python.containers.hash_maps import CountingMap
from dcpy.frontend.python.containers.ragged_lists import default_map
from dcpy.frontend.python.heaps import HEAPS

#: What stands for a function of Python's, where a program calls it.
WRITTEN: dict[Any, Callable[..., Any]] = dict(CHOOSING) | HEAPS | BISECTIONS | {
    collections.deque: DoubleEndedQueue,
    collections.defaultdict: default_map,
    collections.Counter: CountingMap,
}


def _stands_for(original: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        WRITTEN[original] = function
        return function

    return register


@_stands_for(itertools.chain)
def chain(*iterables: Any) -> Iterator[Any]:
    """The items of one after those of the other."""
    for part in iterables:
        yield from part


@_stands_for(itertools.chain.from_iterable)
def chained(iterables: Any) -> Iterator[Any]:
    """The items of the items."""
    for part in iterables:
        yield from part


@_stands_for(itertools.islice)
def islice(iterable: Any, start: Any, stop: Any = -1, step: Any = 1) -> Iterator[Any]:
    """Some of the items, counted from the first."""
    first, last = (0, start) if stop == -1 else (start, stop)
    place = 0
    if last > 0:
        for item in iterable:
            if place >= first and (place - first) % step == 0:
                yield item
            place += 1
            if place >= last:
                break


@_stands_for(itertools.accumulate)
def accumulate(iterable: Any, func: Any = operator.add) -> Iterator[Any]:
    """Running sums, or what else `func` makes of the items so far."""
    items = list(iterable)
    if len(items) > 0:
        total = items[0]
        yield total
        for place in range(1, len(items)):
            total = func(total, items[place])
            yield total


@_stands_for(itertools.pairwise)
def pairwise(iterable: Any) -> Iterator[Any]:
    """Each item with the next one."""
    items = list(iterable)
    for place in range(len(items) - 1):
        yield items[place], items[place + 1]


@_stands_for(itertools.takewhile)
def takewhile(predicate: Any, iterable: Any) -> Iterator[Any]:
    """The items before the first for which the predicate is false."""
    for item in iterable:
        if not predicate(item):
            break
        yield item


@_stands_for(itertools.dropwhile)
def dropwhile(predicate: Any, iterable: Any) -> Iterator[Any]:
    """The items from the first on for which the predicate is false."""
    begun = False
    for item in iterable:
        if not begun and not predicate(item):
            begun = True
        if begun:
            yield item


@_stands_for(itertools.groupby)
def groupby(iterable: Any, key: Any = None) -> Iterator[Any]:
    """Keys, and the adjacent items that have them, as a list."""
    items = list(iterable)
    start = 0
    while start < len(items):
        name = items[start] if key is None else key(items[start])
        stop = start + 1
        while stop < len(items) and name == (items[stop] if key is None else key(items[stop])):
            stop += 1
        yield name, items[start:stop]
        start = stop


def mapped(function: Any, iterable: Any) -> Iterator[Any]:
    """A function of each item of a generator."""
    for item in iterable:
        yield function(item)


def filtered(function: Any, iterable: Any) -> Iterator[Any]:
    """The items for which a function is true."""
    for item in iterable:
        if function(item):
            yield item


def marked(pairs: Any) -> Iterator[Any]:
    """The items beside which there is True."""
    for item, is_in in pairs:
        if is_in:
            yield item


def true_ones(iterable: Any) -> Iterator[Any]:
    """The items that are true."""
    for item in iterable:
        if item:
            yield item


def product1(one: Any) -> Iterator[Any]:
    """The items, each in a tuple."""
    for x in one:
        yield (x,)


def product2(one: Any, two: Any) -> Iterator[Any]:
    """All pairs."""
    for x in one:
        for y in two:
            yield x, y


def product3(one: Any, two: Any, three: Any) -> Iterator[Any]:
    """All triples."""
    for x in one:
        for y in two:
            for z in three:
                yield x, y, z


def product4(one: Any, two: Any, three: Any, four: Any) -> Iterator[Any]:
    """All quadruples."""
    for w in one:
        for x in two:
            for y in three:
                for z in four:
                    yield w, x, y, z


def product5(one: Any, two: Any, three: Any, four: Any, five: Any) -> Iterator[Any]:
    """All quintuples."""
    for v in one:
        for w in two:
            for x in three:
                for y in four:
                    for z in five:
                        yield v, w, x, y, z


PRODUCTS = {1: product1, 2: product2, 3: product3, 4: product4, 5: product5}


def written(function: Any, count: int) -> Any:
    """The generator that stands for a function of `itertools`, called with so many arguments."""
    if function is itertools.product:
        return PRODUCTS.get(count)
    return next((made for known, made in WRITTEN.items() if known is function), None)
