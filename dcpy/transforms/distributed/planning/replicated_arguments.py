"""Argument copies: replicated arguments that a program distributes inside, with a copy at its start and one at its end.
"""

from __future__ import annotations

from dataclasses import replace

from dcpy.ir.data import Array
from dcpy.ir.distribution import Distribution
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy
from dcpy.ir.region import Return, State
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.subsets import Subset


def leaves_early(sdfg: Sdfg) -> bool:
    """Return whether there is another end of the program than its last block."""
    return any(isinstance(block, Return) for block in sdfg.body.walk_blocks())


def distribute_inside(name: str, where: Distribution, is_read: bool, is_written: bool, rw: Rewriter) -> str:
    """Give an argument a distributed copy, which all of the program uses; return its name.

    before   f(A: f64[N]) { ... A ... }      after   f(A: f64[N]) { data A_own: f64[N] on g(block 0) transient
                                                                   copy A -> A_own ... A_own ... copy A_own -> A }

    The first copy takes what each rank has: it sends nothing.
    """
    desc = rw.uses.desc(name)
    assert isinstance(desc, Array)
    own = rw.declare_fresh(
        f"{name}_own", replace(Array.packed(desc.dtype, desc.shape, transient=True, span=desc.span), distribution=where)
    )
    rw.rename_container(name, own)
    whole, its = Memlet(name, Subset.whole(desc.shape)), Memlet(own, Subset.whole(desc.shape))
    body = rw.sdfg.body
    if is_read:
        rw.insert(State(nodes=[Copy(whole, its, span=desc.span)]), body, 0)
    if is_written:
        rw.insert(State(nodes=[Copy(its, whole, span=desc.span)]), body, len(body.blocks))
    return own
