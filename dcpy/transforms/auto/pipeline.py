"""The auto-optimizer: parallel loops become maps, and maps are fused.

Runs on the simple form, before library nodes are expanded and before schedules are chosen (`transforms.cpu`). Nothing
here changes results but the order of reductions, and each decision is in the history of the SDFG.
"""

from __future__ import annotations

from dcpy.ir.sdfg import Sdfg
from dcpy.transforms.fusion.array_renaming import ArrayRenaming
from dcpy.transforms.fusion.array_splitting import ArraySplitting
from dcpy.transforms.fusion.expand_to_fuse import ExpandToFuse
from dcpy.transforms.fusion.map_fusion import MapFusion
from dcpy.transforms.fusion.node_splitting import NodeSplitting
from dcpy.transforms.fusion.recompute_stencils import RecomputeStencils
from dcpy.transforms.fusion.rematerialization import Rematerialization
from dcpy.transforms.fusion.shift_composition import ShiftComposition
from dcpy.transforms.fusion.subgraph_fusion import SubgraphFusion
from dcpy.transforms.library_idioms import LibraryIdioms
from dcpy.transforms.loops.chosen_iteration import ChosenIteration
from dcpy.transforms.loops.congruent_fusion import CongruentFusion
from dcpy.transforms.loops.extremum_reduction import ExtremumReduction
from dcpy.transforms.loops.induction_variables import InductionVariableSubstitution
from dcpy.transforms.loops.invariant_isolation import InvariantIsolation
from dcpy.transforms.loops.loop_inspection import LoopInspection
from dcpy.transforms.loops.loop_invariant_code_motion import LoopInvariantCodeMotion
from dcpy.transforms.loops.loop_to_map import LoopToMap
from dcpy.transforms.loops.loop_versioning import LoopVersioning
from dcpy.transforms.loops.statement_reordering import StatementReordering
from dcpy.transforms.loops.symbol_reduction import SymbolReduction
from dcpy.transforms.loops.wrap_around_variables import WrapAroundVariable
from dcpy.transforms.maps.cyclic_shift_to_map import CyclicShiftToMap
from dcpy.transforms.maps.map_collapse import MapCollapse
from dcpy.transforms.maps.map_unrolling import MapUnrolling
from dcpy.transforms.maps.partial_dead_store_elimination import PartialDeadStoreElimination
from dcpy.transforms.memory.scalar_replacement import ScalarReplacement
from dcpy.transforms.pass_manager import run_pipeline
from dcpy.transforms.pipeline import Pipeline, RunReport, repeat
from dcpy.transforms.simplify.control_flow.branch_value_numbering import BranchValueNumbering
from dcpy.transforms.simplify.control_flow.dead_state_elimination import DeadStateElimination
from dcpy.transforms.simplify.control_flow.state_fusion import StateFusion
from dcpy.transforms.simplify.control_flow.trailing_continue_elimination import TrailingContinueElimination
from dcpy.transforms.simplify.copies.redundant_copy_removal import RedundantCopyRemoval
from dcpy.transforms.simplify.dataflow.augmented_assignment_to_wcr import AugmentedAssignmentToWCR
from dcpy.transforms.simplify.dataflow.check_motion import CheckMotion
from dcpy.transforms.simplify.dataflow.common_subexpression_elimination import CommonSubexpressionElimination
from dcpy.transforms.simplify.dataflow.dead_dataflow_elimination import DeadDataflowElimination
from dcpy.transforms.simplify.dataflow.range_check_elimination import RangeCheckElimination
from dcpy.transforms.simplify.dataflow.redundant_check_elimination import RedundantCheckElimination
from dcpy.transforms.simplify.dataflow.symbol_propagation import SymbolPropagation
from dcpy.transforms.simplify.dataflow.wcr_to_augmented_assignment import WcrToAugmentedAssignment

AUTO_OPTIMIZE = Pipeline(
    "auto-optimize",
    LibraryIdioms(),
    TrailingContinueElimination(),
    InductionVariableSubstitution(),
    WrapAroundVariable(),
    SymbolPropagation(),
    LoopVersioning(),
    SymbolPropagation(),
    LoopInspection(),
    ExtremumReduction(),
    ChosenIteration(),
    SymbolReduction(),
    AugmentedAssignmentToWCR(loops=True),
    StateFusion(),
    InvariantIsolation(),
    LoopInvariantCodeMotion(),
    StatementReordering(),
    LoopToMap(),
    repeat(ScalarReplacement()),
    CommonSubexpressionElimination(),
    repeat(BranchValueNumbering(), CommonSubexpressionElimination()),
    CongruentFusion(),
    PartialDeadStoreElimination(),
    repeat(
        SymbolPropagation(),
        DeadStateElimination(),
        RangeCheckElimination(),
        CheckMotion(),
        StateFusion(),
        CyclicShiftToMap(),
        ShiftComposition(),
        ArrayRenaming(),
        MapUnrolling(only_components=True),
        ArraySplitting(),
        repeat(MapFusion()),
        LibraryIdioms(),
        LibraryIdioms(raising=True),
        RedundantCopyRemoval(),
        DeadDataflowElimination(),
    ),
    repeat(Rematerialization()),
    repeat(
        ExpandToFuse(),
        SubgraphFusion(),
        RangeCheckElimination(),
        NodeSplitting(),
        MapFusion(),
    ),
    RedundantCheckElimination(),
    RecomputeStencils(),
    MapCollapse(),
    WcrToAugmentedAssignment(),
)


def auto_optimize(sdfg: Sdfg, *, check: bool = False) -> RunReport:
    """Run `AUTO_OPTIMIZE` on an SDFG in simple form, in place; return the applied transformations."""
    return run_pipeline(sdfg, AUTO_OPTIMIZE, check=check)
