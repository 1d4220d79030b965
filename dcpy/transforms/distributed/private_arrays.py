"""Private arrays of a program: they may have a halo, which arrays of callers have not."""

from __future__ import annotations

from dataclasses import replace

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Array
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy
from dcpy.ir.region import Return, State
from dcpy.ir.subsets import Subset
from dcpy.ir.tree import jumps, may_complete
from dcpy.transforms.distributed.accesses import outermost_node


def is_own(name: str, uses: Uses) -> bool:
    """Return whether an array is one that no caller sees."""
    desc = uses.desc(name)
    return isinstance(desc, Array) and desc.transient and not desc.alias


def why_no_copy(name: str, uses: Uses) -> str:
    """Return why no array of the program's own can take the place of an argument; "" where one can."""
    desc = uses.desc(name)
    if not isinstance(desc, Array) or desc.alias:
        return "it may overlap with other arguments"
    if uses.views_of(name):
        return "other containers are views of it"
    if any(True for _ in jumps(uses.sdfg.body)):
        return "the program may be left before its end"
    if any(outermost_node(accessor) is None for accessor in uses.accessors(name)):
        return "conditions depend on it"
    return ""


def own_copy(name: str, rw: Rewriter, *, whole: bool = False) -> str:
    """Make all of the program use an array of its own instead of an argument; return its name.

    It lives where the argument does, or, if it is `whole`, on each rank.
    """
    desc, body = rw.uses.desc(name), rw.sdfg.body
    assert isinstance(desc, Array)  # it has been looked at
    is_written = any(rw.uses.writers(each) for each in rw.uses.overlapping(name))
    ends = [end for end in jumps(body) if isinstance(end, Return)]
    made = replace(desc, transient=True, distribution=None if whole else desc.distribution)
    own = rw.declare_fresh(f"{name}_{'whole' if whole else 'own'}", made, body)
    rw.rename_container(name, own)
    everything = Subset.whole(desc.shape)
    rw.insert(State("", [Copy(Memlet(name, everything), Memlet(own, everything))]), body, 0)
    if is_written:
        for end in ends:
            rw.insert_before(end, State("", [Copy(Memlet(own, everything), Memlet(name, everything))]))
        if may_complete(body):
            rw.insert(State("", [Copy(Memlet(own, everything), Memlet(name, everything))]), body)
    return own
