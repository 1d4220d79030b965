"""What is printed when a rank has waited too long. Jobs that do: tests/mpi/test_jobs.py."""

from __future__ import annotations

import sys

from dcpy.runtime.distributed.watchdog import Watchdog, _place, report
from dcpy.runtime.distributed.world import World


def at(line, waits="", late=False):
    return {"waits": waits, "late": late, "place": ["heat.py", line, "main"], "line": "step(A, B)"}


def test_ranks_at_one_place_are_told_together():
    found = {0: at(7), 1: at(12, "step(), which all ranks call", True), 3: at(12, "step(), which all ranks call")}
    assert report(1, range(4), found) == """\
dcpy: rank 1 has waited too long (ranks_timeout), and ends the job
  rank 0: does not wait, at heat.py:7, in main
      step(A, B)
  ranks 1, 3: waits in step(), which all ranks call, at heat.py:12, in main
      step(A, B)
  rank 2: no answer: it has ended, or has not begun to watch
"""


def test_the_place_is_that_of_the_user():
    place, line = _place(sys._getframe())
    assert place[0] == __file__
    assert line == "place, line = _place(sys._getframe())"


def test_nobody_watches_a_rank_alone():
    """Nor does a thread start where there is no limit."""
    watchdog = Watchdog(None)
    for world in (World(), World(0, 1, None, watchdog), World(0, 2, None, watchdog)):
        with world.limited("nothing", 0 if world.size > 1 else 5):
            pass
    assert watchdog._thread is None
