"""MapInlining: an elementwise map is inlined into its readers, which read each element once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.editing.element_paths import position_of
from dcpy.ir.expressions.scalar import Op, walk
from dcpy.ir.machine_model import COSTS, Costs
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.region import Branch, Loop, Region, State
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import Expr
from dcpy.ir.tree import dominates, is_inside, owners_around
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.fusion.inlining import Inlining, inline
from dcpy.transforms.fusion.pointwise import temporary_of, why_not_later
from dcpy.transforms.maps.index_set_splitting import jumps_of

CHEAP = 4  #: units of work that take no longer than to store an element and to load it


@dataclass(frozen=True)
class MapInlining(Transformation[Inlining]):
    """Substitute the expression of an elementwise map for the reads of its result (Halide's compute-inline).

    before   map i = 0:N { tmp[i] = A[i]*A[i] }          after   map c = 0:N:1024 { map k = c:min(N, c + 1024) {
             map c = 0:N:1024 { map k = c:min(N, c + 1024) {               t = A[k]*A[k]
               s += tmp[k] } }                                             s += t } }

    The loops of the reader may have any shape, so maps can be inlined into the expansion of a reduction. Applies if the
    map computes each element of a transient by tasklets alone, only tasklets read it, each element is read at most
    once in a run, and nothing writes the map's inputs in between. A tasklet may read several elements (of a mask:
    ``x[1:] != x[:-1]``) where to compute them all takes no longer than to store and to load one.
    """

    name: ClassVar[str] = "map-inlining"
    optional: ClassVar[bool] = True
    latest_first: ClassVar[bool] = True
    producer = capture(Map)
    pattern = one(producer)

    indices: bool = False  #: maps that look up where they read (``x[p[i]]``) also into maps, not only into loops
    costs: Costs = COSTS

    def plan(self, m: Match) -> Inlining | Refusal:
        """The producer and its readers. Refuses other producers, and elements that are read several times."""
        producer, uses = m[self.producer], m.uses
        looks_up = not isinstance(producer.body.blocks[0], State)
        tmp = temporary_of(producer, uses, indices=looks_up)
        if isinstance(tmp, Refusal):
            return tmp
        readers = _readers(producer, tmp.name, uses, lambda: self._times(producer, uses))
        if isinstance(readers, Refusal):
            return readers
        if (
            looks_up
            and not self.indices
            and not all(isinstance(next(owners_around(reader), None), Loop) for reader in readers)
        ):
            return Refusal("it looks up where it reads, and a map that reads it may be vectors")
        if next(jumps_of(producer), None) is not None:
            return Refusal("an index jumps along its last parameter: its range will be split")
        return why_not_later(producer, readers, uses) or Inlining(tmp, readers)

    def apply(self, m: Match, plan: Inlining, rw: Rewriter) -> None:
        inline(m[self.producer], plan, rw)

    def _times(self, producer: Map, uses: Uses) -> int:
        """Return how many elements a reader may compute: 1 where an element takes more than one load, or long."""
        nodes = [*producer.body.walk_nodes()]
        loads = {memlet for node in nodes for memlet in node.reads() if uses.desc(memlet.container).shape}
        parts = (part for node in nodes for expr in node.exprs() for part in walk(expr) if isinstance(part, Op))
        work = sum(self.costs.operations.of(part.name) for part in parts)
        return 1 if len(loads) > 1 or producer.body.containers else max(1, CHEAP // max(work, 1))


def _readers(producer: Map, tmp: str, uses: Uses, times: Callable[[], int]) -> tuple[Tasklet, ...] | Refusal:
    """The tasklets that read the result, later in the same region, each element at most so many times in a run."""
    state = producer.state
    region = None if state is None else state.region
    found: list[Tasklet] = []
    for reader in uses.readers(tmp):
        if not isinstance(reader, Tasklet):
            return Refusal(f"{tmp!r} is read by a {reader.kind}")
        if region is None or not dominates(producer, reader):
            return Refusal(f"{tmp!r} is read elsewhere")
        subsets = {memlet.subset for memlet in reader.reads() if memlet.container == tmp}
        several = len(subsets) != 1 and len(subsets) > times()
        if several or not all(_reads_once(subset, reader, region) for subset in subsets):
            return Refusal(f"an element of {tmp!r} may be read more than once: it would be computed again")
        found.append(reader)
    if not found:
        return Refusal(f"{tmp!r} is not read")
    if not all(_exclusive(*pair) or _side_by_side(*pair, tmp, region) for pair in combinations(found, 2)):
        return Refusal(f"{tmp!r} is read at {len(found)} places: it would be computed at each")
    return tuple(sorted(found, key=position_of))


def _reads_once(subset: Subset, reader: Tasklet, region: Region) -> bool:
    """Return whether each parameter around a reader indexes a dimension of its own, or bounds a parameter that does."""
    scopes = scopes_within(reader, region)
    if scopes is None:
        return False
    params = {param for param, _ in scopes}
    used: set[str] = set()
    for dim in subset.dims:
        if isinstance(dim, Expr) and dim.constant is not None:
            continue
        mine = [name for name in dim.symbols if name in params]
        form = dim.linear_in(mine[0]) if isinstance(dim, Expr) and len(mine) == 1 else None
        if form is None or form[0].constant in (None, 0) or mine[0] in used:
            return False
        used.add(mine[0])
    for param, values in scopes:
        if param not in used:
            return False
        used.update(values.symbols)
    return True


def scopes_within(reader: Tasklet, region: Region) -> list[tuple[str, Range]] | None:
    """The parameters around a reader up to a region, innermost first; None if another scope repeats it."""
    found: list[tuple[str, Range]] = []
    for owner in owners_around(reader, within=region):
        match owner:
            case Map(params=params, domain=domain):
                found += reversed(list(zip(params, domain, strict=True)))
            case Loop(param=param, range=values):
                found.append((param, values))
            case Branch():
                continue
            case _:
                return None
    return found


def _exclusive(first: Tasklet, second: Tasklet) -> bool:
    """Return whether two readers are in different cases of one branch."""
    around = list(owners_around(second))
    shared = [owner for owner in owners_around(first) if isinstance(owner, Branch) and owner in around]
    cases = [case for branch in shared for case in branch.regions()]
    return any(is_inside(first, case) != is_inside(second, case) for case in cases)


def _side_by_side(first: Tasklet, second: Tasklet, tmp: str, region: Region | None) -> bool:
    """Return whether two readers of one state never read the same element: their distance is less than a loop step."""
    if first.state is not second.state or region is None:
        return False
    ones, others = (
        {memlet.subset for memlet in reader.reads() if memlet.container == tmp} for reader in (first, second)
    )
    if len(ones) > 1 or len(others) > 1:
        return False
    (one,), (other,) = ones, others
    differing = [dims for dims in zip(one.dims, other.dims, strict=True) if dims[0] != dims[1]]
    if len(differing) != 1 or not all(isinstance(dim, Expr) for dim in differing[0]):
        return False
    index, its = differing[0]
    assert isinstance(index, Expr)
    assert isinstance(its, Expr)
    distance = (its - index).constant
    scopes = dict(scopes_within(first, region) or ())
    steps = [_step_of(index, name, scopes[name]) for name in index.symbols if name in scopes]
    return distance is not None and len(steps) == 1 and abs(distance) < steps[0]


def _step_of(index: Expr, param: str, values: Range) -> int:
    """The distance that an index moves from one value of a parameter to the next; 0 if unknown."""
    form, step = index.linear_in(param), values.step.constant
    factor = None if form is None else form[0].constant
    return 0 if factor is None or step is None else abs(factor * step)
