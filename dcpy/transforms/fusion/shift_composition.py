"""ShiftComposition: what reads a shifted array reads the array that was shifted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.expressions.scalar import Ref
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.region import State
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import Expr
from dcpy.ir.symbolic.function_terms import functions_in
from dcpy.ir.tree import dominates
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.fusion.inlining import Inlining, inline
from dcpy.transforms.fusion.pointwise import temporary_of, why_not_later


@dataclass(frozen=True)
class ShiftComposition(Transformation[Inlining]):
    """Read a shifted array where it came from: the shift of a shift is one index.

    before   map i = 0:N, j = 0:M { t[i, j] = x[i - 1 + N*max(0, min(1, 1 - i)), j] }
             map i = 0:N, j = 0:M { y[i, j] = t[i, j - 1 + M*max(0, min(1, 1 - j))] }
    after    map i = 0:N, j = 0:M { y[i, j] = x[i - 1 + N*max(0, min(1, 1 - i)), j - 1 + M*max(0, min(1, 1 - j))] }

    Applies to maps that only move elements, by an index that jumps (``np.roll``, `cyclic-shift-to-map`), where tasklets
    read what they have moved, an index along another axis may jump, and nothing writes the source in between.
    """

    name: ClassVar[str] = "shift-composition"
    optional: ClassVar[bool] = True
    producer = capture(Map)
    pattern = one(producer)

    def plan(self, m: Match) -> Inlining | Refusal:
        """The shift and its readers. Refuses maps that compute, and indices that would jump twice."""
        producer, uses = m[self.producer], m.uses
        source = _moved(producer)
        if source is None or not any(map(_jumps, source.subset.dims)):
            return Refusal("it does not only move elements, by an index that jumps")
        tmp = temporary_of(producer, uses)
        if isinstance(tmp, Refusal):
            return tmp
        readers = tuple(each for each in uses.readers(tmp.name) if isinstance(each, Tasklet))
        if not readers or readers != uses.readers(tmp.name):
            return Refusal(f"{tmp.name!r} is read by more than tasklets")
        if not all(dominates(producer, reader) for reader in readers):
            return Refusal(f"{tmp.name!r} is read elsewhere")
        plan = Inlining(tmp, readers)
        if any(_jumps_twice(source.subset, subset, plan) for _, subset in plan.places()):
            return Refusal("an index would jump twice along an axis")
        return why_not_later(producer, readers, uses) or plan

    def apply(self, m: Match, plan: Inlining, rw: Rewriter) -> None:
        inline(m[self.producer], plan, rw)


def _moved(producer: Map) -> Memlet | None:
    """The elements that a map moves, if it does nothing else."""
    blocks = producer.body.blocks
    nodes = blocks[0].nodes if len(blocks) == 1 and isinstance(blocks[0], State) else []
    if len(nodes) != 1 or not isinstance(nodes[0], Tasklet) or len(nodes[0].inputs) != 1:
        return None
    is_move = len(nodes[0].code) == 1 and isinstance(nodes[0].code[0][1], Ref)
    return next(iter(nodes[0].inputs.values())) if is_move else None


def _jumps(dim: object) -> bool:
    return isinstance(dim, Expr) and next(functions_in(dim, "max"), None) is not None


def _jumps_twice(moved: Subset, read: Subset, plan: Inlining) -> bool:
    """Return whether an index that jumps would be put into one that does."""
    values = plan.values(read)
    if not all(isinstance(dim, Expr) for dim in read.dims):
        return True
    shifted = {name for dim in moved.dims if _jumps(dim) and isinstance(dim, Expr) for name in dim.symbols}
    return any(_jumps(value) for param, value in values.items() if param in shifted)
