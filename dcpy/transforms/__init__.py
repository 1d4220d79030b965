"""Transformations of SDFGs: their API, the simplify pass, optimizations of maps and loops, schedules, expansions.

Read `api` for what a transformation is, `catalog` for which there are, `pipeline` for how they run in rows. Every
transformation of the catalog can be imported from here by its class' name, which loads it on first use:
``from dcpy.transforms import MapFusion``.
"""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    from dcpy.transforms.catalog import class_named

    if (found := class_named(name)) is not None:
        return found
    raise AttributeError(f"module 'dcpy.transforms' has no attribute {name!r}")
