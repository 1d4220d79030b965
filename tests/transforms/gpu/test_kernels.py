"""All kernels of NPBench on the way to GPUs: each verifies in codegen form, and computes what NumPy computes."""

from dataclasses import replace

import pytest

import dcpy
from benchmarks.npbench import kernels
from dcpy import driver
from dcpy.base.option_groups.gpu import GpuOptions
from dcpy.ir.analysis.device_side import kernels as kernels_of
from dcpy.ir.gpu.costs import GPU_COSTS
from dcpy.ir.verify import form_named, verify
from dcpy.transforms.expand import ExpandLibraryNodes
from dcpy.transforms.gpu.lowering import gpu_pipeline
from dcpy.transforms.pass_manager import run_pipeline
from dcpy.transforms.pipeline import Pipeline
from tests.benchmarks.transformations import Reference
from tests.support.tiers import some

#: the pipeline, for blocks of few threads, and without calls of libraries, which are not interpreted
PASSES = Pipeline(
    "lower-for-gpu",
    *(
        ExpandLibraryNodes(("device", "maps", "pure"), "gpu") if isinstance(step, ExpandLibraryNodes) else step
        for step in gpu_pipeline(GpuOptions(), replace(GPU_COSTS, block=32)).steps()
    ),
    ensures="codegen",
)
SEQUENTIAL = ("crc16", "seidel_2d")  #: nothing for a device in them
SLOW = ("lenet", "channel_flow")  #: in the interpreter


def lowered(reference):
    sdfg = dcpy.program(reference.kernel.function).to_sdfg(**reference.arguments)
    driver.auto_optimize(sdfg)
    run_pipeline(sdfg, PASSES)
    return sdfg


@pytest.mark.parametrize("name", some(kernels(), *(name for name in kernels() if name not in SLOW)))
def test_it_computes_what_numpy_computes(name):
    reference = Reference(kernels()[name])
    sdfg = lowered(reference)
    verify(sdfg, form_named("codegen"))
    reference.check(sdfg)
    assert bool(kernels_of(sdfg)) == (name not in SEQUENTIAL)
