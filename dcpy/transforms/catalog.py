"""Every pass by name: visible lists, loaded when a name is first asked for.

Plug-ins add to them with ``TRANSFORMATIONS.extend({"name": "module:Class"})``. A test asserts that they are complete.
"""

from __future__ import annotations

from typing import Any

from dcpy.base.registry import Registry
from dcpy.transforms.api import Transformation
from dcpy.transforms.passes import Pass
from dcpy.transforms.pipeline import Pipeline

_DISTRIBUTED = "dcpy.transforms.distributed"
_FUSION = "dcpy.transforms.fusion"
_MEMORY = "dcpy.transforms.memory"
_LOOPS = "dcpy.transforms.loops"
_MAPS = "dcpy.transforms.maps"
_SIMPLIFY = "dcpy.transforms.simplify"
_CPU = "dcpy.transforms.cpu"

#: names of earlier versions, for one version; those of classes follow from them
FORMER = {
    "block-products": "blocked-recurrences",
    "chain-time-steps": "temporal-pipelining",
    "congruent-scalars": "scalar-value-numbering",
    "lift-dots": "gemv-from-dots",
    "lift-vectors": "gemm-from-vectors",
    "loops-into-blocks": "persistent-kernel",
    "push-sums": "right-looking-updates",
    "raise-sums": "gemm-recognition",
    "record-loops": "graph-capture",
    "repeated-branch-elimination": "branch-value-numbering",
    "share-readers": "read-broadcast",
    "wide-accesses": "vector-loads",
}

TRANSFORMATIONS: Registry[type[Transformation[Any]]] = Registry(
    "transformation",
    {
        "accumulate-transient": f"{_MEMORY}.accumulate_transient:AccumulateTransient",
        "augmented-assignment-to-wcr": f"{_SIMPLIFY}.dataflow.augmented_assignment_to_wcr:AugmentedAssignmentToWCR",
        "buffer-tiling": f"{_MEMORY}.buffer_tiling:BufferTiling",
        "check-motion": f"{_SIMPLIFY}.dataflow.check_motion:CheckMotion",
        "common-subexpression-elimination": (
            f"{_SIMPLIFY}.dataflow.common_subexpression_elimination:CommonSubexpressionElimination"
        ),
        "scalar-value-numbering": f"{_SIMPLIFY}.dataflow.scalar_value_numbering:ScalarValueNumbering",
        "congruent-fusion": f"{_LOOPS}.congruent_fusion:CongruentFusion",
        "constant-propagation": f"{_SIMPLIFY}.dataflow.constant_propagation:ConstantPropagation",
        "dead-branch-elimination": f"{_SIMPLIFY}.control_flow.dead_branch_elimination:DeadBranchElimination",
        "dead-dataflow-elimination": f"{_SIMPLIFY}.dataflow.dead_dataflow_elimination:DeadDataflowElimination",
        "dead-store-elimination": f"{_SIMPLIFY}.dataflow.dead_store_elimination:DeadStoreElimination",
        "dead-state-elimination": f"{_SIMPLIFY}.control_flow.dead_state_elimination:DeadStateElimination",
        "distribute-element-wise": f"{_DISTRIBUTED}.grids.distribute_element_wise:DistributeElementWiseArrayOp",
        "distribute-map": f"{_DISTRIBUTED}.owner_computes.distribute_map:DistributeMap",
        "distribute-product": f"{_DISTRIBUTED}.grids.distribute_product:DistributeProduct",
        "distribute-solver": f"{_DISTRIBUTED}.grids.distribute_solver:DistributeSolver",
        "copy-sinking": f"{_MEMORY}.copy_sinking:CopySinking",
        "double-buffering": f"{_MEMORY}.double_buffering:DoubleBuffering",
        "empty-state-elimination": f"{_SIMPLIFY}.control_flow.empty_state_elimination:EmptyStateElimination",
        "expand-library-node": "dcpy.transforms.expand:ExpandLibraryNode",
        "expand-to-fuse": f"{_FUSION}.expand_to_fuse:ExpandToFuse",
        "extremum-reduction": f"{_LOOPS}.extremum_reduction:ExtremumReduction",
        "horizontal-fusion": f"{_FUSION}.horizontal_fusion:HorizontalFusion",
        "reuse-fusion": f"{_FUSION}.reuse_fusion:ReuseFusion",
        "in-local-storage": f"{_MEMORY}.in_local_storage:InLocalStorage",
        "inline-call": f"{_SIMPLIFY}.calls.inline_call:InlineCall",
        "jump-threading": f"{_SIMPLIFY}.control_flow.jump_threading:JumpThreading",
        "line-tiling": f"{_LOOPS}.line_tiling:LineTiling",
        "loop-distribution": f"{_LOOPS}.loop_distribution:LoopDistribution",
        "loop-fusion": f"{_LOOPS}.loop_fusion:LoopFusion",
        "loop-inspection": f"{_LOOPS}.loop_inspection:LoopInspection",
        "loop-interchange": f"{_LOOPS}.loop_interchange:LoopInterchange",
        "loop-peeling": f"{_LOOPS}.loop_peeling:LoopPeeling",
        "loop-reversal": f"{_LOOPS}.loop_reversal:LoopReversal",
        "loop-skewing": f"{_LOOPS}.loop_skewing:LoopSkewing",
        "loop-speculation": f"{_LOOPS}.loop_speculation:LoopSpeculation",
        "loop-to-map": f"{_LOOPS}.loop_to_map:LoopToMap",
        "loop-to-scan": f"{_LOOPS}.loop_to_scan:LoopToScan",
        "loop-unroll": f"{_LOOPS}.loop_unroll:LoopUnroll",
        "loop-versioning": f"{_LOOPS}.loop_versioning:LoopVersioning",
        "map-collapse": f"{_MAPS}.map_collapse:MapCollapse",
        "map-expansion": f"{_MAPS}.map_expansion:MapExpansion",
        "map-fission": f"{_MAPS}.map_fission:MapFission",
        "isolate-inner-map": f"{_MAPS}.inner_map_isolation:IsolateInnerMap",
        "map-fusion": f"{_FUSION}.map_fusion:MapFusion",
        "map-inlining": f"{_FUSION}.map_inlining:MapInlining",
        "map-interchange": f"{_MAPS}.map_interchange:MapInterchange",
        "map-tiling": f"{_MAPS}.map_tiling:MapTiling",
        "map-to-for-loop": f"{_MAPS}.map_to_for_loop:MapToForLoop",
        "map-linearization": f"{_MAPS}.map_linearization:MapLinearization",
        "map-unrolling": f"{_MAPS}.map_unrolling:MapUnrolling",
        "map-versioning": f"{_MAPS}.map_versioning:MapVersioning",
        "mirrored-fusion": f"{_FUSION}.mirrored_fusion:MirroredFusion",
        "move-loop-into-map": f"{_MAPS}.move_loop_into_map:MoveLoopIntoMap",
        "move-map-into-loop": f"{_MAPS}.move_map_into_loop:MoveMapIntoLoop",
        "node-splitting": f"{_FUSION}.node_splitting:NodeSplitting",
        "array-renaming": f"{_FUSION}.array_renaming:ArrayRenaming",
        "out-local-storage": f"{_MEMORY}.out_local_storage:OutLocalStorage",
        "parallelization": f"{_MAPS}.parallelization:Parallelization",
        "recompute-fusion": f"{_FUSION}.recompute_fusion:RecomputeFusion",
        "call-fission": f"{_MAPS}.call_fission:CallFission",
        "copy-to-move": f"{_CPU}.copy_to_move:CopyToMove",
        "cyclic-shift-to-map": f"{_MAPS}.cyclic_shift_to_map:CyclicShiftToMap",
        "shift-composition": f"{_FUSION}.shift_composition:ShiftComposition",
        "partial-dead-store-elimination": (
            f"{_MAPS}.partial_dead_store_elimination:PartialDeadStoreElimination"
        ),
        "index-set-splitting": f"{_MAPS}.index_set_splitting:IndexSetSplitting",
        "range-check-elimination": f"{_SIMPLIFY}.dataflow.range_check_elimination:RangeCheckElimination",
        "redundant-check-elimination": (
            f"{_SIMPLIFY}.dataflow.redundant_check_elimination:RedundantCheckElimination"
        ),
        "redundant-copy-removal": f"{_SIMPLIFY}.copies.redundant_copy_removal:RedundantCopyRemoval",
        "redundant-reshape-removal": f"{_SIMPLIFY}.copies.redundant_reshape_removal:RedundantReshapeRemoval",
        "redundant-view-removal": f"{_SIMPLIFY}.copies.redundant_view_removal:RedundantViewRemoval",
        "branch-value-numbering": f"{_SIMPLIFY}.control_flow.branch_value_numbering:BranchValueNumbering",
        "rematerialization": f"{_FUSION}.rematerialization:Rematerialization",
        "chosen-iteration": f"{_LOOPS}.chosen_iteration:ChosenIteration",
        "induction-variable-substitution": f"{_LOOPS}.induction_variables:InductionVariableSubstitution",
        "statement-reordering": f"{_LOOPS}.statement_reordering:StatementReordering",
        "symbol-reduction": f"{_LOOPS}.symbol_reduction:SymbolReduction",
        "saved-borders": f"{_LOOPS}.saved_borders:SavedBorders",
        "scatter-privatization": f"{_LOOPS}.scatter_privatization:ScatterPrivatization",
        "scalar-expansion": f"{_LOOPS}.scalar_expansion:ScalarExpansion",
        "scalar-replacement": f"{_MEMORY}.scalar_replacement:ScalarReplacement",
        "scalar-to-symbol-promotion": f"{_SIMPLIFY}.dataflow.scalar_to_symbol_promotion:ScalarToSymbolPromotion",
        "skewed-jam": f"{_LOOPS}.skewed_jam:SkewedJam",
        "state-fusion": f"{_SIMPLIFY}.control_flow.state_fusion:StateFusion",
        "stencil-tiling": f"{_FUSION}.stencil_tiling:StencilTiling",
        "strip-mining": f"{_LOOPS}.strip_mining:StripMining",
        "subgraph-fusion": f"{_FUSION}.subgraph_fusion:SubgraphFusion",
        "symbol-propagation": f"{_SIMPLIFY}.dataflow.symbol_propagation:SymbolPropagation",
        "symbol-versioning": f"{_LOOPS}.symbol_versioning:SymbolVersioning",
        "time-tiling": f"{_LOOPS}.time_tiling:TimeTiling",
        "trailing-continue-elimination": (
            f"{_SIMPLIFY}.control_flow.trailing_continue_elimination:TrailingContinueElimination"
        ),
        "transient-reuse": f"{_MEMORY}.transient_reuse:TransientReuse",
        "trivial-loop-elimination": f"{_SIMPLIFY}.control_flow.trivial_loop_elimination:TrivialLoopElimination",
        "trivial-map-elimination": f"{_SIMPLIFY}.control_flow.trivial_map_elimination:TrivialMapElimination",
        "unroll-and-jam": f"{_LOOPS}.unroll_and_jam:UnrollAndJam",
        "unused-container-elimination": f"{_SIMPLIFY}.dataflow.unused_container_elimination:UnusedContainerElimination",
        "vectorization": f"{_MAPS}.vectorization:Vectorization",
        "invariant-isolation": f"{_LOOPS}.invariant_isolation:InvariantIsolation",
        "loop-invariant-code-motion": f"{_LOOPS}.loop_invariant_code_motion:LoopInvariantCodeMotion",
        "wrap-around-variable": f"{_LOOPS}.wrap_around_variables:WrapAroundVariable",
        "wcr-to-augmented-assignment": f"{_SIMPLIFY}.dataflow.wcr_to_augmented_assignment:WcrToAugmentedAssignment",
    },
    former_names=FORMER,
)

_FPGA = "dcpy.transforms.fpga"
_GPU = "dcpy.transforms.gpu"

#: passes that are no transformations: they decide about a whole graph, or consist of others
PASSES: Registry[type[Pass]] = Registry(
    "pass",
    {
        "array-splitting": f"{_FUSION}.array_splitting:ArraySplitting",
        "outline-repeated-calls": f"{_SIMPLIFY}.calls.outline_repeated_calls:OutlineRepeatedCalls",
        "assign-schedules": f"{_CPU}.assign_schedules:AssignSchedules",
        "temporal-pipelining": f"{_FPGA}.temporal_pipelining:TemporalPipelining",
        "place-in-banks": f"{_FPGA}.place_in_banks:PlaceInBanks",
        "decouple-memory": f"{_FPGA}.decouple_memory:DecoupleMemory",
        "form-processes": f"{_FPGA}.form_processes:FormProcesses",
        "fpga-transform": f"{_FPGA}.fpga_transform:FPGATransform",
        "interleave-accumulation": f"{_FPGA}.interleave_accumulation:InterleaveAccumulation",
        "pipeline-loops": f"{_FPGA}.pipeline_loops:PipelineLoops",
        "products-in-loops": f"{_FPGA}.products_in_loops:ProductsInLoops",
        "read-broadcast": f"{_FPGA}.read_broadcast:ReadBroadcast",
        "streaming-composition": f"{_FPGA}.streaming_composition:StreamingComposition",
        "vectorize-ports": f"{_FPGA}.vectorize_ports:VectorizePorts",
        "streaming-memory": f"{_FPGA}.streaming_memory:StreamingMemory",
        "stores-past-caches": f"{_CPU}.stores_past_caches:StoresPastCaches",
        "assign-storages": f"{_CPU}.assign_storages:AssignStorages",
        "choose-distributions": f"{_DISTRIBUTED}.planning.choose_distributions:ChooseDistributions",
        "expand-library-nodes": "dcpy.transforms.expand:ExpandLibraryNodes",
        "explicit-index-checks": f"{_GPU}.kernels.explicit_index_checks:ExplicitIndexChecks",
        "form-kernels": f"{_GPU}.kernels.form_kernels:FormKernels",
        "forward-scalars": f"{_CPU}.forward_scalars:ForwardScalars",
        "integer-narrowing": f"{_CPU}.integer_narrowing:IntegerNarrowing",
        "hoist-buffers": f"{_CPU}.hoist_buffers:HoistBuffers",
        "histogram-privatization": f"{_GPU}.blocks.histogram_privatization:HistogramPrivatization",
        "maps-into-loops": f"{_GPU}.kernels.maps_into_loops:MapsIntoLoops",
        "host-control": f"{_GPU}.placement.host_control:HostControl",
        "insert-communication": f"{_DISTRIBUTED}.communication.insert_communication:InsertCommunication",
        "keep-buffers": f"{_CPU}.keep_buffers:KeepBuffers",
        "library-idioms": "dcpy.transforms.library_idioms:LibraryIdioms",
        "localize": f"{_DISTRIBUTED}.local_form.localize:Localize",
        "localize-reductions": f"{_DISTRIBUTED}.local_form.localize_reductions:LocalizeReductions",
        "pack-returned-views": f"{_DISTRIBUTED}.owner_computes.pack_returned_views:PackReturnedViews",
        "place-temporaries": f"{_DISTRIBUTED}.owner_computes.place_temporaries:PlaceTemporaries",
        "producer-sinking": f"{_CPU}.producer_sinking:ProducerSinking",
        "persistent-kernel": f"{_GPU}.loops.persistent_kernel:PersistentKernel",
        "loops-into-kernels": f"{_GPU}.loops.loops_into_kernels:LoopsIntoKernels",
        "calls-in-stages": f"{_CPU}.calls_in_stages:CallsInStages",
        "loops-into-tiles": f"{_CPU}.loops_into_tiles:LoopsIntoTiles",
        "outer-loop-vectorization": f"{_CPU}.outer_loop_vectorization:OuterLoopVectorization",
        "deep-halos": f"{_DISTRIBUTED}.halos.deep_halos:DeepHalos",
        "whole-copies": f"{_DISTRIBUTED}.owner_computes.whole_copies:WholeCopies",
        "infer-halos": f"{_DISTRIBUTED}.halos.infer_halos:InferHalos",
        "kernel-fusion": f"{_GPU}.kernels.kernel_fusion:KernelFusion",
        "kernel-union": f"{_GPU}.kernels.kernel_union:KernelUnion",
        "map-to-grid": f"{_GPU}.blocks.map_to_grid:MapToGrid",
        "partial-sums": f"{_CPU}.partial_sums:PartialSums",
        "overlap-exchange": f"{_DISTRIBUTED}.halos.overlap_exchange:OverlapExchange",
        "overlapped-tiles": f"{_GPU}.loops.overlapped_tiles:OverlappedTiles",
        "place-computation": f"{_GPU}.placement.place_computation:PlaceComputation",
        "place-copies": f"{_GPU}.placement.place_copies:PlaceCopies",
        "place-data": f"{_GPU}.placement.place_data:PlaceData",
        "recompute-in-kernels": f"{_GPU}.kernels.recompute_in_kernels:RecomputeInKernels",
        "graph-capture": f"{_GPU}.loops.graph_capture:GraphCapture",
        "recompute-stencils": f"{_FUSION}.recompute_stencils:RecomputeStencils",
        "remove-redundant-communication": (
            f"{_DISTRIBUTED}.communication.remove_redundant_communication:RemoveRedundantCommunication"
        ),
        "reduce-to-blocks": f"{_GPU}.blocks.reduce_to_blocks:ReduceToBlocks",
        "vector-loads": f"{_GPU}.blocks.vector_loads:VectorLoads",
        "share-buffers": f"{_CPU}.share_buffers:ShareBuffers",
        "specialize-solvers": f"{_DISTRIBUTED}.grids.specialize_solvers:SpecializeSolvers",
        "specialize-products": f"{_DISTRIBUTED}.grids.specialize_products:SpecializeProducts",
        "transposed-tiles": f"{_GPU}.blocks.transposed_tiles:TransposedTiles",
    },
    former_names=FORMER,
)


def class_named(name: str) -> type[Pass] | None:
    """Return the transformation or pass whose class has this name, today's or a former one; None if there is none."""
    for registry in (TRANSFORMATIONS, PASSES):
        for known in registry:
            if registry.attribute(known) == name:
                return registry[known]
        for former in FORMER:
            if "".join(map(str.capitalize, former.split("-"))) == name and former in registry:
                return registry[former]
    return None

#: what scripts of the paper call transformations that have a name of their own here
NAMES_OF_THE_PAPER = {
    "ElementWiseArrayOperation": "distribute-element-wise",
    "ElementWiseArrayOperation2D": "distribute-element-wise{dims=2}",
    "RemoveRedundantComm": "remove-redundant-communication",
    "RedundantComm2D": "remove-redundant-communication",
    "FPGATransformSDFG": "fpga-transform",
}

#: library (or library/late) -> the pipeline that folds what it can do along with its own work; filled by `dcpy.plugins`
LIBRARY_IDIOMS: Registry[Pipeline] = Registry("library with idioms")

PIPELINES: Registry[Pipeline] = Registry(
    "pipeline",
    {
        "auto-optimize": "dcpy.transforms.auto.pipeline:AUTO_OPTIMIZE",
        "distribute": f"{_DISTRIBUTED}.pipeline:DISTRIBUTE",
        "one-rank": f"{_DISTRIBUTED}.pipeline:LOCALIZE",
        "gathered": f"{_DISTRIBUTED}.pipeline:GATHERED",
        "keep-functions": f"{_SIMPLIFY}.pipeline:KEEP_FUNCTIONS",
        "overlap": f"{_DISTRIBUTED}.pipeline:OVERLAP",
        "results": f"{_DISTRIBUTED}.pipeline:RESULTS",
        "simplify": f"{_SIMPLIFY}.pipeline:SIMPLIFY",
        "temporaries": f"{_DISTRIBUTED}.pipeline:TEMPORARIES",
    },
)
