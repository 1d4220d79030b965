"""What a program is mostly about: a theme has statements and endings of its own, written as templates.

A template is lines in which {0} and {1} are new names, {2} and {3} arrays, {4} an expression, {5} and {8} numbers, {6}
a condition, and {7} a value that fits into {2}.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.fuzz import bounds, containers, hands


@dataclass(frozen=True)
class Theme:
    """The statements of a theme, and what its functions end with beside a plain ``return``."""

    statements: tuple[str, ...] = ()
    results: tuple[str, ...] = ()


THEMES = {
    "anything": Theme(),
    "hands": Theme(hands.LOOPS + hands.BRANCHES, hands.RESULTS),
    "containers": Theme(containers.LISTS + containers.DICTIONARIES + containers.GENERATORS, containers.RESULTS),
    "bounds": Theme(bounds.SLICES + bounds.SEARCHES, bounds.RAISING),
    "mixed": Theme(
        hands.LOOPS + containers.LISTS + bounds.SLICES + hands.BRANCHES, hands.RESULTS + bounds.RAISING
    ),
}  # fmt: skip
NEW = ("{0}", "{1}", "q{0}", "r{0}", "s{0}")  # names that templates bind


def new_names(first: str, second: str) -> set[str]:
    """The names that a template binds, and that may be used after it."""
    return {name.format(first, second) for name in NEW}
