"""What of a table of cases runs in `make test`; the others do in `make heavy`."""

from collections.abc import Iterable
from typing import Any

import pytest

from dcpy.base.options import resolve_options

#: `pytest --exhaustive`: all combinations of choices and all oracles, not each choice once and those that differ most
EXHAUSTIVE = False


def quick_flags() -> tuple[str, ...]:
    """For values that others test with the user's flags, too: -O1 in place of -O3, half of the compiler's work."""
    flags = resolve_options().cpu.flags
    return flags if EXHAUSTIVE else tuple("-O1" if flag == "-O3" else flag for flag in flags)


def some(cases: Iterable[Any], *quick: Any) -> list[Any]:
    """The cases of a parametrized test; those that are not `quick` are marked heavy."""
    table = list(cases)
    assert set(quick) <= set(table)
    return [case if case in quick else pytest.param(case, marks=pytest.mark.heavy) for case in table]
