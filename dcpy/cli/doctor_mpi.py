"""dcpy doctor --mpi``: measures messages and work on ranks of this machine, or of the job that it is started in."""

from __future__ import annotations

import sys

from dcpy.base.errors import GridError
from dcpy.base.options import launched_by_mpi, resolve_options
from dcpy.cli.rank_launcher import run_on_ranks


def measure_network() -> int:
    """Measure, prints and keep; where this is no rank yet, on two ranks here. Returns an exit code."""
    if not launched_by_mpi():
        return run_on_ranks(2, ["-m", "dcpy.cli.doctor_mpi"])
    from dcpy.runtime.distributed.world import current_world
    from dcpy.targets.ranks.target import RANKS

    world = current_world()
    if world.size < 2:
        raise GridError("one rank has no partner for messages", help="start it on two ranks or more: mpirun -n 2 ...")
    for line in RANKS.measure(world, resolve_options()):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(measure_network())
