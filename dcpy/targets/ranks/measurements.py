"""Measurements of ranks: messages and work, timed by all ranks together, and kept by the first one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from dcpy.base.options import Options
from dcpy.runtime.distributed.network_calibration import collectives, hidden, keep, measure, rows, scope_of
from dcpy.runtime.distributed.world import World
from dcpy.runtime.storage.cache import Cache

WORTH_IT = 50  #: percent of a message that computation hides, from which on it may pay to let it


def measured_lines(world: World, options: Options) -> Iterator[str]:
    """Measure; all ranks call this. Lines of rank 0, which keeps the figures: plans go by them from now on."""
    scope, figures, timed, share = scope_of(world), measure(world), collectives(world), hidden(world)
    return iter(()) if world.rank else _lines(world, options, scope, figures, timed, share)


def _lines(
    world: World, options: Options, scope: str, figures: Mapping[str, int], timed: Mapping[str, float], share: int
) -> Iterator[str]:
    yield f"{world.size} ranks on {scope} node{'s' * (scope != 'one')}, {os.cpu_count()} cores here:"
    for words, figure in rows(figures, timed):
        yield f"        {words:48}{figure}"
    advice = "halo_overlap=True may pay" if share >= WORTH_IT else "halo_overlap=True does not pay"
    yield f"        {'of a message, behind what is computed':48}{share:10} %: {advice}"
    try:
        yield f"kept in {keep(Cache(options.cache_dir), scope, world.library_version, figures)}"
    except OSError as error:
        yield f"not kept: {error}"
