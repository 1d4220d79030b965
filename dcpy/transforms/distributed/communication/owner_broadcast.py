"""Owner broadcast: an element of a distributed array that decides where a program goes is sent to all ranks first.

So all ranks take the same way: control flow is uniform by construction.
"""

from __future__ import annotations

from collections.abc import Iterator

from dcpy.base.errors import TransformationRefused
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Array
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.expressions.scalar import Cast, Load, Op, ScalarExpr, rewrite, walk
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Block, Branch, Continue, Region, State, While
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, ZERO
from dcpy.ir.tree import jumps, region_of, subtree
from dcpy.transforms.distributed.accesses import outermost_nodes
from dcpy.transforms.distributed.resolved_placement import placed


def broadcast_elements(rw: Rewriter) -> None:
    """Let conditions, checks and symbols read copies that each rank has of elements of distributed arrays.

    before   if A[k] > 0.0 { ... }          after   copy A[k:k + 1] -> A_element[0:1]
             elif B[k] > 0.0 { ... }                if A_element[0] > 0.0 { ... }
                                                    else { copy B[k:k + 1] -> B_element[0:1]
                                                           if B_element[0] > 0.0 { ... } }

    A copy is made just before the block that reads it; where a loop tests a condition, before each test.
    `TransformationRefused` for an element that only one side of a conditional expression reads, and may not exist.
    """
    inside = {id(part) for _, node in outermost_nodes(rw.sdfg) for part in subtree(node)}
    for block in list(rw.sdfg.body.walk_blocks()):
        if id(block) not in inside and any(True for _ in _wanted(block, rw.uses)):
            for part in _one_by_one(block, rw) if isinstance(block, Branch) else [block]:
                _serve(part, rw)


def _one_by_one(block: Branch, rw: Rewriter) -> list[Branch]:
    """Branches of one condition each, one in the other, that do the same."""
    if len(block.cases) == 1:
        return [block]
    whole = made = Branch([(block.cases[0][0], Region())], Region(), span=block.span)
    rw.insert_before(block, whole)
    parts = [whole]
    for number, (condition, _) in enumerate(block.cases[1:], 2):
        last = number == len(block.cases) and block.otherwise is None
        made = Branch([(condition, Region())], None if last else Region(), span=block.span)
        assert parts[-1].otherwise is not None
        rw.insert(made, parts[-1].otherwise)
        parts.append(made)
    targets = [part.cases[0][1] for part in parts] + ([made.otherwise] if made.otherwise is not None else [])
    for source, target in zip(block.regions(), targets, strict=True):
        rw.hoist_containers(source, target)
        rw.move_blocks(list(source.blocks), target)
    rw.erase(block)
    return parts


def _serve(block: Block, rw: Rewriter) -> None:
    sure = {load for expr in block.exprs() for load in _surely_read(expr)}
    for load in _wanted(block, rw.uses):
        if load not in sure and not _exists(load, block, rw.uses):
            raise TransformationRefused(
                f"a {block.kind} reads an element of {load.container!r}, which is distributed, only if something else "
                "holds: elsewhere it may not exist, and cannot be sent",
                span=block.span,
                help="copy the value that the condition reads into a 0-d array first, or test the other condition "
                "around this one",
            )
        _fetch(load, block, rw)


def _wanted(block: Block, uses: Uses) -> dict[Load, None]:
    """The elements of distributed arrays that a block reads."""
    loads = (part for expr in block.exprs() for part in walk(expr) if isinstance(part, Load))
    return dict.fromkeys(load for load in loads if _is_distributed(load, uses))


def _is_distributed(load: Load, uses: Uses) -> bool:
    where = placed(load.container, uses)
    return where is not None and not isinstance(where, Refusal)


def _surely_read(expr: ScalarExpr) -> Iterator[Load]:
    """The elements that are read whenever an expression is evaluated: both operands of `and` and `or`, too."""
    if isinstance(expr, Load):
        yield expr
    elif isinstance(expr, Cast):
        yield from _surely_read(expr.arg)
    elif isinstance(expr, Op):
        for part in expr.args[:1] if expr.name == "select" else expr.args:
            yield from _surely_read(part)


def _exists(load: Load, block: Block, uses: Uses) -> bool:
    ranges, desc = uses.ranges_at(block), uses.desc(load.container)
    assert isinstance(desc, Array)  # nothing else is distributed
    return ranges.proves_in_range(load.indices, desc.shape)


def _fetch(load: Load, block: Block, rw: Rewriter) -> None:
    shape = (ONE,) * len(load.indices)
    name = rw.declare_fresh(
        f"{load.container}_element", Array.packed(load.dtype, shape, transient=True, span=block.span), region_of(block)
    )
    box = Subset(tuple(Range(index, index + 1) for index in load.indices))

    def copied() -> State:
        return State("", [Copy(Memlet(load.container, box), Memlet(name, Subset.whole(shape)), span=block.span)])

    rw.insert_before(block, copied())
    if isinstance(block, While):
        for jump in [jump for jump in jumps(block.body) if isinstance(jump, Continue)]:
            rw.insert_before(jump, copied())
        rw.insert(copied(), block.body)
    mine = Load(name, (ZERO,) * len(shape), load.dtype)
    rw.rewrite_exprs(block, lambda expr: rewrite(expr, lambda part: mine if part == load else None))
