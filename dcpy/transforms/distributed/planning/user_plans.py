"""User plans: declares grids, and gives containers the distributions that a caller names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dcpy.base.assumptions import NOTHING
from dcpy.base.errors import InvalidSdfg, TransformationRefused
from dcpy.ir.data import Array
from dcpy.ir.distribution import Distribution
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.text.distribution_parser import parse_distribution
from dcpy.ir.verify import verify


def enter_plan(sdfg: Sdfg, plan: Mapping[str, Distribution | str], grids: Mapping[str, Sequence[int | str]]) -> None:
    """Declare grids and give containers their distributions; all of it, or nothing where something does not fit."""
    places = {name: parse_distribution(where) if isinstance(where, str) else where for name, where in plan.items()}
    before, known = dict(sdfg.grids), {name: sdfg.desc(name) for name in plan}
    symbols, sizes, assumed = dict(sdfg.symbols), list(sdfg.sizes), dict(sdfg.assumed)
    try:
        for name, extents in grids.items():
            if name in before or not sdfg.is_free(name):
                raise TransformationRefused(f"{name!r} has another meaning in {sdfg.name!r}: no grid can be called so")
            sdfg.add_grid(name, *extents)
        for name, where in places.items():
            desc = known[name]
            if not isinstance(desc, Array):
                kind = type(desc).__name__.lower()
                raise TransformationRefused(f"{name!r} is a {kind}: only arrays are distributed", span=desc.span)
            sdfg.redeclare(name, replace(desc, distribution=where))
        verify(sdfg)
    except (InvalidSdfg, TransformationRefused):
        for name, desc in known.items():
            sdfg.redeclare(name, desc)
        sdfg.grids, sdfg.symbols, sdfg.sizes, sdfg.assumed = before, symbols, sizes, assumed
        sdfg.forget_names()
        raise


def expect_sizes(sdfg: Sdfg, sizes: Mapping[str, int]) -> None:
    """Say what symbols are in a typical run; `TransformationRefused` for what is no symbol, and for no such size."""
    for name, value in sizes.items():
        if name not in sdfg.symbols:
            known = ", ".join(sdfg.symbols) or "none"
            raise TransformationRefused(f"{name!r} is no symbol of {sdfg.name!r}", help=f"its symbols are {known}")
        assumed = replace(sdfg.assumed.get(name, NOTHING), typical=value)
        if problem := assumed.problem(size=name in sdfg.sizes):
            raise TransformationRefused(f"{name!r} cannot be {value}: {problem}")
        sdfg.assumed[name] = assumed


def name_for_grid(sdfg: Sdfg) -> str:
    """The name of the grid that there is, or one that nothing has, nor any symbol for its sizes."""
    if len(sdfg.grids) == 1:
        return next(iter(sdfg.grids))
    name = "g"
    while not all(map(sdfg.is_free, (name, f"{name}_p0", f"{name}_p1"))):
        name += "_"
    return name
