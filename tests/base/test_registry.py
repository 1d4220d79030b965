"""Names that are not there: the nearest one is told, and all of them where they are few."""

from __future__ import annotations

import pytest

from dcpy.base.registry import FEW, unknown_name

NAMES = [f"name{number}" for number in range(FEW)]


@pytest.mark.parametrize(
    ("name", "known", "help_", "notes"),
    [
        ("Name3", NAMES, "did you mean name3?", (f"there are {', '.join(NAMES)}",)),
        ("Name3", [*NAMES, "more"], "did you mean name3?", ()),
        ("xyz", [*NAMES, "more"], f"there are {', '.join([*NAMES, 'more'])}", ()),
        ("xyz", [], "there are none", ()),
    ],
)
def test_what_is_told(name, known, help_, notes):
    error = unknown_name("thing", name, known)
    assert (error.message, error.help, error.notes) == (f"no thing is called {name!r}", help_, notes)
