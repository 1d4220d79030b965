"""Python programs that are no hardware: an error with the line, before any code is generated or run."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import DcpyError

f32 = dcpy.float32
N = dcpy.symbol("N", positive=True)
M = dcpy.symbol("M", multiple_of=4)


def halves(x: dcpy.float16[N]):
    return x + x


def complex_numbers(x: dcpy.complex64[N]):
    return x * 2


def two_producers(x: f32[N], y: f32[N]):
    s = dcpy.define_stream(f32, 2)
    with dcpy.dataflow():

        @dcpy.process
        def one():
            for i in range(N):
                s.push(x[i])

        @dcpy.process
        def other():
            for i in range(N):
                s.push(x[i] + 1)

        @dcpy.process
        def take():
            for i in range(N):
                y[i] = s.pop() + s.pop()


def left_over(x: f32[N], y: f32[N]):
    s = dcpy.define_stream(f32, 2)
    with dcpy.dataflow():

        @dcpy.process
        def give():
            for i in range(N):
                s.push(x[i])

        @dcpy.process
        def take():
            for i in range(N - 1):
                y[i] = s.pop()


def data_decide(x: f32[N], y: f32[N]):
    s = dcpy.define_stream(f32, 2)
    with dcpy.dataflow():

        @dcpy.process
        def give():
            for i in range(N):
                if x[i] > 0:
                    s.push(x[i])

        @dcpy.process
        def take():
            for i in range(N):
                y[i] = s.pop()


def until_data_say_so(x: f32[N], y: f32[N]):
    s = dcpy.define_stream(f32, 2)
    with dcpy.dataflow():

        @dcpy.process
        def give():
            i = 0
            while x[i] > 0:
                s.push(x[i])
                i += 1

        @dcpy.process
        def take():
            for i in range(N):
                y[i] = s.pop()


def one_array_for_two(x: f32[N], y: f32[N]):
    with dcpy.dataflow():

        @dcpy.process
        def first():
            for i in range(N):
                y[i] = x[i]

        @dcpy.process
        def second():
            for i in range(N):
                x[i] = 1


def an_address_from_data(x: f32[N], k: dcpy.int64[N], y: f32[N]):
    s = dcpy.define_stream(f32, 2)
    with dcpy.dataflow():

        @dcpy.process
        def give():
            for i in range(N):
                s.push(x[k[i]])

        @dcpy.process
        def take():
            for i in range(N):
                y[i] = s.pop()


def a_queue_from_data(x: f32[N], k: dcpy.int64[N], y: f32[N]):
    s = dcpy.define_streamarray(4, f32, 2)
    with dcpy.dataflow():

        @dcpy.process
        def give():
            for i in range(N):
                s[k[i]].push(x[i])

        @dcpy.process
        def take():
            for i in range(N):
                y[i] = s[i % 4].pop()


def a_circle(x: f32[8], y: f32[8]):
    s = dcpy.define_stream(f32, 2)
    t = dcpy.define_stream(f32, 2)
    with dcpy.dataflow():

        @dcpy.process
        def give():
            for i in range(8):
                s.push(x[i] + t.pop())

        @dcpy.process
        def take():
            for i in range(8):
                y[i] = s.pop()
                t.push(y[i])


def a_shallow_queue(x: f32[8], y: f32[8]):
    s = dcpy.define_stream(f32, 2)
    t = dcpy.define_stream(f32, 2)
    with dcpy.dataflow():

        @dcpy.process
        def give():
            for i in range(8):
                s.push(x[i])
            t.push(x[0])

        @dcpy.process
        def take():
            y[0] = t.pop()
            for i in range(8):
                y[i] = s.pop()


def memory_of_a_symbol(x: f32[N], y: f32[N]):
    with dcpy.dataflow():

        @dcpy.process
        def reverse():
            kept = np.empty(N, np.float32)
            for i in range(N):
                kept[i] = x[i]
            for j in range(N):
                y[j] = kept[N - 1 - j]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (halves, "is f16, and hardware has floats of 32 and 64 bits"),
        (complex_numbers, "is c64, and hardware has no complex numbers"),
        (two_producers, "'one' pushes to 's', and the process 'other' pushes to it, too"),
        (left_over, "tokens are pushed to"),
        (data_decide, "depends on a condition, or on data"),
        (until_data_say_so, "ends when data say so|depends on a condition"),
        (one_array_for_two, "touch|writes"),
        (an_address_from_data, "a process cannot check that, because it passes elements on after the check"),
        (a_queue_from_data, "the queue is unknown"),
        (a_circle, r"the network stops for ever: .*give waits for .*take, which waits for .*give"),
        (a_circle, "no depth helps"),
        (a_shallow_queue, r"s is full, 2 of 2, in cycle \d+, and keeps results"),
        (a_shallow_queue, "the deadlock disappears with a capacity of 's': 8"),
        (memory_of_a_symbol, "is on the chip, and has the size N"),
        (memory_of_a_symbol, r"dcpy.float32\[1024\], or sdfg.specialize\({'N': 1024}\)"),
    ],
)
def test_no_hardware(function, message):
    with pytest.raises(DcpyError, match=message) as caught:
        dcpy.program(function).to_sdfg().code(device="fpga")
    assert "test_fpga_mistakes.py:" in str(caught.value)


def scaled(x: f32[N], y: f32[N]):
    y[:] = x * 2


@pytest.mark.parametrize(
    ("banks", "message"),
    [
        ("x=ddr 4", "'x' is in the bank ddr 4, and u250 has 4 of that kind, from 0 on"),
        ("y=hbm 0", "'y' is in the bank hbm 0, and u250 has none of that kind"),
        ("x=ddr 0:2", "2 banks are not shown to divide dimension 0 of 'x' evenly"),
    ],
)
def test_banks_that_do_not_fit(banks, message):
    with pytest.raises(DcpyError, match=message) as caught:
        dcpy.program(scaled).to_sdfg().code(device="fpga", **{"fpga.banks": banks})
    assert "test_fpga_mistakes.py:" in str(caught.value)


@pytest.mark.parametrize(
    ("banks", "message"),
    [
        ("z=ddr 1", "'scaled' has no array 'z' to be in ddr 1: there are 'x', 'y'"),
        ("x=sram 1", "'x=sram 1' is no array with its bank"),
        ("x", "'x' is no array with its bank"),
    ],
)
def test_what_is_no_bank(banks, message):
    with pytest.raises(DcpyError, match=message) as caught:
        dcpy.program(scaled).to_sdfg().code(device="fpga", **{"fpga.banks": banks})
    assert "fpga.banks=" in str(caught.value)


def doubled(x: f32[M], y: f32[M]):
    y[:] = x * 2


def test_banks_are_in_the_tools_configuration():
    banks = {"fpga.banks": "y=ddr 3, x=hbm 4:8", "fpga.platform": "u280", "fpga.mode": "hardware"}
    with pytest.raises(DcpyError, match="'y' is in the bank ddr 3, and u280 has 2"):
        dcpy.program(doubled).to_sdfg().code(device="fpga", **banks)
    text = dcpy.program(doubled).to_sdfg().code(device="fpga", **banks | {"fpga.banks": "y=ddr 1, x=hbm 4:8"})
    assert "sp=doubled_kernel_1.x:HBM[4:7]" in text
    assert "sp=doubled_kernel_1.y:DDR[1]" in text
