"""Names of transformations that earlier versions had: they work for one version, and say what to write instead."""

from __future__ import annotations

import pytest

import dcpy
from dcpy import plugins, transforms
from dcpy.transforms.catalog import FORMER, PASSES, TRANSFORMATIONS, class_named


def _registry(name: str) -> object:
    return next(registry for registry in (TRANSFORMATIONS, PASSES) if name in registry)


@pytest.mark.parametrize("former", FORMER)
def test_each_leads_to_an_entry_of_today(former):
    plugins.load()
    registry = _registry(FORMER[former])
    with pytest.warns(DeprecationWarning, match=f"{former}' is called '{FORMER[former]}' now"):
        found = registry[former]
    assert found is registry[FORMER[former]]
    assert former not in registry.names


def test_classes_are_found_by_their_former_names():
    plugins.load()
    with pytest.warns(DeprecationWarning, match="'graph-capture'"):
        assert class_named("RecordLoops") is PASSES["graph-capture"]
    with pytest.warns(DeprecationWarning, match="'scalar-value-numbering'"):
        assert transforms.CongruentScalars is transforms.ScalarValueNumbering
    with pytest.raises(AttributeError, match="NoSuchTransformation"):
        _ = transforms.NoSuchTransformation


def test_overrides_take_them_too():
    from dcpy.transforms.overrides import _parsed

    with pytest.warns(DeprecationWarning, match="'vector-loads'"):
        assert list(_parsed(["wide-accesses=off"])) == [("vector-loads", "off")]
    with pytest.raises(dcpy.DcpyError, match="no pass is called 'wide-access'"):
        list(_parsed(["wide-access=off"]))
