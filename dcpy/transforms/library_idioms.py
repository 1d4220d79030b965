"""LibraryIdioms: what a library can do along with its own work moves into its nodes, as the library says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.nodes import LibraryNode
from dcpy.transforms.catalog import LIBRARY_IDIOMS
from dcpy.transforms.pipeline import Row, RunReport


@dataclass(frozen=True)
class LibraryIdioms(Row):
    """Runs the pipelines of idioms of those libraries that the SDFG has nodes of; others are not even imported.

    `late`: also those that are for when all fusions are made, and those for this `target`.
    """

    name: ClassVar[str] = "library-idioms"

    late: bool = False
    target: str = "cpu"

    def run_with(self, rw: Rewriter, report: RunReport) -> int:
        """One library after the other, in the order in which they announced themselves."""
        start = rw.version
        kinds = (node.kind for node in rw.sdfg.body.walk_nodes() if isinstance(node, LibraryNode))
        present = {kind.partition(".")[0] for kind in kinds}
        for entry in LIBRARY_IDIOMS:
            library, _, when = entry.partition("/")
            if library in present and (not when or (self.late and when in ("late", self.target))):
                LIBRARY_IDIOMS[entry].run_with(rw, report)
        return rw.version - start
