"""The way from simple form to codegen form for FPGAs, on one page."""

from __future__ import annotations

from dcpy.ir.machine_model import COSTS, LIMITS, Costs, Limits
from dcpy.transforms.cpu.assign_storages import AssignStorages
from dcpy.transforms.expand import ExpandLibraryNodes
from dcpy.transforms.fpga.decouple_memory import DecoupleMemory
from dcpy.transforms.fpga.form_processes import FormProcesses
from dcpy.transforms.fpga.interleave_accumulation import InterleaveAccumulation
from dcpy.transforms.fpga.pipeline_loops import PipelineLoops
from dcpy.transforms.fpga.place_in_banks import PlaceInBanks
from dcpy.transforms.fpga.products_in_loops import ProductsInLoops
from dcpy.transforms.fpga.read_broadcast import ReadBroadcast
from dcpy.transforms.fpga.streaming_composition import StreamingComposition
from dcpy.transforms.fpga.streaming_memory import StreamingMemory
from dcpy.transforms.fpga.temporal_pipelining import TemporalPipelining
from dcpy.transforms.fpga.vectorize_ports import VectorizePorts
from dcpy.transforms.fusion.map_inlining import MapInlining
from dcpy.transforms.pipeline import Pipeline
from dcpy.transforms.simplify.calls.inline_call import InlineCall

EXPANSIONS = ("maps", "pure")  #: of library nodes, best first: loops that are not those of a processor
SYSTOLIC = "systolic"  #: the expansion of products of matrices as a chain of processing elements


def fpga_pipeline(
    limits: Limits = LIMITS,
    costs: Costs = COSTS,
    *,
    systolic: bool = False,
    steps: int = 1,
    width: int = 0,
    lanes: int = 0,
    banks: str = "",
) -> Pipeline:
    """Return the pipeline for programs on FPGAs before their queues get depths (`targets.fpga.infer_depths`)."""
    prefer = (SYSTOLIC, *EXPANSIONS) if systolic else EXPANSIONS
    return Pipeline(
        "lower-for-fpga",
        *((PlaceInBanks(banks),) if banks else ()),
        InlineCall(),
        *((ProductsInLoops(),) if systolic else ()),
        ExpandLibraryNodes(prefer, "fpga", costs),
        MapInlining(),
        *((TemporalPipelining(steps),) if steps > 1 else ()),
        StreamingMemory(),
        FormProcesses(),
        InterleaveAccumulation(),
        DecoupleMemory(),
        StreamingComposition(),
        ReadBroadcast(),
        *((VectorizePorts(width, lanes),) if width else ()),
        PipelineLoops(),
        AssignStorages(limits),
    )
