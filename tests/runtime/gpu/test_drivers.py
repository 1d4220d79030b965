"""The drivers' table on a driver without a device: values, order, memory, copies, and all that can go wrong."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Iterator

import numpy as np
import pytest

from dcpy.base.errors import DeviceError, DeviceMemoryError
from dcpy.base.options import resolve_options
from dcpy.base.source import SrcSpan
from dcpy.runtime.gpu.device_table import TO_DEVICE, TO_HOST, WITHIN_DEVICE
from dcpy.runtime.gpu.drivers import open_context
from tests.runtime.gpu.fakes import KERNELS, FakeDriver, cubin
from tests.runtime.gpu.kernels import number, place

pytestmark = pytest.mark.cc
AXPY, CHECK, ASTRAY, IDLE = range(len(KERNELS))
RNG = np.random.default_rng(5)
CHUNK = 8 << 20


@pytest.fixture(params=["cuda", "hip"])
def fake(request, tmp_path) -> FakeDriver:
    return FakeDriver(tmp_path, request.param)


@pytest.fixture
def cuda(tmp_path) -> FakeDriver:
    return FakeDriver(tmp_path)


@pytest.fixture
def program(cuda) -> Iterator[object]:
    found = cuda.program()
    yield found
    found.close()


# --- values and order ---


def test_a_kernel_runs_on_copies(fake):
    program = fake.program()
    x, y = RNG.random(1000), RNG.random(1000)
    places = program.upload(x), program.upload(y)
    program.launch(AXPY, [4], [256], [number(2.5), *map(place, places), number(1000)])
    assert np.array_equal(program.download(places[1], y), 2.5 * x + y)
    assert fake.log("launch") == ["axpy 4,1,1 256,1,1 0"]


def test_commands_wait_until_somebody_waits(program):
    y = np.zeros(8)
    there = program.upload(np.arange(8.0))
    program.copy(y.ctypes.data, there, y.nbytes, TO_HOST)
    assert not y.any()
    program.wait()
    assert np.array_equal(y, np.arange(8.0))


def test_queues_run_apart_and_join_by_events(program, cuda):
    x = np.arange(8.0)
    there, result = program.upload(np.zeros(8)), np.zeros(8)
    program.use_queue(3)
    program.copy(there, x.ctypes.data, x.nbytes, TO_DEVICE)
    program.record(1)
    program.use_queue(0)
    program.wait_event(1)
    program.copy(result.ctypes.data, there, x.nbytes, TO_HOST)
    program.wait()
    assert np.array_equal(result, x)
    assert cuda.get("streams") == 2
    with pytest.raises(DeviceError, match="event 2 has not been recorded"):
        program.wait_event(2)
    with pytest.raises(DeviceError, match="no queue 64"):
        program.use_queue(64)


def test_the_error_block_comes_back_and_is_empty_again(fake):
    program = fake.program()
    assert program.failed() == (0, 0, 0, 0, 0)
    program.launch(CHECK, [1], [32], [place(program.errors)])
    program.wait()
    assert program.failed() == (7, 8, 9, 10, 11)
    assert program.failed() == (0, 0, 0, 0, 0)


def test_memory_is_filled(program):
    there = program.allocate(16)
    program.fill(there, 1, 16)
    program.fill(there, 0, 0)
    assert np.array_equal(program.download(there, np.zeros(16, np.int8)), np.ones(16, np.int8))


def test_two_threads_have_programs_of_their_own(fake):
    results: dict[int, bool] = {}

    def run(seed: int) -> None:
        program, x = fake.program(), np.random.default_rng(seed).random(300_000)
        there = program.upload(x)
        results[seed] = np.array_equal(program.download(there, x), x)

    fake.context()
    threads = [threading.Thread(target=run, args=(seed,)) for seed in range(2)]
    for thread in threads:  # the fake itself takes one at a time
        thread.start()
        thread.join()
    assert results == {0: True, 1: True}


# --- memory ---


def test_everything_is_given_back(fake):
    program = fake.program()
    program.upload(RNG.random(100_000))
    program.use_queue(2)
    program.record(5)
    program.pin(100)
    before = fake.get("pinned")
    assert program.held() == 800_000
    program.close()
    assert [fake.get(name) for name in ("live", "streams", "modules")] == [0, 0, 0]
    assert fake.get("pinned") == before - 1  # the error block; what a program has pinned, it unpins itself


def test_out_of_memory_tells_what_is_held_and_what_is_free(fake):
    program = fake.program()
    program.allocate(1 << 20)
    fake.set(total=8 << 20, reserved=2 << 20)
    with pytest.raises(MemoryError) as caught:
        program.allocate(6 << 20)
    assert isinstance(caught.value, DeviceMemoryError)
    assert "6291456 bytes are asked for; the program holds 1048576 bytes, and " in str(caught.value)
    assert f"of {8 << 20} bytes of the device are free" in str(caught.value)
    program.release(program.allocate(1 << 20))  # and life goes on


def test_what_the_pool_keeps_is_asked_for_before_giving_up(program, cuda):
    cuda.set(total=8 << 20)
    there = program.allocate(5 << 20)
    program.release(there)
    program.allocate(6 << 20)
    assert cuda.get("trims") == 1


def test_devices_without_pools_allocate_at_once(tmp_path):
    fake = FakeDriver(tmp_path, pools=0)
    program = fake.program()
    x = RNG.random(50)
    there = program.upload(x)
    assert not fake.context().facts().has_pool
    assert np.array_equal(program.download(there, x), x)
    program.release(there)
    assert program.held() == 0


def test_memory_that_is_not_allocated_is_not_released(program):
    with pytest.raises(DeviceError, match="memory is released that is not allocated"):
        program.release(4096)
    with pytest.raises(DeviceError, match="memory is unpinned that is not pinned"):
        program.unpin(4096)
    with pytest.raises(DeviceError, match="memory of -1 bytes is asked for"):
        program.allocate(-1)
    assert program.allocate(0)


# --- copies ---


@pytest.mark.parametrize("size", [0, 1, 64 << 10, (64 << 10) + 1, CHUNK, 2 * CHUNK + 12345, 5 * CHUNK])
def test_copies_of_all_sizes(fake, size):
    program = fake.program()
    x = RNG.integers(0, 255, size, dtype=np.uint8)
    there, back = program.allocate(size), np.zeros_like(x)
    program.copy(there, x.ctypes.data, size, TO_DEVICE)
    if size > 64 << 10:
        expected, x[:] = x.copy(), 0  # pinned buffers have it already
    else:
        program.wait()
        expected = x
    program.copy(back.ctypes.data, there, size, TO_HOST)
    program.wait()
    assert np.array_equal(back, expected)


def test_pageable_memory_goes_through_two_buffers(program, cuda):
    x = RNG.random(3 * CHUNK // 8)
    program.download(program.upload(x), x)
    program.download(program.upload(x), x)
    assert cuda.log("pin") == ["40"] + [str(CHUNK)] * 4
    assert cuda.log("up") == [str(CHUNK)] * 6
    assert cuda.log("down") == [str(CHUNK)] * 6


def test_pinned_memory_goes_at_once(program, cuda):
    size = 3 * CHUNK
    pinned = program.pin(size)
    ctypes.memset(pinned, 7, size)
    there = program.allocate(size)
    program.copy(there, pinned, size, TO_DEVICE)
    program.copy(there, pinned + 100, size - 100, TO_DEVICE)
    program.wait()
    assert cuda.log("up") == [str(size), str(size - 100)]
    program.unpin(pinned)


def box(array: np.ndarray) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    return array.ctypes.data, array.shape, array.strides


def random_view(rng: np.random.Generator, base: np.ndarray) -> np.ndarray:
    """Some of it, with steps (backwards, too), in any order of axes."""
    parts = []
    for size in base.shape:
        first, last = sorted(rng.integers(0, size + 1, 2))
        step = int(rng.choice([1, 1, 2, 3, -1, -2]))
        parts.append(slice(first, last, step) if step > 0 else slice(last - 1 if last else None, None, step))
    return base[tuple(parts)].transpose(rng.permutation(base.ndim))


@pytest.mark.parametrize("seed", range(40))
def test_boxes_with_strides_are_copied_as_numpy_does(fake, seed):
    rng = np.random.default_rng(seed)
    if seed % 4 == 0:
        fake.set(pitch_limit=64)
    program = fake.program()
    dtype = rng.choice([np.float64, np.uint8, np.complex128, np.int32])
    shape = tuple(rng.integers(1, 7, rng.integers(1, 5)))
    home = rng.integers(0, 100, shape).astype(dtype)  # here and on the device alike
    view = random_view(rng, home)
    there = program.upload(home)
    offset = there + view.ctypes.data - home.ctypes.data
    # to the host, into a view of another layout
    target = random_like(rng, view)
    program.copy_box(target.ctypes.data, offset, home.itemsize, view.shape, (target.strides, view.strides), TO_HOST)
    program.wait()
    assert np.array_equal(target, view)
    # to the device, from it, and within the device
    target[...] = rng.integers(0, 100, target.shape)
    program.copy_box(offset, target.ctypes.data, home.itemsize, view.shape, (view.strides, target.strides), TO_DEVICE)
    view[...] = target
    assert np.array_equal(program.download(there, home), home)
    flat = program.allocate(max(view.nbytes, 1))
    packed = np.zeros(view.shape, dtype)
    program.copy_box(flat, offset, home.itemsize, view.shape, (packed.strides, view.strides), WITHIN_DEVICE)
    assert np.array_equal(program.download(flat, packed), view)


def random_like(rng: np.random.Generator, view: np.ndarray) -> np.ndarray:
    """An array of the same shape with another layout."""
    axes = rng.permutation(view.ndim)
    base = np.zeros([2 * view.shape[axis] for axis in axes], view.dtype)
    part = base[tuple(slice(None, view.shape[axis]) for axis in axes)]
    return part.transpose(np.argsort(axes))


def test_copies_of_an_unknown_kind_are_refused(program):
    with pytest.raises(DeviceError, match="a copy of an unknown kind"):
        program.copy(0, 0, 8, 7)


# --- launches ---


def test_launches_that_no_driver_takes_are_refused_by_name(program, cuda):
    for blocks in ([2**31], [1, 65536], [1, 1, 65536], [-1]):
        with pytest.raises(DeviceError, match="kernel idle is launched with too many blocks"):
            program.launch(IDLE, blocks, [32], [])
    with pytest.raises(DeviceError, match="there is no kernel 9"):
        program.launch(9, [1], [32], [])
    with pytest.raises(DeviceError, match=r"launch of kernel idle with blocks 1 x 1 x 1, threads 32 x 64 x 1, 0 bytes"):
        program.launch(IDLE, [1], [32, 64], [])
    program.launch(IDLE, [0, 5], [32], [])
    assert cuda.log("launch") == ["idle 1,1,1 32,64,1 0"]


def test_shared_memory_of_a_launch_is_allowed_once(program, cuda):
    for shared in (0, 50_000, 40_000, 60_000, 60_000):
        program.launch(IDLE, [1], [32], [], shared)
    assert cuda.log("allow") == ["idle 50000", "idle 60000"]
    with pytest.raises(DeviceError, match="shared memory of kernel idle: invalid argument"):
        program.launch(IDLE, [1], [32], [], 300_000)


# --- errors ---


def test_no_driver(tmp_path):
    for backend, vendor in (("cuda", "NVIDIA"), ("hip", "AMD")):
        options = resolve_options({"gpu.driver": str(tmp_path / "libnone.so")})
        with pytest.raises(DeviceError, match=f"no driver of {vendor} GPUs is found") as caught:
            open_context(backend, options)
        assert "DCPY_GPU_BACKEND=simulator" in caught.value.help


@pytest.mark.parametrize("numbers", [{"hidden": 1}, {}])
def test_an_old_driver(tmp_path, numbers):
    fake = FakeDriver(tmp_path, flags=() if numbers else ("-DWITHOUT_FINDER",), **numbers)
    with pytest.raises(DeviceError, match="the driver of the NVIDIA GPU is too old") as caught:
        fake.context()
    assert ("it has no cuMemcpy2DAsync" if numbers else "CUDA 11.3 or later") in caught.value.notes[0]


def test_no_device(tmp_path):
    for backend in ("cuda", "hip"):
        fake = FakeDriver(tmp_path, backend, devices=0)
        with pytest.raises(DeviceError, match=r"there is no (NVIDIA|AMD) GPU"):
            fake.context()
        fake.set(devices=1)
        fake.context()  # asked again: it may have come
        with pytest.raises(DeviceError, match="there are 1 devices"):
            open_context(backend, fake.options, 3)


def test_a_driver_that_does_not_start(tmp_path):
    fake = FakeDriver(tmp_path, initialize=999)
    with pytest.raises(DeviceError, match="the driver does not start: unspecified failure"):
        fake.context()


def test_machine_code_for_another_chip(cuda):
    assert cuda.context().facts().arch == "sm_90"
    with pytest.raises(DeviceError, match="does not take the machine code") as caught:
        cuda.context().program(cubin(80), ["idle"])
    assert "no kernel image is available" in caught.value.notes[0]
    with pytest.raises(DeviceError, match="absent: named symbol not found"):
        cuda.context().program(cubin(90), ["idle", "absent"])
    assert cuda.get("modules") == 0


def test_a_kernel_that_goes_astray_breaks_the_context(fake):
    span = SrcSpan("f.py", 12, 4, 12, 9)
    program = fake.program(places={"astray": span})
    other = fake.program()
    there = program.allocate(8)
    program.launch(IDLE, [1], [32], [])
    program.launch(ASTRAY, [1], [32], [])
    with pytest.raises(DeviceError, match=r"context of the (NVIDIA|AMD) GPU is broken") as caught:
        program.wait()
    assert "an illegal memory access was encountered" in caught.value.notes[0]
    assert "kernels since the last wait: idle, astray" in caught.value.notes[0]
    assert caught.value.span == span
    assert "restart the process" in caught.value.help
    for call in (lambda: program.release(there), lambda: other.allocate(8), fake.program, fake.context().facts):
        with pytest.raises(DeviceError, match="an illegal memory access"):
            call()
    program.close()
    other.close()


def test_a_child_of_fork_is_told_so(fake):
    program = fake.program()
    there = program.allocate(8)
    child = os.fork()
    if child == 0:
        said = []
        for call in (lambda: program.release(there), fake.program):
            try:
                call()
            except DeviceError as error:
                said.append("this process is a fork" in error.message and "spawn" in error.help)
        os._exit(0 if said == [True, True] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    program.release(there)


def test_facts(fake):
    facts = fake.context().facts()
    assert facts.name == "No GPU at all"
    assert (facts.arch, facts.warp) == (("sm_90", 32) if fake.backend == "cuda" else ("gfx90a", 64))
    assert 0 < facts.free <= facts.total == 1 << 30
    assert facts.has_pool
