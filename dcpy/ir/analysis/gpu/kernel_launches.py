"""Kernel launches: the values of symbols at each launch of a kernel, one per iteration of the loops around it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple, NoReturn

from dcpy.base.errors import SymbolicError
from dcpy.ir.analysis.polyhedral.footprints import Variable, number_range
from dcpy.ir.expressions.scalar import Load, ScalarExpr
from dcpy.ir.field_roles import Role
from dcpy.ir.interp.scalars import LeafValues, evaluate, quiet
from dcpy.ir.nodes import Map
from dcpy.ir.region import Block
from dcpy.ir.tree import dominates, owners_around, sdfg_of

MOST = 256  #: values of one loop that are looked at one by one


class SampledLaunch(NamedTuple):
    """The values of symbols in a launch; it stands for so many `times` as lie between it and the next one looked at."""

    symbols: Mapping[str, int]
    times: float = 1.0


def loops_around(kernel: Map) -> tuple[Variable, ...]:
    """The parameters of the loops of the host in which a kernel is, outermost first."""
    return tuple(axis for owner in reversed([*owners_around(kernel)]) for axis in owner.iteration_space())


def launches(kernel: Map, sizes: Mapping[str, int], most: int = MOST) -> Iterator[SampledLaunch]:
    """The launches of a kernel, one for each iteration of the loops around it, as far as `sizes` determine them.

    Of a loop with more than `most` iterations so many are taken, evenly. What a branch or a `while` loop skips is not
    known here. A kernel without a block is not started.
    """
    lets = _assigned_before(kernel)
    for launch in _iterations(loops_around(kernel), SampledLaunch(_with(lets, sizes)), lets, most):
        if blocks_of(kernel, launch.symbols) != 0:
            yield launch


def blocks_of(kernel: Map, known: Mapping[str, int]) -> int | None:
    """Return the number of blocks of a launch; None where only the run knows."""
    try:
        return math.prod(len(number_range(values, known)) for values in kernel.domain)
    except SymbolicError:
        return None


def _iterations(
    loops: tuple[Variable, ...], outer: SampledLaunch, lets: Mapping[str, ScalarExpr], most: int
) -> Iterator[SampledLaunch]:
    if not loops:
        yield outer
        return
    (name, values), rest = loops[0], loops[1:]
    assert values is not None
    try:
        numbers = number_range(values, outer.symbols)
    except SymbolicError:  # a bound that only the run knows
        yield from _iterations(rest, outer, lets, most)
        return
    taken = numbers[:: max(-(-len(numbers) // most), 1)]
    for value in taken:
        launch = SampledLaunch(_with(lets, {**outer.symbols, name: value}), outer.times * len(numbers) / len(taken))
        yield from _iterations(rest, launch, lets, most)


def _assigned_before(kernel: Map) -> dict[str, ScalarExpr]:
    """The values that symbols have surely got before, of those that get only one."""
    found: dict[str, list[Block]] = {}
    for block in sdfg_of(kernel).body.walk_blocks():
        for symbol in block.all_of(Role.DEFINED):
            found.setdefault(symbol, []).append(block)
    once = {symbol: blocks[0] for symbol, blocks in found.items() if len(blocks) == 1}
    values = {symbol: block.all_of(Role.SCALAR) for symbol, block in once.items() if dominates(block, kernel)}
    return {symbol: value[0] for symbol, value in values.items() if len(value) == 1}


def _with(lets: Mapping[str, ScalarExpr], known: Mapping[str, int]) -> Mapping[str, int]:
    """The values, and those that follow from them without a look at any container."""
    values = dict(known)
    with quiet():
        for symbol, value in lets.items():
            try:
                values[symbol] = int(evaluate(value, LeafValues(values, {}, _refuse)))
            except (SymbolicError, ArithmeticError, IndexError):
                continue
    return values


def _refuse(load: Load) -> NoReturn:
    raise SymbolicError(f"{load.container!r} is not known before the run")
