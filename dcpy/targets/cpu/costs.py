"""CPU costs: figures that `dcpy doctor --cpu` has measured on this processor, else the table."""

from __future__ import annotations

import os
from dataclasses import replace

from dcpy.base.options import Options
from dcpy.ir.machine_model import Costs, worth_a_team
from dcpy.runtime.cpu.measured_costs import kept
from dcpy.runtime.storage.cache import LAYOUT, Cache
from dcpy.targets.cost_overrides import with_figures


def tuned(options: Options, costs: Costs) -> Costs:
    """The costs with what was measured here in the place of the table's."""
    there = bool(options.cache_dir) and os.path.isdir(os.path.join(options.cache_dir, LAYOUT))
    figures = kept(Cache(options.cache_dir)) if there else {}
    return decided_by(with_figures(costs, figures)) if figures else costs


def decided_by(costs: Costs) -> Costs:
    """Costs whose constants that follow from the processor are those of the processor."""
    return replace(costs, threads_pay_above=worth_a_team(costs.processor))
