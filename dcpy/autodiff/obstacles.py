"""Obstacles: what stands between a program and its derivative. Some is rewritten first, the rest is refused.

Refused with a place and with what to write instead: bits of active numbers, lists that grow, calls that stay calls,
streams, library nodes without a rule whose loops only converge to their result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from dcpy.autodiff.activity import Activity
from dcpy.base.errors import ExpansionError, GradientRefused
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.editing.rewriter import Rewriter, rewriting
from dcpy.ir.expressions.scalar import Op, Ref, ScalarExpr, op, substitute_refs, walk
from dcpy.ir.library.adjoints import DERIVATIVES, DerivativeRule
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Call, Callback, Copy, ForeignCall, LibraryNode, Map, Node, Tasklet
from dcpy.ir.region import Block, Dataflow, Resize
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.tree import ancestors, owners_around, subtree
from dcpy.transforms.expand import ExpandLibraryNode, install
from dcpy.transforms.maps.map_to_for_loop import as_loops

NO_LOOPS = {
    "sort": "sort by positions: x[np.argsort(x)]",
    "partition": "sort by positions: x[np.argsort(x)]",
    "lapack.eigh": "differentiate what follows from the eigenvalues by hand",
    "lapack.eig": "differentiate what follows from the eigenvalues by hand",
    "lapack.svd": "use np.linalg.qr, or eigenvalues by hand",
    "lapack.lstsq": "solve the normal equations: np.linalg.solve(a.T @ a, a.T @ b)",
}
_NO_FAMILIES = {
    "random.": "draw without parameters, and compute with what was drawn: loc + scale * rng.standard_normal(n)",
    "comm.": "differentiate the program of all the data, before it is distributed",
    "pblas.": "differentiate the program of all the data, before it is distributed",
}


def refuse(what: str, element: Node | Block, help: str) -> NoReturn:
    """Raise `GradientRefused` with the place of an element, or of what is nearest to it."""
    around = (place for place in ancestors(element) if isinstance(place, Node | Block))
    spans = (place.span for place in (element, *subtree(element), *around))
    raise GradientRefused(what, span=next((span for span in spans if span is not None), None), help=help)


# -- library nodes ---------------------------------------------------------------------------------------------------


def without_rules(sdfg: Sdfg, seeds: Sequence[str], *, reverse: bool = False) -> None:
    """Expand into loops the active library nodes that no rule is for, in place; refuse those that cannot be."""
    with rewriting(sdfg, "expand-library-nodes{for=derivatives}") as rw:
        while pending := _strangers(rw, seeds, reverse):
            for node in pending:
                _require_loops(node)
                try:
                    chosen = ExpandLibraryNode(("maps", "pure")).choose(node)
                except ExpansionError as error:
                    refuse(f"there is no rule for {node.kind}: {error.message}", node, "compute it by hand")
                install(rw, node, chosen[1])


def _strangers(rw: Rewriter, seeds: Sequence[str], reverse: bool) -> list[LibraryNode]:
    activity = Activity(rw.uses, seeds)
    nodes = [node for node in rw.sdfg.body.walk_nodes() if isinstance(node, LibraryNode)]
    return [
        node
        for node in nodes
        if (active := activity.inputs(node.inputs))
        and activity.inputs(node.outputs)
        and not _has_rule(rw, node, active, activity, reverse)
    ]


def _rule_of(node: LibraryNode) -> DerivativeRule | None:
    return DERIVATIVES[node.kind] if node.kind in DERIVATIVES else None  # noqa: SIM401  (no dictionary)


def _has_rule(rw: Rewriter, node: LibraryNode, active: Sequence[str], activity: Activity, reverse: bool) -> bool:
    rule = _rule_of(node)
    memlets = (*node.inputs.values(), *node.outputs.values())
    read = {activity.base(memlet.container) for memlet in node.inputs.values()}
    written = {activity.base(memlet.container) for memlet in node.outputs.values()}
    if rule is None or not set(active) <= set(rule.factors(node)) or read & written:
        return False
    if not reverse or node.kind == "reduce":
        return True
    dtypes = {rw.uses.desc(memlet.container).dtype for memlet in memlets}
    return rule.adjoint is not None and len(dtypes) == 1


def _require_loops(node: LibraryNode) -> None:
    family = node.kind.partition(".")[0] + "."
    help = NO_LOOPS.get(node.kind) or _NO_FAMILIES.get(family, "")
    if help:
        refuse(f"there is no derivative rule for {node.kind}", node, help)


# -- everything else -------------------------------------------------------------------------------------------------


def require_known(rw: Rewriter, activity: Activity) -> None:
    """Refuse what has no derivative; write conflict resolutions that are no sums as operations where order is kept."""
    for block in rw.sdfg.body.walk_blocks():
        if isinstance(block, Resize) and activity.holds(block.container):
            refuse(f"the list {block.container!r} grows", block, "make an array of its final size first")
        if isinstance(block, Dataflow):
            refuse("a network of processes has no derivative", block, "differentiate the program before it becomes one")
    for node in list(rw.sdfg.body.walk_nodes()):
        _require_known_node(rw, node, activity)
    _require_no_bits(rw.uses, activity)


def _require_known_node(rw: Rewriter, node: Node, activity: Activity) -> None:
    active = [memlet for memlet in (*node.reads(), *node.writes()) if activity.holds(memlet.container)]
    match node:
        case Tasklet():
            for name, value in node.code:
                for part in walk(value):
                    if isinstance(part, Op) and part.name == "bits" and activity.inputs(node.inputs):
                        refuse(f"{name!r} takes the bits of a number", node, "compute with the number")
            _explicit_updates(rw, node, activity)
        case Call() if activity.inputs(node.arguments):
            refuse(f"{node.sdfg.name}() stays a function of its own", node, "write recursion as a loop")
        case ForeignCall() if active:
            refuse(f"{node.function} is a C function", node, "use NumPy's functions")
        case Callback() if [m for m in node.writes() if rw.uses.desc(m.container).dtype.is_inexact] and active:
            refuse(f"{node.function} is a Python function that dcpy does not see into", node,
                   "write it in NumPy, or keep it out of what is differentiated")  # fmt: skip
        case Copy() | LibraryNode():
            if any(memlet.wcr not in ("", "add") for memlet in active):
                refuse(f"a {node.kind} that combines by other than sums has no derivative", node, "combine in a loop")


def _require_no_bits(uses: Uses, activity: Activity) -> None:
    for base in activity.bases:
        for name in uses.overlapping(base):
            desc = uses.desc(name)
            if not desc.dtype.is_inexact and uses.accessors(name):
                raise GradientRefused(f"{name!r} shows the bits of {base!r}", span=desc.span,
                                      help="compute with the numbers")  # fmt: skip


def _explicit_updates(rw: Rewriter, node: Tasklet, activity: Activity) -> None:
    """Replace ``wcr = max`` and the like by a read of what is there, in loops."""
    for name, memlet in list(node.outputs.items()):
        if memlet.wcr in ("", "add") or not activity.holds(memlet.container):
            continue
        home = rw.uses.home(activity.base(memlet.container))
        for owner in reversed(list(owners_around(node, home))):
            if isinstance(owner, Map):  # its iterations combine in any order: one of these is that of loops
                as_loops(owner, rw)
        _read_first(rw, node, name, memlet)


def _read_first(rw: Rewriter, node: Tasklet, name: str, memlet: Memlet) -> None:
    dtype = rw.uses.desc(memlet.container).dtype
    old, new = f"{name}_before", f"{name}_new"
    plain = Memlet(memlet.container, memlet.subset)

    def renamed(value: ScalarExpr) -> ScalarExpr:
        return substitute_refs(value, {name: Ref(new, dtype)})

    code = [(new if target == name else target, renamed(value)) for target, value in node.code]
    code.append((name, op(memlet.wcr, Ref(old, dtype), Ref(new, dtype))))
    rw.update(node, inputs={**node.inputs, old: plain}, outputs={**node.outputs, name: plain}, code=tuple(code))
