"""Token rates: how many tokens a process pushes to each queue, and how many it pops, as expressions.

A queue that gets more than is taken from it never runs dry, on hardware: what is left is the next run's first input.
Counts are exact or refused; where bounds or indices of queues depend on parameters, these are enumerated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from dcpy.base.source import SrcSpan
from dcpy.ir.analysis.accesses.access_relations import accesses_in
from dcpy.ir.analysis.accesses.memory_access import MemoryAccess, Mode
from dcpy.ir.analysis.dataflow.branch_facts import exact_facts_inside
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.polyhedral.footprints import Variable
from dcpy.ir.data import Stream
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Process
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, ZERO, Expr, Ranges, max_of, min_of, product_of, sym

MOST_POINTS = 1 << 12  #: points of parameters that are enumerated for one access
Queue = tuple[str, tuple[int, ...]]  #: of a stream, at a point of its shape


@dataclass(slots=True)
class Tokens:
    """Of one queue: its producers and consumers, and the number of tokens."""

    pushed: Expr = ZERO
    popped: Expr = ZERO
    producers: dict[str, None] = field(default_factory=dict)
    consumers: dict[str, None] = field(default_factory=dict)
    span: SrcSpan | None = None


def token_counts(processes: Sequence[Process], uses: Uses, ranges: Ranges) -> dict[Queue, Tokens] | Refusal:
    """Return the tokens that go through each queue while all processes run to their ends."""
    found: dict[Queue, Tokens] = {}
    for process in processes:
        for access in accesses_in(process, uses):
            if not access.of_queue:
                continue
            counted = _counts(access, uses, ranges)
            if isinstance(counted, Refusal):
                return Refusal(f"{process.name!r} {access.mode.value} {access.memlet}, {counted}")
            for index, count in counted:
                if count is ZERO:  # a copy at an end of a chain
                    continue
                _add(found.setdefault((access.root, index), Tokens()), process.name, access, count)
    return found


def _add(tokens: Tokens, process: str, access: MemoryAccess, count: Expr) -> None:
    tokens.span = tokens.span or access.place.span
    if access.mode is Mode.PUSH:
        tokens.pushed = tokens.pushed + count
        tokens.producers[process] = None
    else:
        tokens.popped = tokens.popped + count
        tokens.consumers[process] = None


def _counts(access: MemoryAccess, uses: Uses, ranges: Ranges) -> list[tuple[tuple[int, ...], Expr]] | Refusal:
    """The tokens that an access moves, for each queue that it names; a queue may come more than once."""
    space = _space(access)
    if space is None or access.subset is None:
        return Refusal("which depends on a condition, or on data")
    each = _tokens_at_once(access, uses, ranges)
    mentioned = {*access.subset.symbols, *each.symbols}
    variables = _without_tiles(space, mentioned)
    told = {*access.subset.symbols, *each.symbols}
    for _, values in reversed(variables):
        told |= {*(values.symbols if values is not None else ())}
    fixed = [(name, values) for name, values in variables if name in told]
    free = [(name, values) for name, values in variables if name not in told]
    found: list[tuple[tuple[int, ...], Expr]] = []
    for point in islice(_points(fixed, {}), MOST_POINTS + 1):
        if point is None or len(found) == MOST_POINTS:
            return Refusal("and the queue is unknown, and how often: the ranges are no numbers")
        index = tuple(dim.subs(point).constant for dim in access.subset.indices)
        if any(number is None for number in index):
            return Refusal("and the queue is unknown")
        sizes = [values.subs(point).size_within(ranges) for _, values in free if values is not None]
        found.append((tuple(number for number in index if number is not None), each.subs(point) * product_of(*sizes)))
    return found


def _space(access: MemoryAccess) -> list[Variable] | None:
    """The iterations in which an access happens; None where data decide. Conditions on variables narrow their ranges.

    ``if k == K - 1`` in ``k = 0:K`` leaves ``k = K - 1:K``.
    """
    found: list[Variable] = []
    if not access.certain:
        return None
    for scope in access.scopes:
        found += scope.variables
        facts = () if scope.always else exact_facts_inside(scope.region)
        if (
            facts is None
            or scope.repeats
            or any(name in access.varying_symbols for fact in facts for name in fact.symbols)
        ):
            return None
        if not all(_narrowed(found, fact) for fact in facts):
            return None
    return found


def _narrowed(space: list[Variable], fact: Expr) -> bool:
    """Leave the values of one variable, the innermost that is mentioned, for which a fact holds."""
    for position, (name, values) in reversed(list(enumerate(space))):
        if name not in fact.symbols:
            continue
        if values is None or values.step is not ONE:
            return False
        least, most = sym(name) - fact, sym(name) + fact  # of `name - least >= 0`, and of `most - name >= 0`
        if name not in least.symbols:
            space[position] = name, Range(max_of(values.start, least), values.stop, ONE)
        elif name not in most.symbols:
            space[position] = name, Range(values.start, min_of(values.stop, most + ONE), ONE)
        else:
            return False
        return True
    return False


def _without_tiles(variables: list[Variable], mentioned: set[str]) -> list[Variable]:
    """Strip-mining undone: tiles of T iterations, the last one cut off, are as many as the loop had before.

    ``t = a:b:T`` around ``l = 0:min(T, b - t)`` counts as ``a:b``.
    """
    found = list(variables)
    for position, (tile, values) in enumerate(variables):
        others = [(name, inner) for name, inner in found[position + 1 :] if inner is None or tile in inner.symbols]
        if values is None or tile in mentioned or len(others) != 1:
            continue
        ((lane, inner),) = others
        if inner is not None and inner.step is ONE and inner.size == min_of(values.step, values.stop - sym(tile)):
            found[position] = (tile, Range(values.start, values.stop, ONE))
            found = [(name, Range(ZERO, ONE, ONE) if name == lane else known) for name, known in found]
    return found


def _points(variables: Sequence[Variable], known: dict[str, int]) -> Iterator[dict[str, int] | None]:
    """All values of variables; None where a range is not of numbers."""
    if not variables:
        yield known
        return
    (name, values), *rest = variables
    bounds = None if values is None else _numbers(values.subs(known))
    if bounds is None:
        yield None
        return
    for value in bounds:
        yield from _points(rest, {**known, name: value})


def _numbers(values: Range) -> range | None:
    edges = [edge.constant for edge in (values.start, values.stop, values.step)]
    start, stop, step = edges
    return None if start is None or stop is None or not step else range(start, stop, step)


def _tokens_at_once(access: MemoryAccess, uses: Uses, ranges: Ranges) -> Expr:
    """Return the tokens that one execution of a node moves: a copy as many as its array holds, a tasklet one."""
    stream = uses.desc(access.root)
    assert isinstance(stream, Stream)  # nothing else is pushed to
    others = access.place.writes() if access.mode is Mode.POP else access.place.reads()
    dims = [dim for memlet in others for dim in memlet.subset.dims if isinstance(dim, Range)]
    sizes = [dim.size_within(ranges) for dim in dims]  # a tasklet names points
    return product_of(*sizes[: len(sizes) - len(stream.token)]) if sizes else ONE
