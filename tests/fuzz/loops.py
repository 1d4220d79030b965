"""The lines of loops whose iterations may meet: over elements with offsets, and over arrays that are bound anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.fuzz.choice import RandomSource, chance, pick

RANGES = (
    "1, {0} - 1", "{0} - 1", "{0}", "1, {0}", "{0} - 2, 0, -1", "0, {0}, 2", "{0} // 2", "k, {0}", "{0} - 1, -1, -1",
)  # fmt: skip
INNER = ("{1}", "{1} + 1, {0}", "{1}, {0}")  # ranges that begin or end where the outer loop is
OFFSETS = ("", "", " + 1", " - 1", " // 2", " * 2", " + k")
UPDATES = (  # of the element {0}, from others
    "{0} = {1}", "{0} += {1}", "{0} = {1} + {2}", "{0} -= {1} - {2}", "{0} = np.maximum({1}, {2})", "{0} = {index}",
    "if {1} > {2}: {0} = {1}", "{0} = {1} if {2} > 0 else {0}", "{kept} = {1}; {0} = {kept} - {2}", "{0} *= -1",
    "if {1} < 0: continue", "if {1} == {2}: break", "{0}, {1} = {1}, {0}",
)  # fmt: skip
REBINDING = (  # {0} and {1} are new names, {2} and {3} arrays, {4} an expression, {5} a number, {6} a condition
    "{0} = {2}\nfor {1} in range(3):\n    {0} = {0}[::-1]",
    "{0} = {2}\nfor {1} in range(2):\n    {0} = {0} + {4}",
    "{0} = {2} * 1\nwhile {0}.size > 1:\n    {0} = {0}[:-1]",
    "{0} = {2} * 1\nfor {1} in range(2):\n    {0} = {0}[1:]",
    "{0} = 0\nwhile True:\n    {0} += 1\n    if {0} > 2 or {6}:\n        break",
    "{0} = {5}\nfor {1} in reversed(range(3)):\n    {0} = {0} + {1}",
    "{0} = {5}\nfor {1} in (1, 2, k):\n    {0} = {0} * {1}",
    "{0} = 0\nfor {1} in ({2}, {3}):\n    {0} = {0} + {1}.size",
    "for {1} in np.ndindex({2}.shape):\n    {2}[{1}] = -{2}[{1}]",
    "{0} = 0\nfor {1} in np.ndindex({2}.shape):\n    {0} += {2}[{1}] > 0",
    "{0} = {2}\nfor {1} in range(3):\n    {0}, {1}o = {0}[::-1], {0}",
    "{0}, {1} = {2}.copy(), {2}.copy()\nfor _ in range(3):\n    {0}, {1} = {1}, {0} - {1}",
    "{0} = np.empty_like({2})\nfor {1} in range({2}.shape[0]):\n    {0}[-1 - {1}] = {2}[{1}]",
    "{0} = {2}[::-1]\n{0} += {2}\n{0} = {0}[..., :2]",
    "{0} = {2}\nif {6}:\n    {0} = {2}[::-1]\n{0} = {0} - 1",
    "{0} = {2} if {6} else {2}.copy()",
    "{0} = 0\nfor {1}, (x, y) in enumerate(zip({2}, {3})):\n    {0} = {0} + {1} * np.max(x) - np.min(y)",
    "{0} = sum(x * y for x, y in zip({2}, {2}))",
    "{0} = {2}\n{0} += {0}[::-1]\n{2} = {0} * 2",
    "match {5}:\n    case 0:\n        {0} = 1\n    case _:\n        {0} = 2",
)


def over_elements(choice: RandomSource, arrays: Mapping[str, Any], count: int) -> list[str]:
    """Nested loops over the elements of one of some arrays, which meet those of other iterations, perhaps.

    `count` makes the names of their variables new.
    """
    target = pick(choice, list(arrays))
    rank = arrays[target].ndim
    names = [f"j{count + axis}" for axis in range(rank)]
    lines = []
    for axis, name in enumerate(names):
        text = pick(choice, (*RANGES, *INNER) if axis else RANGES).format(f"{target}.shape[{axis}]", names[0])
        lines.append("    " * axis + f"for {name} in range({text}):")
    alike = [name for name in arrays if arrays[name].ndim == rank] + [target, target]
    rows = [name for name in arrays if arrays[name].ndim == 1] or [target]

    def element(sources: Sequence[str]) -> str:
        source = pick(choice, sources)
        own = names if arrays[source].ndim == rank else names[-1:]
        if len(own) == 2 and chance(choice, 20):
            own = own[::-1]
        return f"{source}[{', '.join(name + pick(choice, OFFSETS) for name in own)}]"

    for _ in range(choice.number(1, 3)):
        left = element([target] if chance(choice, 70) else alike)
        others = element(alike), element(rows if chance(choice, 30) else alike)
        text = pick(choice, UPDATES).format(left, *others, index=names[-1], kept=f"v{count}")
        lines.append("    " * rank + text)
    return lines
