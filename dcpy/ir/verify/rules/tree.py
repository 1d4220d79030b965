"""The tree itself: each part is in one place and knows what it is in. All other rules rely on these."""

from __future__ import annotations

from collections.abc import Iterator

from dcpy.ir.analysis.dataflow.value_ranges import KnownRanges
from dcpy.ir.files.limits import DEEPEST_REGION
from dcpy.ir.region import Owner, Region, State
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.verify.rule import Finding, Findings, rule
from dcpy.ir.verify.subjects import Scope


def tree_subjects(sdfg: Sdfg) -> Iterator[tuple[Sdfg, Scope]]:
    """The one subject of these rules; they walk by themselves, because a broken tree may have no end."""
    yield sdfg, Scope(sdfg, KnownRanges(Sdfg(sdfg.name)))


@rule("tree.links", Sdfg)
def parts_know_what_they_are_in(sdfg: Sdfg, scope: Scope) -> Findings:
    """Each region, block and node occurs once and knows its owner."""
    yield from _region(sdfg.body, sdfg, set())


def _region(region: Region, owner: Owner, seen: set[object]) -> Iterator[Finding]:
    if region in seen:
        yield "a region occurs twice", "copy it with ir.copying"
        return
    seen.add(region)
    if region.owner is not owner:
        yield f"the body of a {_kind(owner)} thinks that it belongs to a {_kind(region.owner)}"
    for block in region.blocks:
        if block in seen:
            yield f"a {block.kind} occurs twice", "copy it with ir.copying"
            continue
        seen.add(block)
        if block.region is not region:
            yield f"a {block.kind} is in a region that is not its own", "add it with Region.add"
        if isinstance(block, State):
            yield from _nodes(block, seen)
            continue
        for inner in block.regions():
            yield from _region(inner, block, seen)


def _nodes(state: State, seen: set[object]) -> Iterator[Finding]:
    for node in state.nodes:
        if node in seen:
            yield f"a {node.kind} occurs twice", "copy it with ir.copying"
            continue
        seen.add(node)
        if node.state is not state:
            yield f"a {node.kind} is in a state that is not its own", "add it with State.add"
        for inner in node.regions():
            yield from _region(inner, node, seen)


@rule("call.recursion", Sdfg)
def calls_are_not_recursive(sdfg: Sdfg, scope: Scope) -> Findings:
    """An SDFG does not call itself, directly or through others, and calls are not nested too deeply."""
    level: list[Sdfg] = [sdfg]
    met: dict[Sdfg, None] = {}
    for _ in range(DEEPEST_REGION):
        level = list(dict.fromkeys(callee for each in level for callee in _called_by(each)))
        met |= dict.fromkeys(level)
    if level and sdfg in met:
        yield f"@{sdfg.name} calls itself, directly or through others"
    elif level:
        yield f"@{sdfg.name} begins calls that are nested more than {DEEPEST_REGION} deep"


def _called_by(sdfg: Sdfg) -> list[Sdfg]:
    return list(dict.fromkeys(call.sdfg for call in sdfg.body.walk_calls()))


def _kind(owner: object) -> str:
    return getattr(owner, "kind", type(owner).__name__.lower())
