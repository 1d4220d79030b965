"""CheckMotion: checks go before computations whose results an exception discards, and are made once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.effect_analysis import effects_of
from dcpy.ir.data import Stream
from dcpy.ir.effects import KEPT
from dcpy.ir.expressions.scalar import Op, ScalarExpr, as_symbolic, loads_of, symbols_of
from dcpy.ir.nodes import Map, Node
from dcpy.ir.region import Block, Branch, Check, Loop, Region, State, SymbolAssign
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, whole


@dataclass(frozen=True)
class CheckMotion(Transformation["tuple[Move, ...]"]):
    """Move checks before the states that only compute transients, and take out those that were made before.

    before   state { tmp = f(A) }                 after   check N == M else ValueError "..."
             check N == M else ValueError "..."           state { tmp = f(A) }
             state { B = tmp + C }                        state { B = tmp + C }
             check N == M else ValueError "..."

    States that stood apart then stand together, and fuse. A check does not pass what writes an argument: when it fails,
    the caller finds there what was written before. Nor does it pass anything that may raise an error, or write what
    it reads. Checks keep their order. One is made before when it has the same meaning, over symbols and what is never
    written.
    """

    name: ClassVar[str] = "check-motion"
    pattern = whole()

    def plan(self, m: Match) -> tuple[Move, ...] | Refusal:
        moves = tuple(_moves(m.sdfg.body, m.uses, _AvailableChecks()))
        return moves or Refusal("no check can go further up, and none is made twice")

    def apply(self, m: Match, plan: tuple[Move, ...], rw: Rewriter) -> None:
        for check, region, position in plan:
            if position is None:
                rw.erase(check)
            else:
                rw.move_blocks([check], region, position)


Move = tuple[Check, Region, int | None]  # to this position; None: the check is made already


class _AvailableChecks:
    """The checks that were made on the way to a place: in its region, and in those around it."""

    def __init__(self, outer: _AvailableChecks | None = None) -> None:
        self.outer = outer
        self.known: dict[object, None] = {}

    def __contains__(self, meaning: object) -> bool:
        return meaning in self.known or (self.outer is not None and meaning in self.outer)


def _moves(region: Region, uses: Uses, made: _AvailableChecks) -> Iterator[Move]:
    """Yield the moves, in the order in which they are possible."""
    target = position = 0  # where a check may go to, and where the block at hand will stand then
    written: dict[str, None] = {}  # what the states between write
    for block in region.blocks:
        if isinstance(block, Check):
            meaning = _meaning(block.condition)
            if meaning in made:
                yield block, region, None
                continue
            if not _is_changed(block.condition, uses):
                made.known[meaning] = None
            if _reads(block, written):
                target, written = position, {}  # it stays, and so do those after it
            elif target < position:
                yield block, region, target
            target += 1
            position += 1
            continue
        for inner in block.regions():
            yield from _moves(inner, uses, _AvailableChecks(made))
        position += 1
        accessed = _written_transients(block, uses)
        if accessed is None:
            target, written = position, {}
        else:
            written |= dict.fromkeys(accessed)


def _meaning(condition: ScalarExpr) -> object:
    """A value that is equal for conditions on symbols that say the same: ``a < b``, ``b > a``, ``b - a > 0``."""
    match condition:
        case Op(name="lt" | "le" | "gt" | "ge" | "eq" as name, args=(left, right)):
            a, b = as_symbolic(left), as_symbolic(right)
            if a is None or b is None:
                return condition
            if name == "eq":
                return "zero", min(a - b, b - a, key=str)
            small, big = (a, b) if name in ("lt", "le") else (b, a)
            return "at least", big - small - (1 if name in ("lt", "gt") else 0)
        case Op(name="and" | "or" as name, args=(left, right)):
            return name, frozenset((_meaning(left), _meaning(right)))
    return condition


def _is_changed(condition: ScalarExpr, uses: Uses) -> bool:
    """Return whether a condition may have another answer later: it reads what is written, or a symbol that is assigned.
    """
    definers = [definer for symbol in symbols_of(condition) for definer in uses.definers(symbol)]
    read = [name for load in loads_of(condition) for name in uses.overlapping(load.container)]
    return any(map(uses.writers, read)) or any(isinstance(definer, SymbolAssign) for definer in definers)


def _reads(check: Check, written: dict[str, None]) -> bool:
    return any(load.container in written for expr in (check.condition, *check.values) for load in loads_of(expr))


def _nodes(state: State) -> Iterator[Node]:
    for node in state.nodes:
        yield node
        if isinstance(node, Map):
            yield from node.body.walk_nodes()


def _written_transients(block: Block, uses: Uses) -> tuple[str, ...] | None:
    """All names of the memory that a state writes, if a check may pass it; else None."""
    if not isinstance(block, State):
        return None
    if effects_of(block) & KEPT:
        return None
    names: dict[str, None] = {}
    for node in _nodes(block):
        if isinstance(node, Map) and any(not isinstance(b, State | Loop | Branch) for b in node.body.walk_blocks()):
            return None
        accesses = uses.accesses(node)
        if any(isinstance(uses.desc(name), Stream) for name in (*accesses.reads, *accesses.writes)):
            return None
        names |= dict.fromkeys(seen for name in accesses.writes for seen in uses.overlapping(name))
    if not all(uses.desc(name).transient for name in names):
        return None
    return tuple(names)
