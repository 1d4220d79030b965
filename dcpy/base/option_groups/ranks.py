"""Options of programs of several ranks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Replicas(Enum):
    """Comparison of replicated arrays in collective calls."""

    SAMPLE = "sample"
    ALL = "all"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class RankOptions:
    """Settings of collective calls, which a program for any device may make: their names have no prefix."""

    scalapack: str = ""  #: files of ScaLAPACK, with ``:`` between; empty: MKL or the system's; or ``off``
    halo_steps: int = 0  #: steps per halo exchange; 0 = cheapest, -1 = before every map
    halo_overlap: bool = False  #: compute the interior while halos are exchanged
    check_replicas: Replicas = Replicas.SAMPLE  #: comparison of replicated arrays: ``sample``, ``all`` or ``off``
    check_messages: bool = False  #: ranks compare collectives of the local view before they start
    ranks_timeout: int = 0  #: seconds after which a waiting rank ends the job and reports where each one is; 0: never
