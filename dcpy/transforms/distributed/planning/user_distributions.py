"""User distributions: those that a program requests itself (``dcpy.distribute(A, grid, blocks)``)."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from dcpy.ir.communication import Distribute
from dcpy.ir.data import Array
from dcpy.ir.distribution import Distribution, Section
from dcpy.ir.sdfg import Sdfg
from dcpy.transforms.api import apply_once
from dcpy.transforms.expand import ExpandLibraryNode

Sizes = tuple[int, ...]


class UserDistributions(NamedTuple):
    """Requested distributions of arrays, and the new grids for them, by name, with their sizes."""

    plan: dict[str, Distribution]
    grids: dict[str, Sizes]


def take_requested(sdfg: Sdfg, known: Mapping[str, Sizes]) -> UserDistributions:
    """Make each `comm.distribute` a copy; return where what they write is to live.

    before   comm.distribute {where = ... on grid(block 0) of [4]} (x <- A) -> (out -> t)
    after    copy A -> t,   plan {"t": g0(block 0)}

    A grid is one of those `known` if it has the sizes of one. What passes have made of such an array counts: one that
    is written directly into an argument stays where the argument is, and of two for one array the first one is taken.
    """
    found = UserDistributions({}, {})
    for node in [node for node in sdfg.body.walk_nodes() if isinstance(node, Distribute)]:
        out = node.outputs["out"].container
        if out not in found.plan and _may_move(sdfg.desc(out), node.where):
            assert node.where.distribution is not None
            assert node.where.grid is not None  # verified
            sizes = tuple(size.evaluate({}) for size in node.where.grid.sizes)
            grid = _grid_of(sdfg, sizes, known, found.grids)
            found.plan[out] = replace(node.where.distribution, grid=grid)
        apply_once(sdfg, ExpandLibraryNode(), node=node)
    return found


def _may_move(desc: object, where: Section) -> bool:
    """Return whether an array is the program's own, and all of it is dealt out."""
    return isinstance(desc, Array) and desc.transient and desc.distribution is None and desc.shape == where.shape


def _grid_of(sdfg: Sdfg, sizes: Sizes, known: Mapping[str, Sizes], more: dict[str, Sizes]) -> str:
    """The name of a grid of these sizes; of a new one, if there is none."""
    for name, extents in (*known.items(), *more.items()):
        if extents == sizes:
            return name
    taken = {*known, *more}
    names = (f"g{number}" for number in itertools.count())
    new = next(name for name in names if name not in taken and sdfg.is_free(name))
    more[new] = sizes
    return new
