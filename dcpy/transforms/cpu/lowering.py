"""Lowering from simple form to codegen form for CPUs: the pipeline."""

from __future__ import annotations

from dcpy.base.option_groups.cpu import CpuOptions
from dcpy.base.options import Options
from dcpy.ir.machine_model import COSTS, LIMITS, Costs, Limits
from dcpy.ir.sdfg import Sdfg
from dcpy.transforms.cpu.assign_schedules import AssignSchedules
from dcpy.transforms.cpu.assign_storages import AssignStorages
from dcpy.transforms.cpu.calls_in_stages import CallsInStages
from dcpy.transforms.cpu.copy_to_move import CopyToMove
from dcpy.transforms.cpu.forward_scalars import ForwardScalars
from dcpy.transforms.cpu.hoist_buffers import HoistBuffers
from dcpy.transforms.cpu.integer_narrowing import IntegerNarrowing
from dcpy.transforms.cpu.keep_buffers import KeepBuffers
from dcpy.transforms.cpu.loops_into_tiles import LoopsIntoTiles
from dcpy.transforms.cpu.outer_loop_vectorization import OuterLoopVectorization
from dcpy.transforms.cpu.partial_sums import PartialSums
from dcpy.transforms.cpu.producer_sinking import ProducerSinking
from dcpy.transforms.cpu.share_buffers import ShareBuffers
from dcpy.transforms.cpu.stores_past_caches import StoresPastCaches
from dcpy.transforms.expand import ExpandLibraryNodes
from dcpy.transforms.fusion.array_renaming import ArrayRenaming
from dcpy.transforms.fusion.map_inlining import MapInlining
from dcpy.transforms.fusion.mirrored_fusion import MirroredFusion
from dcpy.transforms.fusion.reuse_fusion import ReuseFusion
from dcpy.transforms.library_idioms import LibraryIdioms
from dcpy.transforms.loops.line_tiling import LineTiling
from dcpy.transforms.loops.loop_versioning import LoopVersioning
from dcpy.transforms.loops.saved_borders import SavedBorders
from dcpy.transforms.loops.scatter_privatization import ScatterPrivatization
from dcpy.transforms.loops.skewed_jam import SkewedJam
from dcpy.transforms.maps.call_fission import CallFission
from dcpy.transforms.maps.index_set_splitting import IndexSetSplitting
from dcpy.transforms.maps.inner_map_isolation import IsolateInnerMap
from dcpy.transforms.maps.map_linearization import MapLinearization
from dcpy.transforms.maps.map_versioning import MapVersioning
from dcpy.transforms.memory.copy_sinking import CopySinking
from dcpy.transforms.pass_manager import run_pipeline
from dcpy.transforms.passes import Pass
from dcpy.transforms.pipeline import Pipeline, RunReport, repeat
from dcpy.transforms.simplify.calls.inline_call import InlineCall


def cpu_pipeline(options: CpuOptions, costs: Costs = COSTS, limits: Limits = LIMITS) -> Pipeline:
    """The passes that run on every program before code generation, for these costs and limits."""
    on_threads: list[Pass] = [LineTiling(), ScatterPrivatization(), SavedBorders()] if options.openmp else []
    return Pipeline(
        "lower-for-cpu",
        InlineCall(),
        LoopVersioning(),
        *on_threads,
        LibraryIdioms(late=True, costs=costs),
        IsolateInnerMap(),
        CopySinking(),
        MirroredFusion(),
        ExpandLibraryNodes(target="cpu", costs=costs),
        ArrayRenaming(inline=True),
        MapInlining(),
        CallFission(costs=costs),
        CopyToMove(),
        repeat(IndexSetSplitting()),
        SkewedJam(),
        LoopsIntoTiles(costs=costs),
        MapVersioning(),
        PartialSums(costs),
        CallsInStages(costs),
        ForwardScalars(),
        IntegerNarrowing(),
        ProducerSinking(),
        OuterLoopVectorization(costs),
        MapLinearization(costs=costs),
        repeat(ReuseFusion()),
        AssignStorages(limits),
        ShareBuffers(),
        HoistBuffers(),
        KeepBuffers(),
        AssignSchedules(threads=options.openmp, checks=options.bounds_check, costs=costs),
        StoresPastCaches(costs),
        ensures="codegen",
    )


def lower_for_cpu(sdfg: Sdfg, options: Options | CpuOptions | None = None, *, check: bool = False) -> RunReport:
    """Lower an SDFG, and its callees, to codegen form, in place. Never changes results."""
    cpu = options.cpu if isinstance(options, Options) else options or CpuOptions()
    return run_pipeline(sdfg, cpu_pipeline(cpu), check=check)
