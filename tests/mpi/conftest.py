"""What tests of several ranks need: those of this number of ranks, one outcome for all, and an end for what hangs."""

from __future__ import annotations

import faulthandler
import os
import sys

import pytest

from dcpy.base.options import launched_by_mpi

SECONDS = int(60 * (1 + os.getloadavg()[0] / (os.cpu_count() or 1)))  # for one test; longer where others compute, too


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not launched_by_mpi():
        return
    from dcpy.runtime.distributed.world import current_world

    ranks = current_world().size

    def is_for(item: pytest.Item) -> bool:
        marker = item.get_closest_marker("mpi")
        return marker is not None and (not marker.args or ranks in marker.args)

    others = [item for item in items if not is_for(item)]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if is_for(item)]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item):
    if not launched_by_mpi():
        return (yield)
    faulthandler.dump_traceback_later(SECONDS, exit=True, file=sys.__stderr__)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    report = yield
    if launched_by_mpi() and call.when == "call":
        from dcpy.runtime.distributed.world import current_world

        failed = current_world().all(report.failed)
        if any(failed) and not report.failed:
            report.outcome = "failed"
            report.longrepr = f"failed on rank {', '.join(str(rank) for rank, bad in enumerate(failed) if bad)}"
    return report
