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
from dcpy.ir.analysis.dataflow.def_use import desc_symbols
from dcpy.ir.data import Array
from dcpy.ir.interp.local_parts import Assembly, local_part
from dcpy.ir.interp.running import allocate
from dcpy.ir.interp.virtual_ranks import run_ranks, symbols_of_ranks
from dcpy.ir.text.distribution_parser import parse_distribution
from dcpy.programs.ranks import compilation
from dcpy.programs.ranks.call_results import put_together, signature_of_rank

Axes = tuple[str, ...]


class VirtualProgram:
    """A function, distributed on a grid of so many axes, for arguments like these; it serves any sizes and ranks."""

    def __init__(
        self, function: Callable[..., Any], arguments: list[Any], axes: int, layouts: list[Axes | None], **options: Any
    ) -> None:
        self.names = list(inspect.signature(function).parameters)
        program = dcpy.program(function, distributed=True, **options)
        self.sdfg = program.to_sdfg(*arguments)
        convention = self.sdfg.convention
        if program.options.auto_optimize:
            driver.auto_optimize(self.sdfg, program.options)
        self.plan = {name: f"g0({', '.join(where)})" for name, where in zip(self.names, layouts, strict=True) if where}
        with mock.patch.object(compilation, "expand_messages"):  # the interpreter knows what they mean
            self.recipe = compilation.for_ranks(self.sdfg, self.plan, [(2,) * axes], 2, {})
        self.signature = signature_of_rank(self.sdfg, convention)

    def run(self, arguments: list[Any], grid: tuple[int, ...]) -> tuple[list[list[Any]], list[Any]]:
        """What each rank returns, in a list, and the arguments afterwards; those that are dealt out, as a whole."""
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
        return [self._returned(part, dict(zip(bound, after, strict=True))) for part in parts], after

    def _returned(self, part: dict[str, Any], after: dict[str, Any]) -> list[Any]:
        """What one rank returns; numbers as arrays of one element, and None for what it has not allocated."""
        results = [
            after[result.container] if result.kind == "argument" else part.get(result.container)
            for result in self.sdfg.results
        ]
        returned = put_together(self.signature.structure, results)
        return list(returned) if isinstance(returned, tuple) else [] if returned is None else [returned]

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
