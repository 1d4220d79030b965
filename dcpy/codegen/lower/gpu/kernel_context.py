"""The context of a kernel: its grid, the map of a block it is in, and what threads have touched.

Barriers are derived: where a part of a block touches what an earlier part wrote, or writes what it touched, in memory
that threads share, all threads meet in between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from dcpy.codegen.lir.expr import LirExpr, Name, integer, plus, times
from dcpy.codegen.lir.types import INDEX
from dcpy.codegen.lower.gpu.launch_geometry import Geometry, most_iterations
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.parallelism.conflict_resolutions import injective_params, tiles_of
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map
from dcpy.ir.tree import is_inside

MOST_STEPS = 1 << 16  #: of one kernel


@dataclass(frozen=True, slots=True)
class SharedAccesses:
    """Names of memory that threads share, and that a part of a kernel reads and writes."""

    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()

    def __or__(self, other: SharedAccesses) -> SharedAccesses:
        return SharedAccesses(self.reads | other.reads, self.writes | other.writes)

    def conflicts(self, later: SharedAccesses) -> bool:
        """Return whether the order of the two parts matters."""
        return bool(self.writes & (later.reads | later.writes) or self.reads & later.writes)


@dataclass
class KernelContext:
    """A kernel that is being lowered. `node`: its map on a grid; `block`: the map of a block that one is in."""

    node: Map
    geometry: Geometry
    varying: frozenset[str]  #: all that differs between iterations, or inside of one
    number: int = 1  #: among the kernels of the program
    block: Map | None = None
    steps: int = 0  #: parts of the kernel so far: maps of the block, and what stands beside them
    loop: LirExpr | None = None  #: counts the iterations of the outermost loop around parts
    pending_accesses: SharedAccesses = field(default_factory=SharedAccesses)  #: what was touched since threads met

    def meets_before(self, part: SharedAccesses) -> bool:
        """Return whether threads have to meet before a part, which is taken note of."""
        meets = self.pending_accesses.conflicts(part)
        self.pending_accesses = part if meets else self.pending_accesses | part
        return meets

    @contextmanager
    def looping(self, counter: LirExpr) -> Iterator[None]:
        """Enter a loop around maps of the block, whose iterations grow with a number."""
        outer, self.loop = self.loop, self.loop or counter
        try:
            yield
        finally:
            self.loop = outer

    def order(self, named: Callable[[str], str]) -> tuple[LirExpr, ...]:
        """Return the place of a check in the order of the program: see `tree.CheckFail`.

        An iteration is that of the map on the grid and that of the block; what only names a tile of these is left out.
        """
        before = integer(0) if self.loop is None else times(self.loop, integer(MOST_STEPS))
        step = plus(before, integer(self.steps))
        inner = () if self.block is None else self.block.params
        tiles = {name for dim in (self.block.domain if self.block is not None else ()) for name in dim.symbols}
        outer = (param for param in self.node.params if param not in tiles)
        found = [Name(named(param), INDEX) for param in (*outer, *inner)]
        return (integer(self.number), step, *found[:3])

    def again(self, part: SharedAccesses) -> None:
        """An iteration of a loop inside of the kernel comes after another one, which touched the same."""
        self.pending_accesses |= part

    @contextmanager
    def inside(self, block: Map) -> Iterator[None]:
        """Enter a map of the block: what follows is done by each thread alone."""
        self.block = block
        self.steps += 1
        try:
            yield
        finally:
            self.block = None

    def races(self, memlet: Memlet, uses: Uses) -> bool:
        """Return whether two threads may write the location of a conflict resolution."""
        home = uses.home(uses.root(memlet.container))
        maps = [self.node] if self.block is None else [self.node, self.block]
        around = [node for node in maps if not is_inside(home, node)]
        if self.block is None or self.block not in around:
            return self.block is None
        params = [param for node in around for param in _several(node)]
        tiles = tiles_of(self.node) if self.node in around else {}
        varying = self.varying if self.node in around else self.varying - set(self.node.params)
        walked = {tiles[param] for param in self.block.params if param in tiles}
        needed = tuple(param for param in params if param not in walked)
        return not injective_params(memlet.subset, needed, varying) >= set(needed)


def _several(node: Map) -> list[str]:
    """The parameters of a map that may have two values."""
    pairs = zip(node.params, node.domain, strict=True)
    return [param for param, dim in pairs if most_iterations(dim) not in (0, 1)]
