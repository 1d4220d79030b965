"""What things cost on the processor that is here: what `dcpy doctor --cpu` has measured, else the table."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from dcpy.base.options import Options
from dcpy.ir.machine import Costs, worth_a_team
from dcpy.runtime.cache import LAYOUT, Cache
from dcpy.runtime.processors import kept


def tuned(options: Options, costs: Costs) -> Costs:
    """The costs with what was measured here in the place of the table's."""
    there = bool(options.cache_dir) and os.path.isdir(os.path.join(options.cache_dir, LAYOUT))
    figures = kept(Cache(options.cache_dir)) if there else {}
    return decided_by(with_figures(costs, figures)) if figures else costs


def decided_by(costs: Costs) -> Costs:
    """Costs whose constants that follow from the processor are those of the processor."""
    return replace(costs, threads_pay_above=worth_a_team(costs.processor))


def with_figures(costs: Costs, figures: Mapping[str, int]) -> Costs:
    """The costs with figures by dotted name (``processor.fork``); names that this version has not are left out."""
    changed: Costs = _changed(costs, figures)
    return changed


def _changed(table: Any, figures: Mapping[str, int]) -> Any:
    values: dict[str, Any] = {}
    for field in fields(table):
        value = getattr(table, field.name)
        if is_dataclass(value):
            start = f"{field.name}."
            inside = {name.removeprefix(start): number for name, number in figures.items() if name.startswith(start)}
            if inside:
                values[field.name] = _changed(value, inside)
        elif field.name in figures:
            values[field.name] = figures[field.name]
    return replace(table, **values) if values else table
