"""Ranks as a target: several processes compute one program, each its part, compiled for the CPU of its node.

So this is no `Target`, but what there is beside one: the network, the passes that make the program of one rank, and
measurements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcpy.base.option_groups.ranks import RankOptions
from dcpy.base.options import Options
from dcpy.ir.machine_model import NETWORK, Network
from dcpy.transforms.distributed.grids.specialize_solvers import SpecializeSolvers
from dcpy.transforms.distributed.pipeline import GATHERED, LOCALIZE, OVERLAP, RESULTS, TEMPORARIES, distribute
from dcpy.transforms.pipeline import Pipeline

if TYPE_CHECKING:
    from dcpy.runtime.distributed.world import World


#: passes of `auto-optimize` that ranks do without: copies of shifted parts become messages
LEFT_OUT = ("cyclic-shift-to-map", "partial-dead-store-elimination")


@dataclass(frozen=True, slots=True)
class RankTarget:
    """The properties that the processes of one program have in common.

    * `options`: the class that their options are declared in.
    * `node`: the target that the program of one rank is compiled for.
    * `network`: the costs of messages, in whose place comes what `measure` has found out and kept; it returns lines, of
      which one rank prints its own.
    * `results`, `temporaries`: before homes of arrays are chosen, and after it.
    * `distribute`: what runs where, and what is sent, for a network, solvers and the iterations between two updates of
      halos.
    * `gathered`: each rank computes all, without a message.
    * `localize`, `overlap`: one rank's program; messages while it computes.
    """

    options: type
    node: str
    network: Network
    results: Pipeline
    temporaries: Pipeline
    distribute: Callable[[Network, SpecializeSolvers | None, int], Pipeline]
    gathered: Pipeline
    localize: Pipeline
    overlap: Pipeline
    measure: Callable[[World, Options], Iterator[str]]


def _measure(world: World, options: Options) -> Iterator[str]:
    from dcpy.targets.ranks.measurements import measured_lines  # late: not for compilation

    return measured_lines(world, options)


RANKS = RankTarget(
    options=RankOptions,
    node="cpu",
    network=NETWORK,
    results=RESULTS,
    temporaries=TEMPORARIES,
    distribute=distribute,
    gathered=GATHERED,
    localize=LOCALIZE,
    overlap=OVERLAP,
    measure=_measure,
)
