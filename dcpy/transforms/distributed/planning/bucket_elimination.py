"""Bucket elimination: the choice of one value per variable that minimizes a sum of tables over few variables each.

Exact, in time exponential in the width of the graph of tables only (Dechter, Bucket Elimination, AI 113, 1999). Where
a table would become too large, a variable is given the value that looks best alone, and the result says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

Table = np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class CostTable:
    """A cost for each combination of values of its variables; the table has a dimension per variable."""

    variables: tuple[str, ...]
    table: Table


@dataclass(frozen=True, slots=True)
class VariableAssignment:
    """The number of the value of each variable, what all of it costs, and whether nothing is cheaper for sure."""

    values: Mapping[str, int]
    cost: float
    is_exact: bool


def cheapest(counts: Mapping[str, int], factors: Sequence[CostTable], most: int = 10**7) -> VariableAssignment:
    """The cheapest choice; `counts`: how many values each variable has, `most`: entries of a table, at most."""
    left, pending, is_exact = dict(counts), list(factors), True
    decisions: list[tuple[str, CostTable]] = []
    while left:
        name = min(left, key=lambda each: (_entries(each, pending, counts), each))
        if _entries(name, pending, counts) > most:
            name, is_exact = max(left, key=lambda each: (len(_neighbours(each, pending)), each)), False
            pending = [_fixed(factor, name, _best_alone(name, pending, counts[name])) for factor in pending]
        bucket = [factor for factor in pending if name in factor.variables]
        joined = _joined(bucket, (name, *sorted(_neighbours(name, pending))), counts)
        pending = [factor for factor in pending if name not in factor.variables]
        pending.append(CostTable(joined.variables[1:], joined.table.min(axis=0)))
        decisions.append((name, joined))
        del left[name]
    values: dict[str, int] = {}
    for name, joined in reversed(decisions):
        known = (values[other] for other in joined.variables[1:])
        values[name] = int(np.moveaxis(joined.table, 0, -1)[tuple(known)].argmin())
    return VariableAssignment(
        {name: values[name] for name in counts}, float(sum(factor.table for factor in pending)), is_exact
    )


def _neighbours(name: str, factors: Sequence[CostTable]) -> set[str]:
    return {other for factor in factors if name in factor.variables for other in factor.variables} - {name}


def _entries(name: str, factors: Sequence[CostTable], counts: Mapping[str, int]) -> int:
    entries = counts[name]
    for other in _neighbours(name, factors):
        entries *= counts[other]
    return entries


def _joined(factors: Sequence[CostTable], variables: tuple[str, ...], counts: Mapping[str, int]) -> CostTable:
    """The sum of tables, as one over all these variables."""
    total = np.zeros(tuple(counts[name] for name in variables))
    for factor in factors:
        order = sorted(range(len(factor.variables)), key=lambda k: variables.index(factor.variables[k]))
        shape = tuple(counts[name] if name in factor.variables else 1 for name in variables)
        total = total + factor.table.transpose(order).reshape(shape)
    return CostTable(variables, total)


def _best_alone(name: str, factors: Sequence[CostTable], count: int) -> int:
    """The value that costs least where each table with this variable is as cheap as it can be."""
    total = np.zeros(count)
    for factor in factors:
        if name in factor.variables:
            others = tuple(k for k, each in enumerate(factor.variables) if each != name)
            total = total + factor.table.min(axis=others)
    return int(total.argmin())


def _fixed(factor: CostTable, name: str, value: int) -> CostTable:
    """The table where one variable has one value: all others are out of question."""
    if name not in factor.variables:
        return factor
    axis = factor.variables.index(name)
    table = np.full_like(factor.table, np.inf)
    kept = tuple(value if k == axis else slice(None) for k in range(factor.table.ndim))
    table[kept] = factor.table[kept]
    return CostTable(factor.variables, table)
