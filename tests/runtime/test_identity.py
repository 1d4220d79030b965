"""What stands for this very compiler in the keys of remembered programs."""

from __future__ import annotations

from pathlib import Path

import dcpy
from dcpy.programs.specialization import compiled_calls


def test_the_identity_looks_at_all_of_dcpy(monkeypatch):
    looked_at = []
    monkeypatch.setattr(compiled_calls, "_states", lambda folder: looked_at.append(folder) or [])
    compiled_calls.compiler_identity.__wrapped__()
    assert looked_at == [str(Path(dcpy.__file__).parent)]
