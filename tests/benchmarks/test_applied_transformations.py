"""Which transformations the auto-optimizer and the way to the CPU apply to each kernel: a review of what changed.

A rewrite of one pass may let another one decline. Results stay right then, and no other test says a word.
"""

from __future__ import annotations

from collections import Counter

from benchmarks.npbench import kernels
from benchmarks.temporaries import sdfg_of_call
from dcpy.transforms.cpu.lowering import lower_for_cpu
from dcpy.transforms.history import parse_pass

TIDYING = "dcpy.transforms.simplify."  # applied in any number; what they leave is seen in what the others do


def applied(name: str) -> str:
    """The transformations of a kernel in alphabetical order, each with how often it was applied."""
    kernel = kernels()[name]
    sdfg = sdfg_of_call(kernel.function, kernel.initialize("XS").values(), auto=True)
    lower_for_cpu(sdfg)
    names = [entry.split("{")[0].split()[0] for entry in sdfg.history]
    known = {each: type(parse_pass(each)).__module__ for each in dict.fromkeys(names)}
    counts = Counter(each for each in names if not known[each].startswith(TIDYING))
    return ", ".join(each if count == 1 else f"{each} x {count}" for each, count in sorted(counts.items()))


def test_what_is_applied(golden):
    golden("".join(f"{name}: {applied(name)}\n" for name in kernels()))
