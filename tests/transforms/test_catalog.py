"""The catalog lists every transformation that exists, under its own name."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

import pytest

import dcpy.transforms
from dcpy import plugins
from dcpy.transforms.api import Transformation
from dcpy.transforms.catalog import PASSES, PIPELINES, TRANSFORMATIONS
from dcpy.transforms.passes import GraphPass, Pass
from dcpy.transforms.pipeline import CompositePass, Pipeline, Repeat


def everything() -> list[object]:
    modules = pkgutil.walk_packages(dcpy.transforms.__path__, "dcpy.transforms.")
    found = [value for module in modules for value in vars(importlib.import_module(module.name)).values()]
    return list(dict.fromkeys(value for value in found if isinstance(value, type | Pipeline)))


def test_all_transformations_are_listed():
    kinds = [value for value in everything() if isinstance(value, type) and issubclass(value, Transformation)]
    written = {kind.name: kind for kind in kinds if kind is not Transformation}
    listed = {name: TRANSFORMATIONS[name] for name in TRANSFORMATIONS}  # and those of the plug-ins that are loaded
    assert {name: kind for name, kind in listed.items() if kind.__module__.startswith("dcpy.transforms")} == written


def test_all_other_passes_are_listed():
    frames = (Pass, GraphPass, CompositePass, Repeat, Pipeline)
    kinds = [value for value in everything() if isinstance(value, type) and issubclass(value, Pass)]
    written = {kind.name: kind for kind in kinds if not issubclass(kind, Transformation) and kind not in frames}
    assert {name: PASSES[name] for name in PASSES} == written


def test_all_pipelines_are_listed():
    pipelines = [value for value in everything() if isinstance(value, Pipeline)]
    assert {name: PIPELINES[name] for name in PIPELINES} == {pipeline.name: pipeline for pipeline in pipelines}


def test_each_transformation_shows_a_picture():
    for name in TRANSFORMATIONS:
        text = TRANSFORMATIONS[name].__doc__ or ""
        assert "before" in text, name
        assert "after" in text or "becomes" in text, name


plugins.load()


@pytest.mark.parametrize("name", list(TRANSFORMATIONS))
def test_apply_takes_what_plan_makes(name):
    """As the type checker proves for dcpy's own; plug-ins may not run one."""
    kind = TRANSFORMATIONS[name]
    made = kind.plan.__annotations__["return"].split(" | ")
    taken = kind.apply.__annotations__["plan"].split(" | ")
    assert sorted(part for part in made if part != "Refusal") == sorted(taken)
    assert list(inspect.signature(kind.apply).parameters) == ["self", "m", "plan", "rw"]
