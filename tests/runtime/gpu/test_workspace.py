"""Memory for calls: a slab that stays between them, as large as they need and as options allow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dcpy.base.errors import DeviceMemoryError
from dcpy.codegen.gpu.program import generate_gpu
from dcpy.ir.text import parse_sdfg
from dcpy.runtime.calls.compiled_function import compiled_function
from dcpy.runtime.loading.load import load
from tests.codegen.test_kernels import AXPY
from tests.runtime.gpu import chips
from tests.runtime.gpu.fakes import FakeDriver

pytestmark = pytest.mark.cc


@pytest.fixture(params=["cuda", "hip"])
def fake(request, tmp_path):
    return FakeDriver(tmp_path, request.param)


@pytest.fixture
def cuda(tmp_path):
    return FakeDriver(tmp_path)


def call(program, *sizes):
    """What a call does: buffers of these sizes, given back last first. Their places."""
    places = [program.allocate(size) for size in sizes]
    for place in reversed(places):
        program.release(place)
    return places


def test_the_third_call_asks_the_driver_for_nothing(fake):
    program = fake.program()
    before = len(fake.log("allocate"))
    call(program, 1000, 5000)
    assert len(fake.log("allocate")) == before + 2
    call(program, 1000, 5000)
    assert fake.log("allocate")[before + 2 :] == [str(1024 + 5120)]
    first = call(program, 1000, 5000)
    assert call(program, 1000, 5000) == first == [first[0], first[0] + 1024]
    assert len(fake.log("allocate")) == before + 3
    assert (program.held(), program.kept()) == (0, 1024 + 5120)
    program.close()
    assert fake.get("live") == 0


def test_it_grows_between_calls(cuda):
    program = cuda.program()
    for size in (1000, 1000, 3000, 3000, 3000, 100):
        call(program, size, size)
    assert program.kept() == 2 * 3072


def test_what_is_given_back_early_waits_for_what_lies_above(cuda):
    program = cuda.program()
    for _ in range(2):
        call(program, 256, 256, 256)
    low, middle = program.allocate(256), program.allocate(256)
    program.release(low)
    high = program.allocate(256)
    assert (middle, high) == (low + 256, low + 512)
    apart = program.allocate(256)
    assert not low <= apart < low + program.kept()
    for place in (apart, middle, high):
        program.release(place)
    assert program.allocate(256) not in (middle, high, apart)
    assert program.held() == 256


def test_an_option_limits_what_is_kept(fake):
    program = fake.program()
    program.limit_workspace(2000)
    for _ in range(3):
        low, high = call(program, 1000, 5000)
    assert program.kept() == 1792
    assert not low <= high < low + 1792
    program = fake.program()
    program.limit_workspace(0)
    for _ in range(3):
        call(program, 1000)
    assert program.kept() == 0


def test_queues_do_not_share(cuda):
    program = cuda.program()
    places = {}
    for queue in (1, 2) * 2:
        program.use_queue(queue)
        places[queue] = call(program, 1000)
    assert places[1] != places[2]
    assert program.kept() == 2 * 1024


def test_programs_that_rest_make_room(fake):
    resting, busy, program = (fake.program() for _ in range(3))
    for _ in range(2):
        call(resting, 4 << 20)
        call(busy, 1 << 20)
    held = busy.allocate(1 << 20)
    fake.set(total=9 << 20)
    busy.wait()
    program.allocate(7 << 20)
    assert (resting.kept(), busy.kept()) == (0, 1 << 20)
    with pytest.raises(DeviceMemoryError, match="2097152 bytes"):
        program.allocate(2 << 20)
    busy.release(held)


def test_a_program_of_the_user(cuda):
    chips.nvrtc()
    options = replace(cuda.options, gpu=replace(cuda.options.gpu, max_workspace=8192))
    artifact = generate_gpu(parse_sdfg(AXPY), None, None, options)
    cuda.runs(artifact)
    found = load(artifact, options)
    axpy, x = compiled_function(found), np.ones(1000)
    y = np.zeros(1000)
    for _ in range(3):
        axpy(2.0, x, y)
    assert np.array_equal(y, 6 * x)
    assert found.device.kept() == 8192
    before = len(cuda.log("allocate"))
    axpy(2.0, x[:500], y[:500])
    assert len(cuda.log("allocate")) == before
