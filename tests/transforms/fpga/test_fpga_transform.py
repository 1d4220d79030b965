"""Arrays of parts that a device can run get a place beside it; copies are made where somebody needs them."""

import numpy as np
import pytest

import dcpy
from dcpy.transforms.fpga.fpga_transform import FPGATransform
from tests.support.passes import Passed

ARGS = "sdfg @f(x: f64[N], y: f64[N], z: f64[N]) symbols(N: size)"


def map_(body, domain="0:N"):
    return f"state {{ map i = {domain} {{ {body} }} }}"


def test_copies_there_and_back():
    body = map_("tasklet (a <- x[i], b <- y[i]) -> (o -> y[i]) { o = a + b }")
    Passed(f"{ARGS} {{ {body} }}", FPGATransform()).becomes(
        ARGS
        + """ {
          data fpga_x: f64[N] transient @global @heap
          data fpga_y: f64[N] transient @global @heap
          state { copy x[0:N] -> fpga_x[0:N] copy y[0:N] -> fpga_y[0:N] }
          state { map i = 0:N { tasklet (a <- fpga_x[i], b <- fpga_y[i]) -> (o -> fpga_y[i]) { o = a + b } } }
          state { copy fpga_y[0:N] -> y[0:N] }
        }"""
    ).same_values(N=[0, 3]).says("x: is copied there", "y: is copied there and back")


def test_what_is_written_entirely_is_not_brought():
    whole = map_("copy x[i] -> y[i]")
    assert "copy y" not in Passed(f"{ARGS} {{ {whole} }}", FPGATransform()).same_values(N=[0, 3]).text
    part = map_("copy x[i] -> y[i]", "0:N - 1")
    assert "copy y[0:N] -> fpga_y" in Passed(f"{ARGS} {{ {part} }}", FPGATransform()).same_values(N=[1, 3]).text


def test_what_nobody_else_needs_is_beside_the_device_alone():
    second = "state { map j = 0:N { copy t[j] -> y[j] } }"
    declared = "data t: f64[N] transient"
    found = Passed(f"{ARGS} {{ {declared} {map_('copy x[i] -> t[i]')} {second} }}", FPGATransform())
    assert "data t: f64[N] transient @global @heap" in found.text
    assert found.text.count("copy x[0:N]") == 1
    found.same_values(N=[0, 3]).says("t: is in the memory of the device only")


def test_the_host_keeps_what_hardware_has_not():
    call = "foreign () -> (o -> y[0]) from c { o = run() }"
    behind = "state { map j = 0:N { copy y[j] -> z[j] } }"
    found = Passed(f"{ARGS} {{ {map_('copy x[i] -> y[i]')} state {{ {call} }} {behind} }}", FPGATransform())
    assert found.text.count("y[0:N] -> fpga_y") == 1, "what the host has changed is brought again"
    found.says("it calls", applied=False)


@pytest.mark.cc
def test_the_papers_script():
    N = dcpy.symbol("N")

    @dcpy.program
    def axpy(a: dcpy.float32, x: dcpy.float32[N], y: dcpy.float32[N]):
        y[:] = a * x + y

    sdfg = axpy.to_sdfg()
    sdfg.apply(dcpy.FPGATransformSDFG)
    assert sdfg.apply_repeated(dcpy.StreamingMemory) == 1
    assert sdfg.apply_repeated(dcpy.StreamingComposition) == 1, "the product goes to the sum through a queue"
    x, y = np.ones(9, np.float32), np.ones(9, np.float32)
    sdfg.compile(device="fpga")(np.float32(2), x, y)
    assert (y == 3).all()
