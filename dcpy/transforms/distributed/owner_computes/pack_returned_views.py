"""PackReturnedViews: returned parts of new or distributed arrays are arrays, each of which is dealt out for itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.data import Array, View
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy
from dcpy.ir.region import Return, State
from dcpy.ir.sdfg import Result, Sdfg
from dcpy.ir.subsets import Subset
from dcpy.ir.tree import jumps, may_complete
from dcpy.transforms.passes import GraphPass


@dataclass(frozen=True)
class PackReturnedViews(GraphPass):
    """Copies what a result shows of another one, or of a distributed argument, into a new array.

    before   view part of b: b[0:N, 0:M:2]             after   copy b[0:N, 0:M:2] -> __return_1
             results: array b, view part                       results: none, array __return_1

    An array that was a result for the sake of its parts only is a temporary then. Results share no memory any more: a
    rank has no memory of all of the array, of which a part could be seen. Parts of arguments that each rank has as a
    whole stay.
    """

    name: ClassVar[str] = "pack-returned-views"

    def decide(self, rw: Rewriter) -> None:
        """Result after result; how they are nested stays as it is."""
        results = list(rw.sdfg.results)
        shown = [k for k, result in enumerate(results) if result.is_view and not _is_of_whole_argument(result, rw)]
        bases = dict.fromkeys(rw.uses.root(results[k].container) for k in shown)
        for k in shown:
            results[k] = Result("array", _packed(results[k].container, rw))
        nested = set(_numbers(rw.sdfg.structure))
        for k, result in enumerate(results):
            desc = rw.uses.desc(result.container) if result.kind == "array" else None
            if k not in nested and result.container in bases and isinstance(desc, Array):
                results[k] = Result("constant")
                rw.redeclare(result.container, replace(desc, transient=True))
        if shown:
            rw.sdfg.results = tuple(results)
            rw.remark(rw.sdfg, True, f"{len(shown)} results are copies of what they show of arrays")


def shows_results(sdfg: Sdfg) -> bool:
    """Return whether a result may be a part of another one."""
    return any(result.is_view for result in sdfg.results)


def _is_of_whole_argument(result: Result, rw: Rewriter) -> bool:
    root = rw.uses.root(result.container)
    desc = rw.uses.desc(root)
    return root in rw.sdfg.arguments and not (isinstance(desc, Array) and desc.distribution is not None)


def _packed(view: str, rw: Rewriter) -> str:
    """A new array that has the elements of a view when the program ends."""
    shown, body = rw.uses.desc(view), rw.sdfg.body
    assert isinstance(shown, View)
    made = rw.declare_fresh("__return", Array.packed(shown.dtype, shown.shape), body)
    whole = Subset.whole(shown.shape)
    for end in [end for end in jumps(body) if isinstance(end, Return)]:
        rw.insert_before(end, State("", [Copy(Memlet(view, whole), Memlet(made, whole))]))
    if may_complete(body):
        rw.insert(State("", [Copy(Memlet(view, whole), Memlet(made, whole))]), body)
    return made


def _numbers(structure: object) -> Iterator[object]:
    if isinstance(structure, tuple):
        for part in structure:
            yield from _numbers(part)
    else:
        yield structure
