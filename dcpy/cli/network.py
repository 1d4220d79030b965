"""``dcpy doctor --mpi``: what messages and work cost on ranks of this machine, or of the job that it is started in."""

from __future__ import annotations

import os
import sys

from dcpy.base.errors import GridError
from dcpy.base.options import launched_by_mpi
from dcpy.cli.ranks import run_on_ranks


def measure_network() -> int:
    """Measures, prints and keeps; where this is no rank yet, on two ranks here. Returns an exit code."""
    if not launched_by_mpi():
        return run_on_ranks(2, ["-m", "dcpy.cli.network"])
    from dcpy.driver import program_cache
    from dcpy.runtime.distributed.calibration import collectives, hidden, keep, measure, rows, scope_of
    from dcpy.runtime.distributed.world import current_world

    world = current_world()
    if world.size < 2:
        raise GridError("one rank has nobody to send to", help="start it on two ranks or more: mpirun -n 2 ...")
    scope, figures, timed, share = scope_of(world), measure(world), collectives(world), hidden(world)
    if world.rank:
        return 0
    print(f"{world.size} ranks on {scope} node{'s' * (scope != 'one')}, {os.cpu_count()} cores here:")
    for words, figure in rows(figures, timed):
        print(f"        {words:48}{figure}")
    advice = "halo_overlap=True may pay" if share >= 50 else "halo_overlap=True does not pay"
    print(f"        {'of a message, behind what is computed':48}{share:10} %: {advice}")
    try:
        print(f"kept in {keep(program_cache(), scope, world.library_version, figures)}")
    except OSError as error:
        print(f"not kept: {error}")
    return 0


if __name__ == "__main__":
    sys.exit(measure_network())
