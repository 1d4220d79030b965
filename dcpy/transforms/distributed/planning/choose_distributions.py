"""ChooseDistributions: the distributions of all arrays with which a program is expected to take least time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import ClassVar

import numpy as np

from dcpy.base.errors import TransformationRefused
from dcpy.base.figures import figure_text
from dcpy.ir.analysis.costs.work_estimates import TypicalValues
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.distributed.communication_cost import ranks_of, traffic_of_copy
from dcpy.ir.data import Array
from dcpy.ir.distribution import Distribution
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.machine_model import COSTS, NETWORK, Network
from dcpy.ir.sdfg import Sdfg
from dcpy.transforms.distributed.grids.grid_operations import as_square
from dcpy.transforms.distributed.planning.bucket_elimination import CostTable, VariableAssignment, cheapest
from dcpy.transforms.distributed.planning.candidates import candidates_of
from dcpy.transforms.distributed.planning.distribution_costs import Model
from dcpy.transforms.distributed.planning.replicated_arguments import distribute_inside, leaves_early
from dcpy.transforms.passes import GraphPass

PRICES = 60  #: how often the price of memory is doubled before a plan that fits is given up


@dataclass(frozen=True, slots=True)
class Plan:
    """Distributions on a grid with these axes, and the seconds of a typical run with them."""

    extents: tuple[int, ...]
    places: Mapping[str, Distribution | None]
    seconds: float
    bytes: int  #: of a rank's arrays
    is_exact: bool


@dataclass(frozen=True)
class ChooseDistributions(GraphPass):
    """Data distribution chosen by cost: for each array blocks along axes of a grid, or a copy on each rank.

    before   f(A: f64[N, M]) { map i, j { A[i, j] = f(A[i, j]) } }
    after    f(A: f64[N, M]) { data A_own: f64[N, M] on g(block 0, whole) transient
                               copy A -> A_own  map i, j { A_own[i, j] = f(A_own[i, j]) }  copy A_own -> A }

    Grids of one axis and of two are tried, and the cheapest of all choices is found by elimination
    (`bucket_elimination`). Arrays that have a distribution keep it. Arguments without one are whole on each rank, so
    what is distributed of them is a copy, gathered at the end if the program wrote it. Where nothing pays, nothing is
    changed. `ranks` is how many a typical run has, and its sizes are what symbols say that is typical; the plan serves
    any. `memory`: bytes that the arrays of a rank may take; 0: any. `solves`: whether there is a library for solvers on
    grids. Raises `TransformationRefused` where no plan fits. (Compare Bixby, Kennedy and Kremer, Automatic Data Layout
    Using 0-1 Integer Programming, PACT 1994.)
    """

    name: ClassVar[str] = "choose-distributions"

    ranks: int = 16
    memory: int = 0
    grid: str = "g"
    network: Network = NETWORK
    solves: bool = True

    def decide(self, rw: Rewriter) -> None:
        """Enter the cheapest plan, and remark what it is expected to cost."""
        known = rw.sdfg.grids.get(self.grid)
        shapes = _shapes_of_grids(self.ranks)
        shapes = [extents for extents in shapes if known is None or len(known.sizes) == len(extents)]
        if not shapes:
            raise TransformationRefused(f"{self.ranks} ranks do not make a grid as {self.grid!r} is: {known}")
        plans = [self._plan(rw.sdfg, extents) for extents in shapes]
        fitting = [plan for plan in plans if not self.memory or plan.bytes <= self.memory]
        if not fitting:
            least = min(plan.bytes for plan in plans)
            raise TransformationRefused(
                f"no plan fits: on {self.ranks} ranks the arrays of one take {figure_text(least, 'B')} at least, and "
                f"{figure_text(self.memory, 'B')} are allowed",
                help="use more ranks, or allow more memory",
            )
        best = min(fitting, key=lambda plan: (plan.seconds, len(plan.extents)))
        chosen = {name: where for name, where in best.places.items() if where is not None}
        rw.remark(rw.sdfg, bool(chosen), self._told(best, rw.uses), about="plan")
        if chosen:
            self._declare_grid(rw.sdfg, best.extents)
        for name, where in chosen.items():
            self._place(name, where, rw)

    def _declare_grid(self, sdfg: Sdfg, extents: tuple[int, ...]) -> None:
        """Declare a grid if there is none. `TransformationRefused` for one whose name means something else."""
        sizes = [f"{self.grid}_p{axis}" for axis in range(len(extents))]
        if self.grid in sdfg.grids:
            return
        if not all(map(sdfg.is_free, (self.grid, *sizes))):
            raise TransformationRefused(
                f"{self.grid!r} has another meaning in {sdfg.name!r}: no grid can be called so",
                help="give another name: choose-distributions{grid=ranks}",
            )
        sdfg.add_grid(self.grid, *sizes)

    def _place(self, name: str, where: Distribution, rw: Rewriter) -> None:
        desc = rw.uses.desc(name)
        assert isinstance(desc, Array)
        if desc.distribution is not None:
            return
        if desc.transient:
            rw.redeclare(name, replace(desc, distribution=where))
            return
        is_result = any(name == result.container for result in rw.sdfg.results)
        distribute_inside(name, where, not is_result, bool(_writers(name, rw.uses)), rw)

    def _told(self, plan: Plan, uses: Uses) -> str:
        grid = " x ".join(map(str, plan.extents))
        where = ", ".join(f"{name} {placed}" for name, placed in plan.places.items() if placed is not None)
        if not where:
            return f"on {self.ranks} ranks each rank does all, as {_why_nothing(plan, uses)}"
        exact = "" if plan.is_exact else "; more choices than were looked at"
        return (
            f"on {self.ranks} ranks as {grid}: {where}; "
            f"{plan.seconds:.2g} s a call are expected, {figure_text(plan.bytes, 'B')} a rank{exact}"
        )

    # -- one shape of the grid -----------------------------------------------------------------------------------------

    def _plan(self, sdfg: Sdfg, extents: tuple[int, ...]) -> Plan:
        made = copy_sdfg(sdfg)
        self._declare_grid(made, extents)
        rw = Rewriter(made, self.name)
        typical = TypicalValues(made, COSTS)
        candidates = self._candidates(rw.uses, extents, typical)
        counts = {self.grid: extents}
        model = Model(rw, counts, candidates, self.network, self.solves)
        factors = [*model.factors(), *self._borders(candidates, rw.uses, counts, typical)]
        needs = {name: _bytes(name, places, rw.uses, counts, typical) for name, places in candidates.items()}
        choice = self._cheapest(candidates, factors, needs)
        places = {name: candidates[name][k] for name, k in choice.values.items()}
        taken = {name: k for name, k in choice.values.items()}
        bytes_ = sum(int(needs[name][k]) for name, k in taken.items())
        return Plan(extents, places, _cost(factors, taken), bytes_, choice.is_exact)

    def _cheapest(
        self,
        candidates: Mapping[str, Sequence[Distribution | None]],
        factors: Sequence[CostTable],
        needs: Mapping[str, np.ndarray],
    ) -> VariableAssignment:
        """The cheapest choice that fits: memory gets a price, which rises until it does (Lagrange relaxation)."""
        counts = {name: len(places) for name, places in candidates.items()}
        price = 0.0
        for _ in range(PRICES):
            found = cheapest(
                counts, [*factors, *(CostTable((name,), price * bytes_) for name, bytes_ in needs.items())]
            )
            if not self.memory or sum(needs[name][k] for name, k in found.values.items()) <= self.memory:
                break
            price = 2 * price or 1e-12
        return found

    def _candidates(
        self, uses: Uses, extents: tuple[int, ...], typical: TypicalValues
    ) -> dict[str, Sequence[Distribution | None]]:
        found: dict[str, Sequence[Distribution | None]] = {}
        early = leaves_early(uses.sdfg)
        for name in uses.containers():
            desc = uses.desc(name)
            if not isinstance(desc, Array) or uses.home(name) is not uses.sdfg.body or desc.alias:
                continue
            if desc.distribution is not None:
                found[name] = [desc.distribution]
            elif desc.transient or not (early and _writers(name, uses)):
                shape = [typical.trips(size) for size in desc.shape]
                found[name] = candidates_of(self.grid, extents, shape, desc.dtype.itemsize)
        return found

    def _borders(
        self,
        candidates: Mapping[str, Sequence[Distribution | None]],
        uses: Uses,
        extents: Mapping[str, Sequence[int]],
        typical: TypicalValues,
    ) -> list[CostTable]:
        """Return the costs of splitting arguments at the start, and of gathering them at the end."""
        found = []
        for name, places in candidates.items():
            desc = uses.desc(name)
            assert isinstance(desc, Array)
            if desc.transient or desc.distribution is not None:
                continue
            shape, size = [typical.trips(each) for each in desc.shape], desc.dtype.itemsize
            table = np.zeros(len(places))
            for k, where in enumerate(places):
                if where is not None:
                    table[k] += traffic_of_copy(None, where, shape, size, extents, self.network).seconds
                    if _writers(name, uses):
                        table[k] += traffic_of_copy(where, None, shape, size, extents, self.network).seconds
            found.append(CostTable((name,), table))
        return found


def _why_nothing(plan: Plan, uses: Uses) -> str:
    if plan.places:
        return "no distribution pays for its messages"
    return "it may end early with arguments half written" if leaves_early(uses.sdfg) else "no array can be dealt out"


def _shapes_of_grids(ranks: int) -> list[tuple[int, ...]]:
    """One axis, and two that are as equal as they can be."""
    square = as_square(ranks)
    return [(ranks,), square] if square[1] > 1 else [(ranks,)]


def _writers(name: str, uses: Uses) -> bool:
    return any(uses.writers(other) for other in uses.overlapping(name))


def _bytes(
    name: str,
    places: Sequence[Distribution | None],
    uses: Uses,
    extents: Mapping[str, Sequence[int]],
    typical: TypicalValues,
) -> np.ndarray:
    desc = uses.desc(name)
    whole = prod(typical.trips(size) for size in desc.shape) * desc.dtype.itemsize
    return np.array([-(-whole // ranks_of(where, extents)) for where in places])


def _cost(factors: Sequence[CostTable], choice: Mapping[str, int]) -> float:
    return float(sum(factor.table[tuple(choice[name] for name in factor.variables)] for factor in factors))
