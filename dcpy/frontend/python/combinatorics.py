"""Combinatorics: `itertools.combinations` and `permutations`, as generators of nested loops."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from dcpy.frontend.abstract_values.values import Value
from dcpy.frontend.implements import operation
from dcpy.frontend.lower.op_builder import OpBuilder


@operation
def refuse(b: OpBuilder) -> Value:
    """The error where tuples would have more places than there are loops here."""
    raise b.error(
        "how many items are chosen at once must be known when the program is compiled, and few: 1 to 3, or 4 permuted",
        help="write the loops: `for i in range(n): for j in range(i + 1, n): ...`",
    )


def combinations(iterable: Any, r: Any) -> Iterator[Any]:
    """Each choice of `r` items, in their order."""
    items = list(iterable)
    count = len(items)
    if r == 1:
        for x in items:
            yield (x,)
    elif r == 2:
        for i in range(count):
            for j in range(i + 1, count):
                yield items[i], items[j]
    elif r == 3:
        for i in range(count):
            for j in range(i + 1, count):
                for k in range(j + 1, count):
                    yield items[i], items[j], items[k]
    else:
        refuse()


def combinations_with_replacement(iterable: Any, r: Any) -> Iterator[Any]:
    """The same where an item may be chosen more than once."""
    items = list(iterable)
    count = len(items)
    if r == 1:
        for x in items:
            yield (x,)
    elif r == 2:
        for i in range(count):
            for j in range(i, count):
                yield items[i], items[j]
    elif r == 3:
        for i in range(count):
            for j in range(i, count):
                for k in range(j, count):
                    yield items[i], items[j], items[k]
    else:
        refuse()


def permutations(iterable: Any, r: Any = None) -> Iterator[Any]:
    """Each choice of `r` items (all of them) in each order."""
    items = list(iterable)
    places = len(items) if r is None else r
    if places == 1:
        for x in items:
            yield (x,)
    elif places == 2:
        yield from _ordered_pairs(items)
    elif places == 3:
        yield from _ordered_triples(items)
    elif places == 4:
        yield from _ordered_fours(items)
    else:
        refuse()


def _ordered_pairs(items: Any) -> Iterator[Any]:
    count = len(items)
    for i in range(count):
        for j in range(count):
            if i != j:
                yield items[i], items[j]


def _ordered_triples(items: Any) -> Iterator[Any]:
    count = len(items)
    for i in range(count):
        for j in range(count):
            for k in range(count):
                if i != j and k not in (i, j):
                    yield items[i], items[j], items[k]


def _ordered_fours(items: Any) -> Iterator[Any]:
    count = len(items)
    for i in range(count):
        for j in range(count):
            for k in range(count):
                for m in range(count):
                    if i != j and k not in (i, j) and m not in (i, j, k):
                        yield items[i], items[j], items[k], items[m]


CHOOSING = {
    itertools.combinations: combinations,
    itertools.combinations_with_replacement: combinations_with_replacement,
    itertools.permutations: permutations,
}
