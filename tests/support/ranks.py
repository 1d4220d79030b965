"""Distributed programs on virtual ranks: the erased program, the distributed one and the local one do the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dcpy import plugins
from dcpy.ir.data import Array
from dcpy.ir.distribution import Distribution
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.editing.distribution_erasure import erased
from dcpy.ir.interp import interpret
from dcpy.ir.interp.local_parts import Assembly, local_part
from dcpy.ir.interp.virtual_ranks import RankTraffic, run_ranks, symbols_of_ranks
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.text.distribution_parser import parse_distribution
from dcpy.transforms.distributed.pipeline import LOCALIZE, distribute
from dcpy.transforms.pass_manager import run_pipeline

plugins.load()


def distributed(
    sdfg: Sdfg, plan: Mapping[str, str], grids: Mapping[str, Sequence[Any]], steps: int = -1
) -> Sdfg:
    """A copy with these distributions, homes, and copies between them; each step verified, and the same when erased.

    `steps` iterations run between two updates of halos; -1: each map has its own.
    """
    made = copy_sdfg(sdfg)
    for name, sizes in grids.items():
        made.add_grid(name, *sizes)
    for name, where in plan.items():
        made.redeclare(name, replace(made.desc(name), distribution=parse_distribution(where)))
    run_pipeline(made, distribute(steps=steps), check=True)
    return made


def localized(sdfg: Sdfg) -> Sdfg:
    """The program of one rank."""
    made = copy_sdfg(sdfg)
    run_pipeline(made, LOCALIZE, check=True)
    return made


def check(
    sdfg: Sdfg,
    made: Sdfg,
    arguments: Mapping[str, Any],
    symbols: Mapping[str, int],
    ranks: int,
    *,
    local: Sdfg | None = None,
    strict: bool = False,
    exact: bool = True,
    constant: bool = False,
) -> RankTraffic:
    """``sdfg`` = ``erased(made)`` = its local form on so many ranks. Returns what was sent.

    `constant`: nobody changes the programs, and the first equation is tested once for all grids.
    """
    expected = (_on_one_rank_once if constant else _on_one_rank)(sdfg, made, arguments, symbols)
    local = localized(made) if local is None else local
    places = symbols_of_ranks(local, ranks, symbols)
    placed = {name: _where(made, name) for name in arguments}
    parts = [
        {name: _part(value, placed[name], made, place) for name, value in arguments.items()} for place in places
    ]
    traffic = run_ranks(local, parts, symbols, strict=strict, seed=ranks)
    for name, value in expected.items():
        if not isinstance(arguments[name], np.ndarray):
            continue
        assembly = Assembly(np.shape(value), placed[name], made.grids)
        for rank, (place, mine) in enumerate(zip(places, parts, strict=True)):
            assembly.add(rank, mine[name], place)
        if exact:
            np.testing.assert_array_equal(assembly.values, value, err_msg=f"{name} on {ranks} ranks")
        else:
            np.testing.assert_allclose(assembly.values, value, rtol=1e-12, atol=1e-12, err_msg=name)
    return traffic


def _on_one_rank(
    sdfg: Sdfg, made: Sdfg, arguments: Mapping[str, Any], symbols: Mapping[str, int]
) -> dict[str, Any]:
    """The arguments after ``sdfg``, and after ``erased(made)``."""
    expected = {name: np.copy(value) for name, value in arguments.items()}
    interpret(sdfg, expected, {name: value for name, value in symbols.items() if name in sdfg.symbols})
    again = {name: np.copy(value) for name, value in arguments.items()}
    interpret(erased(made), again, {name: value for name, value in symbols.items() if name in sdfg.symbols})
    for name in expected:
        np.testing.assert_array_equal(again[name], expected[name], err_msg=f"erased: {name}")
    return expected


_known: dict[tuple[Any, ...], tuple[Sdfg, Sdfg, dict[str, Any]]] = {}


def _on_one_rank_once(
    sdfg: Sdfg, made: Sdfg, arguments: Mapping[str, Any], symbols: Mapping[str, int]
) -> dict[str, Any]:
    values = tuple((name, np.shape(value), np.asarray(value).tobytes()) for name, value in arguments.items())
    sizes = tuple((name, value) for name, value in symbols.items() if name in sdfg.symbols)
    key = (id(sdfg), id(made), values, sizes)
    if key not in _known:
        _known[key] = sdfg, made, _on_one_rank(sdfg, made, arguments, symbols)  # while both live, so do their numbers
    return _known[key][2]


def _where(sdfg: Sdfg, name: str) -> Distribution | None:
    desc = sdfg.containers.get(name)
    return desc.distribution if isinstance(desc, Array) else None


def _part(value: Any, where: Distribution | None, sdfg: Sdfg, place: Mapping[str, int]) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    return local_part(value, where, sdfg.grids, place)
