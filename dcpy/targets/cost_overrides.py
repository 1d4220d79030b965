"""Costs by dotted names: figures that were measured, or that a user gives, in the place of the table's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from dcpy.ir.machine_model import Costs


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
