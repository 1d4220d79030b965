"""WholeCopies: arrays of which a program uses what no rank has alone are gathered when it begins."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Array, View
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.nodes import Node
from dcpy.ir.refusal import Refusal
from dcpy.ir.tree import owners_around
from dcpy.transforms.distributed.private_arrays import own_copy
from dcpy.transforms.distributed.resolved_placement import placed
from dcpy.transforms.passes import GraphPass


@dataclass(frozen=True)
class WholeCopies(GraphPass):
    """Gives each rank a copy of all of an array, and lets it compute with that.

    before   A: f64[N, N] on g(block 0)                after   copy A -> A_whole
             view D: f64[N*N] of A; ... D[i*(N + 1)]           view D: f64[N*N] of A_whole; ... D[i*(N + 1)]
                                                               copy A_whole -> A     # if it is written

    Applies to arrays of which a view has no distribution: reshapes that cut a dimension that is dealt out, every second
    row, views inside of maps. With `everything`, to all arrays: then each rank runs all of the program.
    """

    name: ClassVar[str] = "whole-copies"

    everything: bool = False

    def decide(self, rw: Rewriter) -> None:
        """Array after array; what each rank has as a whole has views wherever it likes."""
        found = dict.fromkeys(_distributed(rw.uses), "") if self.everything else unplaced_views(rw.uses)
        for name, reason in found.items():
            desc = rw.uses.desc(name)
            assert isinstance(desc, Array)  # it is distributed
            if desc.transient:
                rw.redeclare(name, replace(desc, distribution=None))
            elif not desc.alias:
                rw.remark(rw.sdfg, True, f"{name!r} is gathered: {reason}" if reason else f"{name!r} is gathered")
                own_copy(name, rw, whole=True)


def unplaced_views(uses: Uses) -> dict[str, str]:
    """The distributed arrays of which a view cannot be distributed, with the reason."""
    found: dict[str, str] = {}
    for name in uses.containers():
        view = uses.desc(name)
        if not isinstance(view, View):
            continue
        where = placed(name, uses)
        root = uses.root(name)
        inside = any(isinstance(owner, Node) for owner in owners_around(uses.home(name)))
        if isinstance(where, Refusal):
            found.setdefault(root, str(where))
        elif where is not None and (inside or view.of != root):
            found.setdefault(root, f"{name!r} is a view of {view.of!r} inside of a map, or of a view")
    return found


def _distributed(uses: Uses) -> list[str]:
    arrays = ((name, uses.desc(name)) for name in uses.containers())
    return [name for name, desc in arrays if isinstance(desc, Array) and desc.distribution is not None]
