"""What of a table of cases runs in `make test`; the others do in `make heavy`."""

from collections.abc import Iterable
from typing import Any

import pytest

#: `pytest --exhaustive`: all combinations of choices and all oracles, not each choice once and those that differ most
EXHAUSTIVE = False


def some(cases: Iterable[Any], *quick: Any) -> list[Any]:
    """The cases of a parametrized test; those that are not `quick` are marked heavy."""
    table = list(cases)
    assert set(quick) <= set(table)
    return [case if case in quick else pytest.param(case, marks=pytest.mark.heavy) for case in table]
