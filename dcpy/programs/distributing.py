"""The way of an SDFG to ranks: where its arrays live, what runs where, what is sent, and the program of one rank."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from dcpy import driver, plugins
from dcpy.base.options import resolve_options
from dcpy.ir.sdfg import Sdfg

if TYPE_CHECKING:
    from dcpy.ir.distribution import Distribution
    from dcpy.ir.machine import Network
    from dcpy.transforms.distributed.requested import Requested


def distribute(
    sdfg: Sdfg,
    plan: Mapping[str, Distribution | str],
    grids: Mapping[str, Sequence[int | str]],
    *,
    temporaries: bool = False,
    alone: bool = False,
    steps: int = 0,
) -> dict[str, int]:
    """Enters grids and distributions, and runs the passes that find out what runs where, and what is sent.

    With `temporaries`, those that the plan does not name live where the arrays do that they are computed from. `alone`:
    there is one rank, which sends nothing. `steps` iterations run between two updates of halos (`DeepHalos`).
    """
    from dcpy.ir.machine import NETWORK
    from dcpy.transforms.distributed.pipeline import TEMPORARIES
    from dcpy.transforms.distributed.plans import enter_plan

    known = {name: tuple(map(int, sizes)) for name, sizes in grids.items() if all(isinstance(n, int) for n in sizes)}
    requested = take_requested(sdfg, known)
    enter_plan(sdfg, {**requested.plan, **plan}, {**grids, **requested.grids})
    if temporaries:
        driver.run_passes(sdfg, TEMPORARIES, resolve_options())
    return _distribute(sdfg, NETWORK, 1 if alone else 0, steps)


def gather(sdfg: Sdfg, plan: Mapping[str, Distribution], grids: Mapping[str, Sequence[int | str]]) -> None:
    """Enters grids and distributions, and gives each rank all of the arrays: it computes all, without a message."""
    from dcpy.transforms.distributed.pipeline import GATHERED
    from dcpy.transforms.distributed.plans import enter_plan

    plugins.load()
    enter_plan(sdfg, plan, grids)
    driver.run_passes(sdfg, GATHERED, resolve_options())


def take_requested(sdfg: Sdfg, known: Mapping[str, tuple[int, ...]]) -> Requested:
    """What the program itself says of where arrays live, which it does not say any more then."""
    from dcpy.transforms.distributed import requested

    plugins.load()
    return requested.take_requested(sdfg, known)


def choose_distributions(
    sdfg: Sdfg,
    ranks: int,
    sizes: Mapping[str, int],
    memory: int,
    adjust: Callable[[Sdfg], None] | None = None,
    figures: Mapping[str, int] | None = None,
    steps: int = 0,
) -> dict[str, int]:
    """Distributes by the cheapest plan for a typical run, with so many ranks and these sizes.

    `adjust` changes the plan, which is entered in the program, before it is carried out. `figures` are those of the
    network that were measured (`runtime.distributed.calibration`); others are as in the table. A program that says
    itself where some arrays live (`dcpy.distribute`) has that plan.
    """
    from dcpy.ir.machine import Network
    from dcpy.transforms.distributed.pipeline import TEMPORARIES
    from dcpy.transforms.distributed.planning.choose_distributions import ChooseDistributions
    from dcpy.transforms.distributed.plans import expect_sizes, name_for_grid
    from dcpy.transforms.distributed.specialize_solvers import missing_for_solvers
    from dcpy.transforms.pipeline import Pipeline

    expect_sizes(sdfg, sizes)
    network = Network(**(figures or {}))
    requested = take_requested(sdfg, {})
    if requested.plan:
        return distribute(sdfg, requested.plan, requested.grids, temporaries=True, alone=ranks == 1, steps=steps)
    choice = ChooseDistributions(
        ranks=ranks, memory=memory, grid=name_for_grid(sdfg), network=network, solves=not missing_for_solvers(sdfg)
    )
    driver.run_passes(sdfg, Pipeline("plan", choice), resolve_options())
    if adjust is not None:
        adjust(sdfg)
    driver.run_passes(sdfg, TEMPORARIES, resolve_options())
    return _distribute(sdfg, network, ranks, steps)


def _distribute(sdfg: Sdfg, network: Network, ranks: int, steps: int) -> dict[str, int]:
    """Runs the passes; warns of solvers that no library solves on a grid, and of arrays that are gathered."""
    from dcpy.base.errors import warn_of_cost
    from dcpy.ir.analysis.uses import Uses
    from dcpy.transforms.distributed.pipeline import distribute
    from dcpy.transforms.distributed.specialize_solvers import SpecializeSolvers, missing_for_solvers
    from dcpy.transforms.distributed.whole_copies import unplaced_views

    plugins.load()
    missing = "there is one rank" if ranks == 1 else missing_for_solvers(sdfg)
    solvers = SpecializeSolvers(network, ranks, missing)
    for node, reason in solvers.gathered(Uses(sdfg)) if ranks != 1 else ():
        warn_of_cost(f"{node.kind}: {reason}", node.span)
    for name, reason in unplaced_views(Uses(sdfg)).items() if ranks != 1 else ():
        warn_of_cost(f"{name!r} is gathered: {reason}", sdfg.desc(name).span or sdfg.span)
    return driver.run_passes(sdfg, distribute(network, solvers, steps), resolve_options()).counts()


def localize(sdfg: Sdfg, overlap: bool = False) -> None:
    """Makes a distributed program that of one rank, in place. With `overlap`, halos arrive while it computes."""
    from dcpy.transforms.distributed.pipeline import LOCALIZE, OVERLAP

    driver.run_passes(sdfg, LOCALIZE, resolve_options())
    if overlap:
        driver.run_passes(sdfg, OVERLAP, resolve_options())
