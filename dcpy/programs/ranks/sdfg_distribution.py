"""Distribution of an SDFG over ranks: where arrays live, what runs where, what is sent, and the program of one rank."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from dcpy import driver, plugins
from dcpy.base.options import resolve_options
from dcpy.ir.data import Array, Data
from dcpy.ir.sdfg import Sdfg

if TYPE_CHECKING:
    from dcpy.ir.distribution import Distribution
    from dcpy.ir.machine_model import Network
    from dcpy.transforms.distributed.planning.user_distributions import UserDistributions


def distribute(
    sdfg: Sdfg,
    plan: Mapping[str, Distribution | str],
    grids: Mapping[str, Sequence[int | str]],
    *,
    temporaries: bool = False,
    alone: bool = False,
    steps: int = 0,
) -> dict[str, int]:
    """Enter grids and distributions, and run the passes that find out what runs where, and what is sent.

    With `temporaries`, those that the plan does not name live where the arrays do that they are computed from. `alone`:
    there is one rank, which sends nothing. `steps` iterations run between two updates of halos (`DeepHalos`).
    """
    from dcpy.targets.ranks.target import RANKS
    from dcpy.transforms.distributed.planning.user_plans import enter_plan

    known = {name: tuple(map(int, sizes)) for name, sizes in grids.items() if all(isinstance(n, int) for n in sizes)}
    requested = take_requested(sdfg, known)
    enter_plan(sdfg, {**requested.plan, **plan}, {**grids, **requested.grids})
    _pack_results(sdfg)
    if temporaries:
        driver.run_passes(sdfg, RANKS.temporaries, resolve_options())
    return _distribute(sdfg, RANKS.network, 1 if alone else 0, steps)


def gather(sdfg: Sdfg, plan: Mapping[str, Distribution], grids: Mapping[str, Sequence[int | str]]) -> None:
    """Enter grids and distributions, and give each rank all of the arrays: it computes all, without a message."""
    from dcpy.targets.ranks.target import RANKS
    from dcpy.transforms.distributed.planning.user_plans import enter_plan

    plugins.load()
    enter_plan(sdfg, plan, grids)
    _pack_results(sdfg)
    driver.run_passes(sdfg, RANKS.gathered, resolve_options())


def take_requested(sdfg: Sdfg, known: Mapping[str, tuple[int, ...]]) -> UserDistributions:
    """Return the distributions that the program requests, and remove the requests.

    Results that show parts of others are arrays of their own from here on.
    """
    from dcpy.transforms.distributed.planning import user_distributions

    plugins.load()
    _pack_results(sdfg)
    return user_distributions.take_requested(sdfg, known)


def _pack_results(sdfg: Sdfg) -> None:
    """Make arrays of results that show parts of arrays which no rank has as a whole."""
    from dcpy.targets.ranks.target import RANKS
    from dcpy.transforms.distributed.owner_computes.pack_returned_views import shows_results

    if shows_results(sdfg):
        driver.run_passes(sdfg, RANKS.results, resolve_options())


def choose_distributions(
    sdfg: Sdfg,
    ranks: int,
    sizes: Mapping[str, int],
    memory: int,
    adjust: Callable[[Sdfg], None] | None = None,
    figures: Mapping[str, int] | None = None,
    steps: int = 0,
) -> dict[str, int]:
    """Distribute by the cheapest plan for a typical run, with so many ranks and these sizes.

    `adjust` changes the plan, which is entered in the program, before it is carried out. `figures` are those of the
    network that were measured (`runtime.distributed.network_calibration`); others are as in the table. A program that
    says itself where some arrays live (`dcpy.distribute`) has that plan. A `PerformanceWarning` says that each rank
    computes all of it, where nothing pays.
    """
    from dcpy.base.errors import warn_of_cost
    from dcpy.ir.machine_model import Network
    from dcpy.targets.ranks.target import RANKS
    from dcpy.transforms.distributed.grids.specialize_solvers import missing_for_solvers
    from dcpy.transforms.distributed.planning.choose_distributions import ChooseDistributions
    from dcpy.transforms.distributed.planning.user_plans import expect_sizes, name_for_grid
    from dcpy.transforms.pipeline import Pipeline

    expect_sizes(sdfg, sizes)
    network = Network(**(figures or {}))
    requested = take_requested(sdfg, {})
    if requested.plan:
        return distribute(sdfg, requested.plan, requested.grids, temporaries=True, alone=ranks == 1, steps=steps)
    choice = ChooseDistributions(
        ranks=ranks, memory=memory, grid=name_for_grid(sdfg), network=network, solves=not missing_for_solvers(sdfg)
    )
    report = driver.run_passes(sdfg, Pipeline("plan", choice), resolve_options(), explain=True)
    if ranks > 1 and not any(_is_dealt_out(desc) for desc in sdfg.containers.values()):
        told = next(remark.reason for remark in report.remarks or () if remark.step == choice.name)
        warn_of_cost(f"{sdfg.name}(): {told}", sdfg.span)
    if adjust is not None:
        adjust(sdfg)
    _pack_results(sdfg)
    driver.run_passes(sdfg, RANKS.temporaries, resolve_options())
    return _distribute(sdfg, network, ranks, steps)


def _is_dealt_out(desc: Data) -> bool:
    return isinstance(desc, Array) and desc.distribution is not None


def _distribute(sdfg: Sdfg, network: Network, ranks: int, steps: int) -> dict[str, int]:
    """Run the passes; warn of solvers that no library solves on a grid, and of arrays that are gathered."""
    from dcpy.base.errors import warn_of_cost
    from dcpy.ir.analysis.dataflow.def_use import Uses
    from dcpy.ir.editing.container_descriptions import description, readable
    from dcpy.targets.ranks.target import RANKS
    from dcpy.transforms.distributed.grids.specialize_solvers import SpecializeSolvers, missing_for_solvers
    from dcpy.transforms.distributed.owner_computes.whole_copies import unplaced_views

    plugins.load()
    missing = "there is one rank" if ranks == 1 else missing_for_solvers(sdfg)
    solvers = SpecializeSolvers(network, ranks, missing)
    for node, reason in solvers.gathered(Uses(sdfg)) if ranks != 1 else ():
        warn_of_cost(f"{node.kind}: {readable(reason, sdfg)}", node.span)
    for name, reason in unplaced_views(Uses(sdfg)).items() if ranks != 1 else ():
        text = f"{description(sdfg, name)} is gathered: {readable(reason, sdfg)}"
        warn_of_cost(text, sdfg.desc(name).span or sdfg.span)
    return driver.run_passes(sdfg, RANKS.distribute(network, solvers, steps), resolve_options()).counts()


def localize(sdfg: Sdfg, overlap: bool = False) -> None:
    """Make a distributed program that of one rank, in place. With `overlap`, halos arrive while it computes."""
    from dcpy.targets.ranks.target import RANKS

    driver.run_passes(sdfg, RANKS.localize, resolve_options())
    if overlap:
        driver.run_passes(sdfg, RANKS.overlap, resolve_options())
