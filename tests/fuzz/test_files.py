"""`make fuzz-files` in small: hostile documents, and what the campaign itself finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz import documents, files


def test_s1_hostile_documents_do_nothing():
    found = files.check(range(5000, 5040), compiled=10**9)
    assert found.failures == []
    assert sum(found.outcomes.values()) == 40


@pytest.mark.cc
def test_s1_hostile_documents_that_compile_do_nothing():
    found = files.check(range(7000, 7008), compiled=1)
    assert found.failures == []


def test_every_field_is_filled():
    names = list(documents.fields())
    for field in ("span (str)", "message (str)", "function (str)", "environment (str)", "dtype (str)", "alias (str)"):
        assert any(name.endswith(field) for name in names), field
    assert any("(key)" in name for name in names)
    assert documents.mutated(3) == documents.mutated(3) != documents.mutated(4)


def test_what_escapes_is_found(tmp_path, monkeypatch):
    here = tmp_path / "deep" / "here"
    here.mkdir(parents=True)
    files._nothing_escaped(here)
    (tmp_path / "out.html").write_text("")
    with pytest.raises(files.Escaped, match=r"out\.html"):
        files._nothing_escaped(here)
    Path(tmp_path / "out.html").unlink()
    (here / "CANARY").write_text("")
    with pytest.raises(files.Escaped, match="CANARY"):
        files._nothing_escaped(here)
