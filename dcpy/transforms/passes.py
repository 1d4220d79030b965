"""Passes: every step of compilation is one, has a name, and says what it needs and what it leaves.

A pass is a frozen dataclass; its fields are typed parameters. Three kinds exist: a `Transformation` (`api`), which is
applied wherever its pattern is found and legal; a `GraphPass`, which decides something about a whole graph; and rows of
passes (`pipeline`). All print and parse (``assign-schedules{threads=false}``), all are listed in `catalog`, and what
they did is in the history of the SDFG, from where it can be replayed.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.editing.rewriter import Rewriter
from dcpy.transforms.history_entries import print_pass


@dataclass(frozen=True)
class Pass:
    """Base of all passes. `requires` and `ensures` are names of forms (`ir.verify.FORMS`): before it, and after it."""

    name: ClassVar[str]
    requires: ClassVar[str] = "well-formed"
    ensures: ClassVar[str] = "well-formed"
    optional: ClassVar[bool] = False  # whether it decides what pays: programs may do without it (`overrides`)

    @abstractmethod
    def run(self, rw: Rewriter) -> int:
        """Change the SDFG of `rw`, never its meaning; return how many changes were made."""

    def __str__(self) -> str:
        return print_pass(self)


@dataclass(frozen=True)
class GraphPass(Pass):
    """A pass that looks at a whole graph before it decides; subclasses write `decide`."""

    def run(self, rw: Rewriter) -> int:
        """`decide`, and one entry in the history if that changed anything. Returns the number of changes."""
        before = rw.changes
        self.decide(rw)
        if rw.changes > before:
            rw.record(str(self))
        return rw.changes - before

    @abstractmethod
    def decide(self, rw: Rewriter) -> None:
        """Take the decisions, carry them out, and remark on those that people ask about."""
