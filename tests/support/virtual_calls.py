"""Calls of distributed programs on virtual ranks: the way of a call under MPI, up to the program of one rank."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np

import dcpy
from dcpy import driver
from dcpy.ir.analysis.uses import desc_symbols
from dcpy.ir.data import Array
from dcpy.ir.interp.arguments import allocate
from dcpy.ir.interp.parts import Assembly, local_part
from dcpy.ir.interp.ranks import run_ranks, symbols_of_ranks
from dcpy.ir.text.distribution_parser import parse_distribution
from dcpy.programs import rank_programs

Axes = tuple[str, ...]


class VirtualProgram:
    """A function, distributed on a grid of so many axes, for arguments like these; it serves any sizes and ranks."""

    def __init__(
        self, function: Callable[..., Any], arguments: list[Any], axes: int, layouts: list[Axes | None], **options: Any
    ) -> None:
        self.names = list(inspect.signature(function).parameters)
        program = dcpy.program(function, distributed=True, **options)
        self.sdfg = program.to_sdfg(*arguments)
        if program.options.auto_optimize:
            driver.auto_optimize(self.sdfg, program.options)
        self.plan = {name: f"g0({', '.join(where)})" for name, where in zip(self.names, layouts, strict=True) if where}
        with mock.patch.object(rank_programs, "expand_messages"):  # the interpreter knows what they mean
            self.recipe = rank_programs.for_ranks(self.sdfg, self.plan, [(2,) * axes], 2, {})

    def run(self, arguments: list[Any], grid: tuple[int, ...]) -> tuple[list[list[Any]], list[Any]]:
        """The results of each rank, and the arguments afterwards, those that are dealt out as a whole."""
        ranks = int(np.prod(grid))
        bound = dict(zip(self.names, arguments, strict=True))
        symbols = self._symbols(bound, grid)
        places = symbols_of_ranks(self.sdfg, ranks, symbols)
        (name,) = self.sdfg.grids
        placed = {each: replace(parse_distribution(where), grid=name) for each, where in self.plan.items()}
        parts = [self._part(bound, placed, symbols | place, place) for place in places]
        run_ranks(self.sdfg, parts, symbols, strict=True, seed=ranks)
        after = []
        for each, value in bound.items():
            if each in placed and each in parts[0]:
                whole = Assembly(value.shape, placed[each], self.sdfg.grids)
                for rank, (place, part) in enumerate(zip(places, parts, strict=True)):
                    whole.add(rank, part[each], place)
                value = whole.values
            after.append(value)
        kept = [[part.get(result.container) for result in self.sdfg.results] for part in parts]
        return kept, after

    def _symbols(self, bound: dict[str, Any], grid: tuple[int, ...]) -> dict[str, int]:
        recipe = self.recipe
        found = {name: int(bound[name]) for name in recipe.numbers}
        for name, dims in recipe.sizes.items():
            for size, (symbol, _, offset) in zip(bound[name].shape, dims, strict=True):
                found |= {symbol: size - offset} if symbol else {}
        found |= dict(zip(recipe.grids[0], grid, strict=True))
        return found | {
            symbol: -(-bound[name].shape[dim] // grid[axis]) for symbol, name, dim, _, axis in recipe.blocks
        }

    def _part(self, bound: dict[str, Any], placed: dict[str, Any], symbols: Any, place: Any) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, value in bound.items():
            if name in self.sdfg.containers and name in placed:
                found[name] = local_part(value, placed[name], self.sdfg.grids, place)
            elif name in self.sdfg.containers:
                found[name] = value.copy() if isinstance(value, np.ndarray) else value
        for result in self.sdfg.results:
            desc = self.sdfg.containers.get(result.container)
            if isinstance(desc, Array) and result.container not in found and symbols.keys() >= {*desc_symbols(desc)}:
                found[result.container] = allocate(desc, symbols)
        return found
