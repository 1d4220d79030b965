"""Distribution erasure: a distributed program as one rank would run it.

A distribution places elements and does not change them: without all of them the same program is left. So the erased
program is what every pass that distributes is held to.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from dcpy.base.errors import InvalidSdfg
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.communication import CommNode, HaloUpdate
from dcpy.ir.data import Array
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.sdfg import Sdfg

S = TypeVar("S", bound=Sdfg)


def erased(sdfg: S) -> S:
    """A copy without grids, distributions, homes and updates of halos, and without symbols that only these mention.

    `InvalidSdfg` for a program in local form: its arrays are parts, and it sends messages.
    """
    copied = copy_sdfg(sdfg)
    for part in copied.with_callees():
        _erase(part)
    return copied


def _erase(sdfg: Sdfg) -> None:
    for region in sdfg.body.walk_regions():
        for name, desc in region.containers.items():
            if isinstance(desc, Array) and desc.distribution is not None:
                region.containers[name] = replace(desc, distribution=None)
    _drop_updates(sdfg)
    for node in sdfg.body.walk_nodes():
        if getattr(node, "home", None) is not None:
            vars(node)["home"] = None
        if isinstance(node, CommNode):
            raise InvalidSdfg(
                f"{sdfg.name!r} is in local form: it has a {node.kind}, and cannot be erased",
                span=node.span,
                help="erase the program as it was before it was localized",
            )
    symbols = dict.fromkeys(name for grid in sdfg.grids.values() for name in grid.symbols)
    sdfg.grids = {}
    uses = Uses(sdfg)
    for name in symbols:
        told = uses.users(name) or uses.described_by(name) or any(name in fact.symbols for fact in sdfg.assumptions)
        if not told and name not in sdfg.arguments:
            del sdfg.symbols[name]
            sdfg.assumed.pop(name, None)
            sdfg.sizes = [size for size in sdfg.sizes if size != name]
    sdfg.forget_names()


def _drop_updates(sdfg: Sdfg) -> None:
    for node in sdfg.body.walk_nodes():
        if isinstance(node, HaloUpdate) and node.state is not None:
            node.state.remove(node)
