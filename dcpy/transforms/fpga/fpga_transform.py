"""FPGATransform: what a device computes is in the memory beside it; copies bring it there and back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.analysis.accesses.access_relations import seen_from_outside
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.effect_analysis import effects_of
from dcpy.ir.analysis.polyhedral.footprints import Footprint
from dcpy.ir.analysis.polyhedral.integer_sets import covers
from dcpy.ir.data import Allocation, Array, Space
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.editing.substitution import Substitution
from dcpy.ir.effects import Effect
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Map, Node
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Block, Dataflow, Resize, State
from dcpy.ir.subsets import Subset
from dcpy.ir.tree import is_inside, subtree
from dcpy.transforms.passes import GraphPass

PREFIX = "fpga_"  #: of what is beside the device


@dataclass(frozen=True)
class FPGATransform(GraphPass):
    """Gives the arrays of each part that a device can run a place in its memory, with copies before and behind.

    before   state { map i { t[i] = f(x[i]) };  map i { y[i] = g(t[i]) } }
    after    state { copy x -> fpga_x }
             state { map i { t[i] = f(fpga_x[i]) };  map i { fpga_y[i] = g(t[i]) } }      (t is @global)
             state { copy fpga_y -> y }

    A part is as many blocks as there are in a row without calls of Python and of libraries, and without numbers that
    hardware has not. What it only reads is not copied back; what it writes entirely before it reads it is not brought.
    Transients that only this part touches are in device memory alone. (DaCe's ``FPGATransformSDFG``.)
    """

    name: ClassVar[str] = "fpga-transform"

    def decide(self, rw: Rewriter) -> None:
        """Part by part, at the level of the whole program."""
        run: list[Block] = []
        for block in [*rw.sdfg.body.blocks, None]:
            refusal = Refusal("the program ends") if block is None else _why_on_host(block, rw.uses)
            if block is not None and refusal is None:
                run.append(block)
                continue
            if block is not None:
                rw.remark(block, False, str(refusal))
            if any(map(_computes, run)):
                _place(run, rw)
            run = []


def _computes(block: Block) -> bool:
    return any(isinstance(element, Map | Dataflow) or element.kind.count(".") for element in subtree(block))


def _why_on_host(block: Block, uses: Uses) -> Refusal | None:
    """Return why the host runs a block; None where the device can."""
    for element in subtree(block):
        if isinstance(element, Resize):
            return Refusal(f"{element.container!r} grows")
        if isinstance(element, Node) and effects_of(element) & Effect.CALLS_OUT:
            return Refusal(f"it calls {element.title}")
        accessed = uses.accesses(element)
        for name in (*accessed.reads, *accessed.writes):
            desc = uses.desc(name)
            if desc.dtype.kind == "c" or desc.dtype.name == "f16":
                return Refusal(f"{name!r} is {desc.dtype}, which hardware does not support")
            if isinstance(desc, Array) and desc.alias:
                return Refusal(f"{name!r} may overlap another argument")
            if isinstance(uses.desc(uses.root(name)), Array) and uses.root(name) != name:
                return Refusal(f"{name!r} is a view")
    return None


def _place(run: Sequence[Block], rw: Rewriter) -> None:
    renamed: dict[str, str] = {}
    before, behind = State(span=run[0].span), State(span=run[-1].span)
    for name in _arrays(run, rw.uses):
        desc = rw.uses.desc(name)
        assert isinstance(desc, Array)  # `_arrays` asked
        if desc.transient and name not in rw.sdfg.constants and _accessed_only_in(run, name, rw):
            rw.redeclare(name, replace(desc, space=Space.GLOBAL, allocation=Allocation.HEAP))
            rw.remark(rw.sdfg, True, "is in the memory of the device only", about=name)
            continue
        fresh = Array.packed(desc.dtype, desc.shape, transient=True, span=desc.span)
        there = rw.declare_fresh(PREFIX + name, replace(fresh, space=Space.GLOBAL, allocation=Allocation.HEAP))
        renamed[name] = there
        here, beside = (Memlet(one, Subset.whole(desc.shape)) for one in (name, there))
        is_read, is_written = _needed(run, name, desc, rw)
        if is_read:
            before.insert(len(before.nodes), Copy(here, beside, span=run[0].span))
        if is_written:
            behind.insert(len(behind.nodes), Copy(beside, here, span=run[-1].span))
        words = {(True, True): "there and back", (True, False): "there", (False, True): "back"}
        rw.remark(rw.sdfg, True, f"is copied {words.get((is_read, is_written), 'never')}", about=name)
    if before.nodes:
        rw.insert_before(run[0], before)
    if behind.nodes:
        rw.insert_after(run[-1], behind)
    values = Substitution(containers=renamed)
    for block in run:
        for element in list(subtree(block)):
            accessed = rw.uses.accesses(element)
            if not renamed.keys().isdisjoint((*accessed.reads, *accessed.writes)):
                rw.substitute(element, values)


def _arrays(run: Sequence[Block], uses: Uses) -> Iterator[str]:
    """The arrays of the host that a part touches, and does not declare."""
    found: dict[str, None] = {}
    for block in run:
        for element in subtree(block):
            accessed = uses.accesses(element)
            found |= dict.fromkeys((*accessed.reads, *accessed.writes))
    for name in found:
        desc = uses.desc(name)
        inside = any(is_inside(uses.home(name), block) for block in run)
        if isinstance(desc, Array) and desc.space is Space.HOST and not inside:
            yield name


def _accessed_only_in(run: Sequence[Block], name: str, rw: Rewriter) -> bool:
    if any(result.container == name for result in rw.sdfg.results) or rw.uses.views_of(name):
        return False
    return all(any(is_inside(one, block) for block in run) for one in rw.uses.accessors(name))


def _needed(run: Sequence[Block], name: str, desc: Array, rw: Rewriter) -> tuple[bool, bool]:
    """Return whether a part needs what is in an array before it, and whether it leaves something new there."""
    is_read = is_written = is_covered = False
    whole = Footprint(Subset.whole(desc.shape))
    for block in run:
        found = [one for one in seen_from_outside(block, rw.uses) if one.root == name]
        reads = [one for one in found if not one.is_write or one.memlet.wcr]
        is_read = is_read or (bool(reads) and not is_covered)
        is_written = is_written or any(one.is_write for one in found)
        sure = [one for one in found if one.is_write and one.is_sure() and not one.memlet.wcr]
        prints = [found_ for one in sure if (found_ := one.footprint()) is not None]
        if not reads and not is_covered:
            is_covered = covers(prints, whole, rw.uses.ranges_at(block)).is_yes
    return is_read or (is_written and not is_covered), is_written
