"""MergeCompressions: operands that one mask selects are packed in one scan; the pipeline of this library's idioms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dependence.loop_dependences import nodes_depend
from dcpy.ir.nodes import Node
from dcpy.ir.region import State
from dcpy.libraries.indexing.nodes import Compress
from dcpy.libraries.indexing.passes.compaction_to_points import CompactionToPoints
from dcpy.libraries.indexing.passes.masked_update import MaskedUpdateToPredicatedMap
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.pipeline import Pipeline, repeat


@dataclass(frozen=True)
class MergeCompressions(Transformation[Compress]):
    """Pack several operands in one scan over the mask that selects them.

    before   compress (mask <- m, x0 <- a) -> (out0 -> t)      after   compress (mask <- m, x0 <- a, x1 <- b)
             compress (mask <- m, x0 <- b) -> (out0 -> u)                 -> (out0 -> t, out1 -> u)

    Applies where both stand in one state, and the second one depends on nothing in between.
    """

    name: ClassVar[str] = "merge-compressions"
    second = capture(Compress)
    pattern = one(second)

    def plan(self, m: Match) -> Compress | Refusal:
        """The compression before it that can do its work."""
        second, uses = m[self.second], m.uses
        state = second.state
        if not isinstance(state, State):
            return Refusal("it stands in no state")
        for node in reversed(state.nodes[: state.index(second)]):
            if refusal := _why_behind(node, second, uses):
                return refusal
            if isinstance(node, Compress) and node.axis == second.axis and node.inputs["mask"] == second.inputs["mask"]:
                return node
        return Refusal("no compression by the same mask stands before it")

    def apply(self, m: Match, plan: Compress, rw: Rewriter) -> Compress:
        """Return the one that is left."""
        second, inputs, outputs = m[self.second], dict(plan.inputs), dict(plan.outputs)
        for connector, memlet in second.outputs.items():
            number = len(outputs)
            outputs[f"out{number}"] = memlet
            inputs[f"x{number}"] = second.inputs[f"x{connector[3:]}"]
        rw.update(plan, inputs=inputs, outputs=outputs)
        rw.forward(second, plan)
        rw.erase(second)
        return plan


def _why_behind(node: Node, second: Compress, uses: Uses) -> Refusal | None:
    answer = nodes_depend(node, second, uses, uses.ranges_at(node))
    return None if answer.is_no else Refusal(f"it stays behind what it depends on: {answer.reason}", (node,))


# Not `MaskedReduction`: where few elements are selected it reads all for nothing, and how many there are is not known.
INDEXING = Pipeline("indexing", repeat(MaskedUpdateToPredicatedMap(structures=False)))
ON_CPUS = Pipeline("indexing-cpu", CompactionToPoints())
AFTER_FUSION = Pipeline("indexing-late", repeat(MaskedUpdateToPredicatedMap()), MergeCompressions())
