"""The way from simple form to codegen form for GPUs, on one page."""

from __future__ import annotations

from dcpy.base.option_groups.gpu import GpuOptions
from dcpy.base.options import Options
from dcpy.ir.gpu.costs import GPU_COSTS, GPU_LIMITS
from dcpy.ir.machine_model import Costs, Limits
from dcpy.ir.sdfg import Sdfg
from dcpy.transforms.cpu.assign_schedules import AssignSchedules
from dcpy.transforms.cpu.assign_storages import AssignStorages
from dcpy.transforms.cpu.forward_scalars import ForwardScalars
from dcpy.transforms.cpu.hoist_buffers import HoistBuffers
from dcpy.transforms.cpu.share_buffers import ShareBuffers
from dcpy.transforms.expand import ExpandLibraryNodes
from dcpy.transforms.fusion.map_inlining import MapInlining
from dcpy.transforms.gpu.blocks.histogram_privatization import HistogramPrivatization
from dcpy.transforms.gpu.blocks.map_to_grid import MapToGrid
from dcpy.transforms.gpu.blocks.reduce_to_blocks import ReduceToBlocks
from dcpy.transforms.gpu.blocks.transposed_tiles import TransposedTiles
from dcpy.transforms.gpu.blocks.vector_loads import VectorLoads
from dcpy.transforms.gpu.kernels.explicit_index_checks import ExplicitIndexChecks
from dcpy.transforms.gpu.kernels.form_kernels import FormKernels
from dcpy.transforms.gpu.kernels.kernel_fusion import KernelFusion
from dcpy.transforms.gpu.kernels.kernel_union import KernelUnion
from dcpy.transforms.gpu.kernels.maps_into_loops import MapsIntoLoops
from dcpy.transforms.gpu.kernels.recompute_in_kernels import RecomputeInKernels
from dcpy.transforms.gpu.loops.graph_capture import GraphCapture
from dcpy.transforms.gpu.loops.loops_into_kernels import LoopsIntoKernels
from dcpy.transforms.gpu.loops.overlapped_tiles import OverlappedTiles
from dcpy.transforms.gpu.loops.persistent_kernel import PersistentKernel
from dcpy.transforms.gpu.placement.host_control import HostControl
from dcpy.transforms.gpu.placement.place_computation import PlaceComputation
from dcpy.transforms.gpu.placement.place_copies import PlaceCopies
from dcpy.transforms.gpu.placement.place_data import PlaceData
from dcpy.transforms.library_idioms import LibraryIdioms
from dcpy.transforms.loops.loop_speculation import LoopSpeculation
from dcpy.transforms.loops.loop_to_map import LoopToMap
from dcpy.transforms.loops.loop_to_scan import LoopToScan
from dcpy.transforms.loops.loop_versioning import LoopVersioning
from dcpy.transforms.pass_manager import run_pipeline
from dcpy.transforms.pipeline import Pipeline, RunReport
from dcpy.transforms.simplify.calls.inline_call import InlineCall
from dcpy.transforms.simplify.control_flow.state_fusion import StateFusion
from dcpy.transforms.simplify.dataflow.augmented_assignment_to_wcr import AugmentedAssignmentToWCR


def gpu_pipeline(
    options: GpuOptions, costs: Costs = GPU_COSTS, limits: Limits = GPU_LIMITS, libraries: tuple[str, ...] = ()
) -> Pipeline:
    """Return the pipeline for programs before their kernels are printed, on a device with these costs and limits.

    `libraries`: expansions that call libraries of the device's vendor, which are there.
    """
    any_order = not options.deterministic
    return Pipeline(
        "lower-for-gpu",
        InlineCall(),
        MapsIntoLoops(),
        LoopVersioning(),
        LoopToScan(),
        LibraryIdioms(late=True, target="gpu", costs=costs),
        ExpandLibraryNodes(target="gpu", libraries=libraries),
        MapInlining(indices=True),
        AugmentedAssignmentToWCR(loops=True, scattered=True),
        LoopSpeculation(),
        LoopToMap(allocates=False),
        StateFusion(),
        MapInlining(indices=True),
        ForwardScalars(),
        HistogramPrivatization(costs, limits),
        OverlappedTiles(costs, limits),
        KernelFusion(any_order=any_order),
        PlaceComputation(any_order),
        LoopsIntoKernels(),
        RecomputeInKernels(costs, limits),
        ReduceToBlocks(costs, limits),
        FormKernels(limits, any_order),
        PersistentKernel(),
        TransposedTiles(costs),
        VectorLoads(costs),
        MapToGrid(costs),
        KernelUnion(),
        PlaceData(),
        HostControl(),
        ExplicitIndexChecks(),
        PlaceCopies(),
        AssignStorages(limits),
        ShareBuffers(),
        HoistBuffers(),
        AssignSchedules(threads=False),
        *((GraphCapture(),) if options.graphs else ()),
        ensures="codegen",
    )


def lower_for_gpu(sdfg: Sdfg, options: Options | GpuOptions | None = None, *, check: bool = False) -> RunReport:
    """Bring an SDFG, and those that it calls, into codegen form, in place. Never changes results."""
    gpu = options.gpu if isinstance(options, Options) else options or GpuOptions()
    return run_pipeline(sdfg, gpu_pipeline(gpu), check=check)
