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

TRANSFORMATIONS: Registry[type[Transformation[Any]]] = Registry(
    "transformation",
    {
        "accumulate-transient": f"{_MEMORY}.accumulate_transient:AccumulateTransient",
        "augmented-assignment-to-wcr": f"{_SIMPLIFY}.augmented_assignment_to_wcr:AugmentedAssignmentToWCR",
        "buffer-tiling": f"{_MEMORY}.buffer_tiling:BufferTiling",
        "check-motion": f"{_SIMPLIFY}.check_motion:CheckMotion",
        "common-subexpression-elimination": (
            f"{_SIMPLIFY}.common_subexpression_elimination:CommonSubexpressionElimination"
        ),
        "congruent-scalars": f"{_SIMPLIFY}.congruent_scalars:CongruentScalars",
        "congruent-fusion": f"{_LOOPS}.congruent_fusion:CongruentFusion",
        "constant-propagation": f"{_SIMPLIFY}.constant_propagation:ConstantPropagation",
        "dead-branch-elimination": f"{_SIMPLIFY}.dead_branch_elimination:DeadBranchElimination",
        "dead-dataflow-elimination": f"{_SIMPLIFY}.dead_dataflow_elimination:DeadDataflowElimination",
        "dead-state-elimination": f"{_SIMPLIFY}.dead_state_elimination:DeadStateElimination",
        "distribute-element-wise": f"{_DISTRIBUTED}.element_wise:DistributeElementWiseArrayOp",
        "distribute-map": f"{_DISTRIBUTED}.distribute_map:DistributeMap",
        "distribute-product": f"{_DISTRIBUTED}.distribute_product:DistributeProduct",
        "distribute-solver": f"{_DISTRIBUTED}.distribute_solver:DistributeSolver",
        "copy-sinking": f"{_MEMORY}.copy_sinking:CopySinking",
        "double-buffering": f"{_MEMORY}.double_buffering:DoubleBuffering",
        "empty-state-elimination": f"{_SIMPLIFY}.empty_state_elimination:EmptyStateElimination",
        "expand-library-node": "dcpy.transforms.expand:ExpandLibraryNode",
        "expand-to-fuse": f"{_FUSION}.expand_to_fuse:ExpandToFuse",
        "extremum-reduction": f"{_LOOPS}.extremum_reduction:ExtremumReduction",
        "horizontal-fusion": f"{_FUSION}.horizontal_fusion:HorizontalFusion",
        "in-local-storage": f"{_MEMORY}.in_local_storage:InLocalStorage",
        "inline-call": f"{_SIMPLIFY}.inline_call:InlineCall",
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
        "map-versioning": f"{_MAPS}.map_versioning:MapVersioning",
        "mirrored-fusion": f"{_FUSION}.mirrored_fusion:MirroredFusion",
        "move-loop-into-map": f"{_MAPS}.move_loop_into_map:MoveLoopIntoMap",
        "move-map-into-loop": f"{_MAPS}.move_map_into_loop:MoveMapIntoLoop",
        "node-splitting": f"{_FUSION}.node_splitting:NodeSplitting",
        "array-renaming": f"{_FUSION}.array_renaming:ArrayRenaming",
        "out-local-storage": f"{_MEMORY}.out_local_storage:OutLocalStorage",
        "parallelization": f"{_MAPS}.parallelization:Parallelization",
        "recompute-fusion": f"{_FUSION}.recompute_fusion:RecomputeFusion",
        "redundant-copy-removal": f"{_SIMPLIFY}.redundant_copy_removal:RedundantCopyRemoval",
        "redundant-reshape-removal": f"{_SIMPLIFY}.redundant_reshape_removal:RedundantReshapeRemoval",
        "redundant-view-removal": f"{_SIMPLIFY}.redundant_view_removal:RedundantViewRemoval",
        "repeated-branch-elimination": f"{_SIMPLIFY}.repeated_branch_elimination:RepeatedBranchElimination",
        "rematerialization": f"{_FUSION}.rematerialization:Rematerialization",
        "chosen-iteration": f"{_LOOPS}.chosen_iteration:ChosenIteration",
        "induction-variable-substitution": f"{_LOOPS}.induction_variables:InductionVariableSubstitution",
        "statement-reordering": f"{_LOOPS}.statement_reordering:StatementReordering",
        "symbol-reduction": f"{_LOOPS}.symbol_reduction:SymbolReduction",
        "saved-borders": f"{_LOOPS}.saved_borders:SavedBorders",
        "scatter-privatization": f"{_LOOPS}.scatter_privatization:ScatterPrivatization",
        "scalar-expansion": f"{_LOOPS}.scalar_expansion:ScalarExpansion",
        "scalar-to-symbol-promotion": f"{_SIMPLIFY}.scalar_to_symbol_promotion:ScalarToSymbolPromotion",
        "skewed-jam": f"{_LOOPS}.skewed_jam:SkewedJam",
        "state-fusion": f"{_SIMPLIFY}.state_fusion:StateFusion",
        "stencil-tiling": f"{_FUSION}.stencil_tiling:StencilTiling",
        "strip-mining": f"{_LOOPS}.strip_mining:StripMining",
        "subgraph-fusion": f"{_FUSION}.subgraph_fusion:SubgraphFusion",
        "symbol-propagation": f"{_SIMPLIFY}.symbol_propagation:SymbolPropagation",
        "symbol-versioning": f"{_LOOPS}.symbol_versioning:SymbolVersioning",
        "time-tiling": f"{_LOOPS}.time_tiling:TimeTiling",
        "trailing-continue-elimination": f"{_SIMPLIFY}.trailing_continue_elimination:TrailingContinueElimination",
        "transient-reuse": f"{_MEMORY}.transient_reuse:TransientReuse",
        "trivial-loop-elimination": f"{_SIMPLIFY}.trivial_loop_elimination:TrivialLoopElimination",
        "trivial-map-elimination": f"{_SIMPLIFY}.trivial_map_elimination:TrivialMapElimination",
        "unroll-and-jam": f"{_LOOPS}.unroll_and_jam:UnrollAndJam",
        "unused-container-elimination": f"{_SIMPLIFY}.unused_container_elimination:UnusedContainerElimination",
        "vectorization": f"{_MAPS}.vectorization:Vectorization",
        "wrap-around-variable": f"{_LOOPS}.wrap_around_variables:WrapAroundVariable",
        "wcr-to-augmented-assignment": f"{_SIMPLIFY}.wcr_to_augmented_assignment:WcrToAugmentedAssignment",
    },
)

_CPU = "dcpy.transforms.cpu"
_FPGA = "dcpy.transforms.fpga"
_GPU = "dcpy.transforms.gpu"

#: passes that are no transformations: they decide about a whole graph, or consist of others
PASSES: Registry[type[Pass]] = Registry(
    "pass",
    {
        "outline-repeated-calls": f"{_SIMPLIFY}.outline_repeated_calls:OutlineRepeatedCalls",
        "assign-schedules": f"{_CPU}.assign_schedules:AssignSchedules",
        "chain-time-steps": f"{_FPGA}.chain_time_steps:ChainTimeSteps",
        "place-in-banks": f"{_FPGA}.place_in_banks:PlaceInBanks",
        "decouple-memory": f"{_FPGA}.decouple_memory:DecoupleMemory",
        "form-processes": f"{_FPGA}.form_processes:FormProcesses",
        "fpga-transform": f"{_FPGA}.fpga_transform:FPGATransform",
        "interleave-accumulation": f"{_FPGA}.interleave_accumulation:InterleaveAccumulation",
        "pipeline-loops": f"{_FPGA}.pipeline_loops:PipelineLoops",
        "products-in-loops": f"{_FPGA}.products_in_loops:ProductsInLoops",
        "share-readers": f"{_FPGA}.share_readers:ShareReaders",
        "streaming-composition": f"{_FPGA}.streaming_composition:StreamingComposition",
        "vectorize-ports": f"{_FPGA}.vectorize_ports:VectorizePorts",
        "streaming-memory": f"{_FPGA}.streaming_memory:StreamingMemory",
        "stores-past-caches": f"{_CPU}.stores_past_caches:StoresPastCaches",
        "assign-storages": f"{_CPU}.assign_storages:AssignStorages",
        "choose-distributions": f"{_DISTRIBUTED}.planning.choose_distributions:ChooseDistributions",
        "expand-library-nodes": "dcpy.transforms.expand:ExpandLibraryNodes",
        "explicit-index-checks": f"{_GPU}.explicit_index_checks:ExplicitIndexChecks",
        "form-kernels": f"{_GPU}.form_kernels:FormKernels",
        "forward-scalars": f"{_CPU}.forward_scalars:ForwardScalars",
        "hoist-buffers": f"{_CPU}.hoist_buffers:HoistBuffers",
        "histogram-privatization": f"{_GPU}.histogram_privatization:HistogramPrivatization",
        "maps-into-loops": f"{_GPU}.maps_into_loops:MapsIntoLoops",
        "host-control": f"{_GPU}.host_control:HostControl",
        "insert-communication": f"{_DISTRIBUTED}.insert_communication:InsertCommunication",
        "keep-buffers": f"{_CPU}.keep_buffers:KeepBuffers",
        "library-idioms": "dcpy.transforms.library_idioms:LibraryIdioms",
        "localize": f"{_DISTRIBUTED}.localize:Localize",
        "localize-reductions": f"{_DISTRIBUTED}.localize_reductions:LocalizeReductions",
        "place-temporaries": f"{_DISTRIBUTED}.place_temporaries:PlaceTemporaries",
        "loops-into-blocks": f"{_GPU}.loops_into_blocks:LoopsIntoBlocks",
        "loops-into-kernels": f"{_GPU}.loops_into_kernels:LoopsIntoKernels",
        "calls-in-stages": f"{_CPU}.calls_in_stages:CallsInStages",
        "loops-into-tiles": f"{_CPU}.loops_into_tiles:LoopsIntoTiles",
        "outer-loop-vectorization": f"{_CPU}.outer_loop_vectorization:OuterLoopVectorization",
        "deep-halos": f"{_DISTRIBUTED}.deep_halos:DeepHalos",
        "whole-copies": f"{_DISTRIBUTED}.whole_copies:WholeCopies",
        "infer-halos": f"{_DISTRIBUTED}.infer_halos:InferHalos",
        "kernel-fusion": f"{_GPU}.kernel_fusion:KernelFusion",
        "kernel-union": f"{_GPU}.kernel_union:KernelUnion",
        "map-to-grid": f"{_GPU}.map_to_grid:MapToGrid",
        "partial-sums": f"{_CPU}.partial_sums:PartialSums",
        "overlap-exchange": f"{_DISTRIBUTED}.overlap_exchange:OverlapExchange",
        "overlapped-tiles": f"{_GPU}.overlapped_tiles:OverlappedTiles",
        "place-computation": f"{_GPU}.place_computation:PlaceComputation",
        "place-copies": f"{_GPU}.place_copies:PlaceCopies",
        "place-data": f"{_GPU}.place_data:PlaceData",
        "recompute-in-kernels": f"{_GPU}.recompute_in_kernels:RecomputeInKernels",
        "record-loops": f"{_GPU}.record_loops:RecordLoops",
        "recompute-stencils": f"{_FUSION}.recompute_stencils:RecomputeStencils",
        "remove-redundant-communication": f"{_DISTRIBUTED}.redundant_communication:RemoveRedundantCommunication",
        "reduce-to-blocks": f"{_GPU}.reduce_to_blocks:ReduceToBlocks",
        "wide-accesses": f"{_GPU}.wide_accesses:WideAccesses",
        "share-buffers": f"{_CPU}.share_buffers:ShareBuffers",
        "specialize-solvers": f"{_DISTRIBUTED}.specialize_solvers:SpecializeSolvers",
        "specialize-products": f"{_DISTRIBUTED}.specialize_products:SpecializeProducts",
        "transposed-tiles": f"{_GPU}.transposed_tiles:TransposedTiles",
    },
)

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
        "simplify": f"{_SIMPLIFY}.pipeline:SIMPLIFY",
        "temporaries": f"{_DISTRIBUTED}.pipeline:TEMPORARIES",
    },
)
