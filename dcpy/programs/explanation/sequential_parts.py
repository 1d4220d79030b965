"""Sequential parts: loops that are not parallel, with the reason, and calls of Python functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set

from dcpy.base.source import SrcSpan
from dcpy.ir.editing.container_descriptions import readable
from dcpy.ir.nodes import Callback, Map
from dcpy.ir.refusal import Refusal
from dcpy.ir.schedules import Parallel
from dcpy.ir.sdfg import Sdfg
from dcpy.transforms.api import matches
from dcpy.transforms.loops.loop_to_map import LoopToMap

OPTIMIZE = "parallel with auto_optimize=True"


def sequential_parts(sdfg: Sdfg, lowered: Sdfg) -> Iterator[str]:
    """Lines about each loop that stays a loop, and about each callback; none where there is neither.

    A loop whose iterations lowering gives to threads in blocks is parallel.
    """
    yield from _listed("loops whose iterations run one after the other:", _loops(sdfg, set(_in_blocks(lowered))))
    yield from _listed("calls of Python, some microseconds each:", _callbacks(sdfg))


def _in_blocks(lowered: Sdfg) -> Iterator[SrcSpan | None]:
    """Places of loops each thread of which runs iterations of its own: a parallel map over blocks of them is around."""
    for node in lowered.body.walk_nodes():
        if isinstance(node, Map) and isinstance(node.schedule, Parallel):
            for block in node.body.walk_blocks():
                symbols = (symbol for _, values in block.iteration_space() for symbol in values.symbols)
                if block.span == node.span and not {*node.params}.isdisjoint(symbols):
                    yield block.span


def _loops(sdfg: Sdfg, in_blocks: Set[SrcSpan | None]) -> Iterator[tuple[str, str, str]]:
    """Place, name and reason. A loop of which another version is parallel runs so where the sizes allow it."""
    parallel = in_blocks | {node.span for node in sdfg.body.walk_nodes() if isinstance(node, Map)}
    for match in matches(LoopToMap(), sdfg):
        loop = match[LoopToMap.loop]
        if loop.span is None or loop.span not in parallel:
            plan = LoopToMap().plan(match)
            reason = readable(str(plan), sdfg) if isinstance(plan, Refusal) else OPTIMIZE
            yield str(loop.span or ""), match.in_words(), reason


def _callbacks(sdfg: Sdfg) -> Iterator[tuple[str, str, str]]:
    for node in sdfg.body.walk_nodes():
        if isinstance(node, Callback):
            yield str(node.span or ""), node.function.rpartition(":")[2], ""


def _listed(title: str, rows: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    known = list({(place, reason): (place, name, reason) for place, name, reason in rows}.values())
    widths = [max((len(row[k]) for row in known), default=0) for k in (0, 1)]
    if known:
        yield title
    for place, name, reason in known:
        yield f"  {place:{widths[0]}}  {name:{widths[1]}}  {reason}".rstrip()
