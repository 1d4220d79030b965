"""The names that `access_relations` had before."""

from __future__ import annotations

from dcpy.ir.analysis.access import MemoryAccess as Touch
from dcpy.ir.analysis.access import Scope
from dcpy.ir.analysis.access_relations import accesses_in as touches_in
from dcpy.ir.analysis.access_relations import accesses_of_body as body_touches
from dcpy.ir.analysis.access_relations import memories_of, names_in
from dcpy.ir.analysis.effects import known_effects_of, leavers
from dcpy.ir.memlet import Memlet
from dcpy.ir.memory import in_base
from dcpy.ir.memory import memory_of as _memory_of
from dcpy.ir.subsets import Subset
from dcpy.ir.uses import Uses

__all__ = [
    "Scope", "Touch", "body_touches", "known_effects_of", "leavers", "memories_of", "memory_of", "names_in",
    "resolved", "touches_in",
]  # fmt: skip


def resolved(memlet: Memlet, uses: Uses) -> tuple[str, Subset | None]:
    """`in_base`."""
    return in_base(memlet, uses.desc)


def memory_of(root: str, uses: Uses) -> str:
    """`memory.memory_of`."""
    return _memory_of(root, uses.desc)
