"""The simplify pass on one page: dataflow coarsening, always on, never changes results."""

from __future__ import annotations

from dcpy.ir.sdfg import Sdfg
from dcpy.transforms.pass_manager import run_pipeline
from dcpy.transforms.pipeline import Pipeline, RunReport, repeat
from dcpy.transforms.simplify.calls.inline_call import InlineCall
from dcpy.transforms.simplify.calls.outline_repeated_calls import OutlineRepeatedCalls
from dcpy.transforms.simplify.control_flow.dead_branch_elimination import DeadBranchElimination
from dcpy.transforms.simplify.control_flow.dead_state_elimination import DeadStateElimination
from dcpy.transforms.simplify.control_flow.empty_state_elimination import EmptyStateElimination
from dcpy.transforms.simplify.control_flow.jump_threading import JumpThreading
from dcpy.transforms.simplify.control_flow.state_fusion import StateFusion
from dcpy.transforms.simplify.control_flow.trivial_loop_elimination import TrivialLoopElimination
from dcpy.transforms.simplify.control_flow.trivial_map_elimination import TrivialMapElimination
from dcpy.transforms.simplify.copies.redundant_copy_removal import RedundantCopyRemoval
from dcpy.transforms.simplify.copies.redundant_reshape_removal import RedundantReshapeRemoval
from dcpy.transforms.simplify.copies.redundant_view_removal import RedundantViewRemoval
from dcpy.transforms.simplify.dataflow.augmented_assignment_to_wcr import AugmentedAssignmentToWCR
from dcpy.transforms.simplify.dataflow.check_motion import CheckMotion
from dcpy.transforms.simplify.dataflow.constant_propagation import ConstantPropagation
from dcpy.transforms.simplify.dataflow.dead_dataflow_elimination import DeadDataflowElimination
from dcpy.transforms.simplify.dataflow.dead_store_elimination import DeadStoreElimination
from dcpy.transforms.simplify.dataflow.range_check_elimination import RangeCheckElimination
from dcpy.transforms.simplify.dataflow.scalar_to_symbol_promotion import ScalarToSymbolPromotion
from dcpy.transforms.simplify.dataflow.scalar_value_numbering import ScalarValueNumbering
from dcpy.transforms.simplify.dataflow.symbol_propagation import SymbolPropagation
from dcpy.transforms.simplify.dataflow.unused_container_elimination import UnusedContainerElimination
from dcpy.transforms.simplify.dataflow.wcr_to_augmented_assignment import WcrToAugmentedAssignment

SIMPLIFY = Pipeline(
    "simplify",
    repeat(
        InlineCall(),
        ScalarValueNumbering(),
        ScalarToSymbolPromotion(),
        SymbolPropagation(),
        ConstantPropagation(),
        DeadBranchElimination(),
        JumpThreading(),
        DeadStateElimination(),
        EmptyStateElimination(),
        TrivialLoopElimination(),
        RangeCheckElimination(),
        CheckMotion(),
        StateFusion(),
        TrivialMapElimination(),
        RedundantViewRemoval(),
        RedundantCopyRemoval(),
        RedundantReshapeRemoval(),
        DeadDataflowElimination(),
        DeadStoreElimination(),
        AugmentedAssignmentToWCR(),
        WcrToAugmentedAssignment(),
        UnusedContainerElimination(),
    ),
    ensures="simple",
)

#: before it, where the target has functions
KEEP_FUNCTIONS = Pipeline("keep-functions", OutlineRepeatedCalls())


def simplify(sdfg: Sdfg, *, check: bool = False) -> RunReport:
    """Run `SIMPLIFY` on an SDFG in place; return what was applied."""
    return run_pipeline(sdfg, SIMPLIFY, check=check)
