"""The way from simple form to codegen form for FPGAs, on one page."""

from __future__ import annotations

from dcpy.ir.machine import LIMITS, Limits
from dcpy.transforms.cpu.assign_storages import AssignStorages
from dcpy.transforms.expand import ExpandLibraryNodes
from dcpy.transforms.fpga.form_processes import FormProcesses
from dcpy.transforms.fpga.pipeline_loops import PipelineLoops
from dcpy.transforms.fpga.streaming_memory import StreamingMemory
from dcpy.transforms.fusion.map_inlining import MapInlining
from dcpy.transforms.pipeline import Pipeline
from dcpy.transforms.simplify.inline_call import InlineCall

EXPANSIONS = ("pure", "maps")  #: of library nodes, best first: those that consist of maps


def fpga_pipeline(limits: Limits = LIMITS) -> Pipeline:
    """What is done to every program before its hardware is printed."""
    return Pipeline(
        "lower-for-fpga",
        InlineCall(),
        ExpandLibraryNodes(prefer=EXPANSIONS),
        MapInlining(),
        StreamingMemory(),
        FormProcesses(),
        PipelineLoops(),
        AssignStorages(limits),
        ensures="fpga",
    )
