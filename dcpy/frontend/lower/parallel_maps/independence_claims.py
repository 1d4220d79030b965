"""Independence claims: a check of ``dcpy.map``'s iterations when all is written."""

from __future__ import annotations

from dcpy.base.errors import FrontendError
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dependence.declared_maps import Race, are_independent, certain_race
from dcpy.ir.nodes import Map
from dcpy.ir.schedules import Sequential
from dcpy.ir.sdfg import Sdfg

_TO_WRITE = "accumulate with +=, *=, &=, |= or ^=, index with all parameters of the map, or write a plain for loop"
_TO_READ = "read a copy that was made before the map (old = a.copy()), or write a plain for loop over range(...)"


def verify_claims(sdfg: Sdfg) -> None:
    """A claim that is proved is none any more; `FrontendError` where it is wrong for all sizes."""
    claimed = [node for node in sdfg.body.walk_nodes() if isinstance(node, Map) and node.claimed]
    if not claimed:
        return
    uses = Uses(sdfg)
    for node in claimed:
        if isinstance(node.schedule, Sequential) or are_independent(node, uses):
            node.claimed = False
        elif (race := certain_race(node, uses)) is not None:
            raise _refusal(node, race)


def _refusal(node: Map, race: Race) -> FrontendError:
    accesses = (race.first, race.second)
    lines = [f"line {access.place.span.line}: it {access}" for access in accesses if access.place.span is not None]
    return FrontendError(
        f"iterations of this parallel map depend on each other: {race}",
        span=node.span,
        notes=(*dict.fromkeys(lines), "they may run in any order, and at the same time"),
        help=_TO_WRITE if race.second.is_write else _TO_READ,
    )
