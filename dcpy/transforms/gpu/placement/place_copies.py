"""PlaceCopies: copies between the host and the device, where what is read would not be valid without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.device_side import Side, homes, twins
from dcpy.ir.analysis.gpu.data_validity import ProgramPoint, ValidityDemand, follow
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.expressions.scalar import Index, Load, Op, ScalarExpr, op, walk
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Node
from dcpy.ir.region import Block, Branch, Check, Region, State
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic.function_terms import functions_in
from dcpy.ir.tree import Element
from dcpy.transforms.passes import GraphPass


@dataclass(frozen=True)
class PlaceCopies(GraphPass):
    """Puts a copy where a side needs what is valid on the other one alone.

    before   loop t = 0:T { map i = 0:N @grid { gpu_A[i] += 1 } }
    after    copy A -> gpu_A;  loop t = 0:T { map i = 0:N @grid { gpu_A[i] += 1 } };  copy gpu_A -> A

    The analysis of validity says where (`ir.analysis.gpu.data_validity`): at the latest place that is in no loop,
    unless the loop makes it necessary again. Data that is overwritten entirely is not copied there, and unwritten data
    is not copied back. A check that fails after the device has written arguments copies them back before it raises.
    """

    name: ClassVar[str] = "place-copies"

    def decide(self, rw: Rewriter) -> None:
        """One walk through the program."""
        follow(rw.uses, _Copies(rw))


class _Copies(ValidityDemand):
    repairs = True

    def __init__(self, rw: Rewriter) -> None:
        self.rw = rw
        self.guarded: dict[Block | None, _CheckedBranch] = {}
        self.on_device = {host: device for device, host in twins(rw.sdfg).items()}
        self.homes = homes(rw.sdfg)

    def copy(self, name: str, side: Side) -> Copy:
        """Make a container valid on a side."""
        twin, whole = self.on_device[name], Subset.whole(self.rw.uses.desc(name).shape)
        host, device = Memlet(name, whole), Memlet(twin, whole)
        return Copy(device, host) if side is Side.HOST else Copy(host, device)

    def at(self, name: str, side: Side, place: ProgramPoint) -> None:
        made = self.copy(name, side)
        made.span = None if isinstance(place, Region) else place.span
        self.rw.remark(made, True, "copied to the host" if side is Side.HOST else "copied to the device", about=name)
        if isinstance(place, Node):
            self.rw.add_node_before(place, made)
        elif isinstance(place, Region):
            self.rw.insert(State(nodes=[made]), place)
        else:
            self.rw.insert_before(place, State(nodes=[made], span=place.span))

    def on_failure(self, names: Sequence[str], check: Check) -> None:
        """``if not condition { copies; check condition }`` stands for the check; neighbours share one branch."""
        again = Check(check.condition, check.exception, check.message, check.values, span=check.span)
        before = self.guarded.get(_before(check))
        if before is not None and before.names == list(names) and is_total(check.condition):
            before.holds = op("and", before.holds, check.condition)
            self.rw.update(before.branch, cases=[(op("not", before.holds), before.failed)])
            self.rw.insert(again, before.failed)
            self.rw.erase(check)
            return
        copies: list[Node] = [self.copy(name, self.homes[name]) for name in names]
        failed = Region([State(nodes=copies, span=check.span), again])
        branch = Branch([(op("not", check.condition), failed)], span=check.span)
        self.guarded[branch] = _CheckedBranch(branch, list(names), check.condition, failed)
        self.rw.replace(check, branch)

    def on_failing_kernel(self, names: Sequence[str], kernel: Element) -> None:
        pass  # the code that finds the failure fetches them


@dataclass
class _CheckedBranch:
    """A branch that stands for checks, all of which hold where `holds` does."""

    branch: Branch
    names: list[str]
    holds: ScalarExpr
    failed: Region


def _before(block: Block) -> Block | None:
    assert block.region is not None
    position = block.region.index(block)
    return block.region.blocks[position - 1] if position else None


def is_total(condition: ScalarExpr) -> bool:
    """Return whether a condition has a value for all symbols: it loads nothing, and divides no integers."""
    return not any(map(_may_fail, walk(condition)))


def _may_fail(part: ScalarExpr) -> bool:
    if isinstance(part, Index):
        return any(True for kind in _PARTIAL for _ in functions_in(part.value, kind))
    return isinstance(part, Load) or (isinstance(part, Op) and part.name in _PARTIAL and not part.dtype.is_inexact)


_PARTIAL = ("div", "floordiv", "mod", "pow")  # of integers: floats have infinities and NaN
