"""Transformations of SDFGs: their API, the simplify pass, optimizations of maps and loops, schedules, expansions.

Read `api` for what a transformation is, `catalog` for which there are, `pipeline` for how they run in rows. Every
transformation of the catalog can be imported from here by its class' name, which loads it on first use:
``from dcpy.transforms import MapFusion``.
"""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    from dcpy.transforms.catalog import TRANSFORMATIONS

    for known in TRANSFORMATIONS:
        if TRANSFORMATIONS.attribute(known) == name:
            return TRANSFORMATIONS[known]
    raise AttributeError(f"module 'dcpy.transforms' has no attribute {name!r}")
