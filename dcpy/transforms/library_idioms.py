"""LibraryIdioms: what a library can do along with its own work moves into its nodes, as the library says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.machine_model import COSTS, Costs
from dcpy.ir.nodes import LibraryNode
from dcpy.ir.region import Loop
from dcpy.ir.sdfg import Sdfg
from dcpy.transforms.catalog import LIBRARY_IDIOMS
from dcpy.transforms.pipeline import CompositePass, RunReport


@dataclass(frozen=True)
class LibraryIdioms(CompositePass):
    """Runs the pipelines of idioms of those libraries that the SDFG has nodes of; others are not even imported.

    `late`: also those that are for when all fusions are made, and those for this `target`. `raising`: those alone that
    make nodes of loops and maps, of libraries that the SDFG may have nothing of; if there are loops, or sums in maps.
    """

    name: ClassVar[str] = "library-idioms"
    optional: ClassVar[bool] = True

    late: bool = False
    target: str = "cpu"
    raising: bool = False
    costs: Costs = COSTS

    def run_with(self, rw: Rewriter, report: RunReport) -> int:
        """One library after the other, in the order in which they announced themselves."""
        start = rw.version
        if self.raising:
            if _has_sums(rw.sdfg):
                for entry in (entry for entry in LIBRARY_IDIOMS if entry.endswith("/raising")):
                    LIBRARY_IDIOMS[entry].priced(self.costs).run_with(rw, report)
            return rw.version - start
        kinds = (node.kind for node in rw.sdfg.body.walk_nodes() if isinstance(node, LibraryNode))
        present = {kind.partition(".")[0] for kind in kinds}
        for entry in LIBRARY_IDIOMS:
            library, _, when = entry.partition("/")
            if library in present and (not when or (self.late and when in ("late", self.target))):
                LIBRARY_IDIOMS[entry].priced(self.costs).run_with(rw, report)
        return rw.version - start


def _has_sums(sdfg: Sdfg) -> bool:
    if any(isinstance(block, Loop) for block in sdfg.body.walk_blocks()):
        return True
    return any(memlet.wcr == "add" for node in sdfg.body.walk_nodes() for memlet in node.writes())
