"""dcpy's own libraries are known in these tests; `small_tiles` lets small arrays reach every part of the loops."""

from __future__ import annotations

import pytest

from dcpy import plugins
from dcpy.libraries import contraction

plugins.load()


@pytest.fixture
def small_tiles(monkeypatch):
    for name, size in {"CHUNK": 4, "COLUMNS": 3, "BLOCK": 8, "ROWS": 2, "TALL": 5}.items():
        monkeypatch.setattr(contraction, name, size)
