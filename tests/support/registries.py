"""Registries of targets as they were: what a test registers is gone after it."""

from __future__ import annotations

import pytest

from dcpy.base import options
from dcpy.ir.library.expansions import TARGET_EXPANSIONS
from dcpy.runtime.loading.devices import DEVICES
from dcpy.targets.catalog import COMMAND_LINES, TARGETS


def forget_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `monkeypatch` take out the targets that are registered from here on."""
    for registry in (TARGETS, COMMAND_LINES, DEVICES, TARGET_EXPANSIONS, options.ADDED_GROUPS):
        monkeypatch.setattr(registry, "_items", dict(registry._items))
    # not those of the others, which `plugins.load` fills once
    monkeypatch.setattr(options.ADDED_GROUPS, "_paths", dict(options.ADDED_GROUPS._paths))
    monkeypatch.setattr(options, "_OTHER_DEVICES", dict(options._OTHER_DEVICES))
