"""What the simulator finds: each fault is planted in a kernel by hand, or in what the host does."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from dcpy.base.errors import DeviceError, DeviceMemoryError
from dcpy.base.source import SrcSpan
from dcpy.runtime.gpu.device_table import TO_DEVICE, TO_HOST, WITHIN_DEVICE
from tests.runtime.gpu.kernels import Call, compiled, device_of, number, place

pytestmark = pytest.mark.cc

KERNELS = {
    # 32 threads of the first warp wait at one barrier, the others at another one
    "two_barriers": """(double *out) {
    if (DCPY_THREAD_X < 64) { DCPY_BARRIER(); } else {
        DCPY_BARRIER(); }
    out[DCPY_THREAD_X] = 1;
}""",
    "half_a_barrier": """(double *out) {
    if (DCPY_THREAD_X < 64) { DCPY_BARRIER(); }
    out[DCPY_THREAD_X] = 1;
}""",
    "shuffle_apart": """(double *out) {
    double x = 1;
    if (DCPY_THREAD_X % 2) x = dcpy_shuffle_down(x, 1); else
        x = dcpy_shuffle_down(x, 2);
    out[DCPY_THREAD_X] = x;
}""",
    "shuffle_of_some": """(double *out) {
    double x = DCPY_THREAD_X;
    if (DCPY_THREAD_X % 2) x = dcpy_shuffle_down(x, 1);
    out[DCPY_THREAD_X] = x;
}""",
    "behind_the_end": "(double *out) { out[DCPY_THREAD_X + 1] = 1; }",
    "in_front": "(double *out) { out[DCPY_THREAD_X - 1] = 1; }",
    "far_behind": "(double *out) { out[DCPY_THREAD_X + 4096] = 1; }",
    "null": "(double *out, double *other) { if (out) *other = 1; }",
    "deep": """(double *out) {
    volatile double much[100000];
    for (int k = 0; k < 100000; ++k) much[99999 - k] = k;
    out[0] = much[5];
}""",
    "uninitialized": """(double *out) {
    DCPY_SHARED(double, t, 128);
    if (DCPY_THREAD_X % 2) t[DCPY_THREAD_X] = 1;
    DCPY_BARRIER();
    out[DCPY_THREAD_X] = t[DCPY_THREAD_X];
}""",
    "shared_overrun": """(double *out) {
    DCPY_SHARED(double, t, 128);
    t[DCPY_THREAD_X + 1] = 1;
    out[DCPY_THREAD_X] = 1;
}""",
    "too_much_shared": "(double *out) { DCPY_SHARED(double, t, 200); t[0] = 1; out[0] = t[0]; }",
    "missing_barrier": """(double *out) {
    DCPY_SHARED(double, t, 128);
    t[DCPY_THREAD_X] = DCPY_THREAD_X;
    out[DCPY_THREAD_X] = t[127 - DCPY_THREAD_X];
}""",
    "misaligned": "(double *out) { dcpy_vector<double> v = dcpy_load128(out + 1); out[0] = v.at[0] + v.at[1]; }",
    "checked": """(double *out, int64_t *errors, int64_t n) {
    if (errors[0] == 0) {
        if (DCPY_THREAD_X >= n) dcpy_fail(errors, {1, 0, DCPY_THREAD_X}, 3, DCPY_THREAD_X, n, 0, 0);
        else out[DCPY_THREAD_X] = 1;
    }
}""",
    "leaves_failing": """(double *out, int64_t *errors) {
    if (DCPY_THREAD_X % 3 == 1) { dcpy_fail(errors, {1}, 1, DCPY_THREAD_X, 0, 0, 0); return; }
    DCPY_BARRIER();
    DCPY_WARP_BARRIER();
    out[DCPY_THREAD_X] = 1;
}""",
    "first_warp": """(double *out) {
    DCPY_SHARED(double, t, 128);
    t[DCPY_THREAD_X] = DCPY_THREAD_X;
    DCPY_BARRIER();
    if (dcpy_warp_number() == 0) {
        double x = 0;
        for (int k = dcpy_lane(); k < 128; k += DCPY_WARP) x += t[k];
        for (int lanes = DCPY_WARP / 2; lanes > 0; lanes /= 2) x += dcpy_shuffle_xor(x, lanes);
        t[dcpy_lane()] = x;
    }
    DCPY_BARRIER();
    out[DCPY_THREAD_X] = t[DCPY_THREAD_X % DCPY_WARP];
}""",
    "broken_warp": """(double *out) {
    out[DCPY_THREAD_X] = dcpy_shuffle((double)DCPY_THREAD_X, DCPY_WARP - 1);
}""",
    "counted": "(int64_t *count, double *least, float *most) {\n"
    "    dcpy_atomic_add(count, (int64_t)1); dcpy_atomic_min(least, (double)-DCPY_THREAD_X);\n"
    "    dcpy_atomic_max(most, (float)DCPY_THREAD_X);\n}",
    "dynamic": """(double *out) {
    DCPY_DYNAMIC(double, t, 256);
    t[DCPY_THREAD_X] = DCPY_THREAD_X;
    DCPY_BARRIER();
    out[DCPY_THREAD_X] = t[127 - DCPY_THREAD_X];
}""",
}
NAMES = list(KERNELS)
SHARED = dict.fromkeys(("uninitialized", "shared_overrun", "missing_barrier", "first_warp"), 1024)
SHARED["too_much_shared"] = 800
TEXT = "\n".join(f"DCPY_KERNEL({name}, 128){body}" for name, body in KERNELS.items())
ROWS = [f"DCPY_ROW({name}, 128, {SHARED.get(name, 0)})" for name in NAMES]


def line_of(name: str, piece: str) -> int:
    text = f'#include "dcpy_device.h"\n{TEXT}'
    return text[: text.index(piece, text.index(f"DCPY_KERNEL({name},"))].count("\n") + 1


@pytest.fixture(scope="module")
def library():
    return compiled(TEXT, *ROWS, flags=("-O1",))


@pytest.fixture(name="call", params=[(0, False), (1, False), (5, True)], ids=["seed0", "seed1", "seed5-portable"])
def calls(request, library):
    seed, portable = request.param
    found = Call(device_of(library, seed=seed, portable=portable))
    yield found
    found.device.close()


def run(call: Call, name: str, *more, threads: int = 128, shared: int = 0) -> np.ndarray:
    out = np.zeros(128)
    argument = call.put(out)
    call.device.launch(NAMES.index(name), [2], [threads], (argument, *more), shared)
    return call.get(argument, out)


def launch_and_wait(call: Call, kernel: int, out) -> None:
    call.device.launch(kernel, [1], [125], (out,))
    call.device.wait()


def problem(call: Call, name: str, *more, threads: int = 128) -> str:
    with pytest.raises(DeviceError) as caught:
        run(call, name, *more, threads=threads)
    return caught.value.message


def test_threads_at_two_barriers(call):
    said = problem(call, "two_barriers")
    lines = line_of("two_barriers", "DCPY_BARRIER"), line_of("two_barriers", "DCPY_BARRIER(); }\n    out")
    assert lines[0] != lines[1]
    assert said.startswith("kernel two_barriers: block (")
    assert all(f"the block's barrier at kernels.cpp:{line}" in said for line in lines)


def test_a_barrier_for_some(call):
    said = problem(call, "half_a_barrier")
    line = line_of("half_a_barrier", "DCPY_BARRIER")
    assert f"64 threads wait for the block's barrier at kernels.cpp:{line} (thread (0, 0, 0))" in said
    assert "64 threads have ended (thread (64, 0, 0))" in said


def test_shuffles_apart(call):
    said = problem(call, "shuffle_apart")
    lines = line_of("shuffle_apart", "dcpy_shuffle_down"), line_of("shuffle_apart", "x = dcpy_shuffle_down(x, 2)")
    assert all(f"the shuffle at kernels.cpp:{line}" in said for line in lines)


def test_a_shuffle_of_half_a_warp(call):
    said = problem(call, "shuffle_of_some")
    assert "64 threads wait for the shuffle at kernels.cpp:" in said
    assert "64 threads have ended" in said


def test_a_place_behind_the_end(call):
    assert "touched" in (said := problem(call, "behind_the_end"))
    assert "thread (127, 0, 0)" in said
    assert "0 bytes behind the end of the 1024 bytes of allocation" in said


def test_a_place_behind_an_end_that_is_not_that_of_a_page(call):
    out = call.put(np.zeros(125))
    said = "a byte was written 0 bytes behind the end of the 1000 bytes of allocation"
    with pytest.raises(DeviceError, match=said):
        launch_and_wait(call, NAMES.index("behind_the_end"), out)


def test_a_place_in_front(call):
    assert "a byte was written 8 bytes in front of the 1024 bytes of allocation" in problem(call, "in_front")


def test_a_place_far_behind(call):
    said = problem(call, "far_behind")
    assert "kernel far_behind: thread (" in said
    assert "bytes behind the end of the 1024 bytes of allocation" in said or "nothing has been allocated" in said


def test_a_null_pointer(call):
    assert "touched (nil)" in problem(call, "null", place(0))


def test_a_stack_too_small(call):
    assert "used up its stack" in problem(call, "deep")


def test_a_lost_device_stays_lost(call):
    problem(call, "null", place(0))
    for command in (lambda: call.device.allocate(8), call.device.wait, lambda: call.put(np.zeros(3))):
        with pytest.raises(DeviceError, match="touched"):
            command()


def test_shared_memory_is_not_initialized(call):
    out = run(call, "uninitialized")
    assert np.isnan(out[::2]).all()
    assert (out[1::2] == 1).all()


def test_beyond_a_shared_array(call):
    assert "of the shared array t of 1024 bytes" in problem(call, "shared_overrun")


def test_more_shared_memory_than_declared(call):
    said = problem(call, "too_much_shared")
    assert "the array t makes 1600 bytes of shared memory, 800 are declared" in said


def test_a_missing_barrier_shows_in_the_values(call):
    """With another seed, or in the natural order, another half of the threads is too early."""
    assert np.isnan(run(call, "missing_barrier")).any()


def test_16_bytes_at_an_odd_place(call):
    assert f"kernels.cpp:{line_of('misaligned', 'dcpy_load128')}: no multiple of 16" in problem(call, "misaligned")


def test_dynamic_shared_memory(call):
    assert np.array_equal(run(call, "dynamic", shared=256 + 1024), np.arange(128)[::-1])


def test_a_failed_check_and_what_comes_behind_it(call):
    errors = place(call.device.errors)
    out = run(call, "checked", errors, number(100))
    assert out.sum() <= 100
    number_, index, size, *_ = call.device.failed()
    assert (number_, size) == (3, 100)
    assert 100 <= index < 128
    assert call.device.failed() == (0,) * 5
    run(call, "checked", errors, number(50))
    assert not run(call, "checked", errors, number(128)).any()  # the block is still set
    assert call.device.failed()[0] == 3
    assert run(call, "checked", errors, number(128)).all()


def test_threads_that_failed_may_leave(call):
    out = run(call, "leaves_failing", place(call.device.errors))
    assert np.array_equal(out == 1, np.arange(128) % 3 != 1)
    assert call.device.failed()[0] == 1


def test_one_warp_shuffles_and_the_others_wait(call):
    assert (run(call, "first_warp") == 127 * 64).all()


def test_lanes_that_are_not_there_have_no_values(call):
    """A block of 40 threads: the second warp has 8 lanes, and nobody in its last one."""
    out = run(call, "broken_warp", threads=40)
    assert (out[:32] == 31).all()
    assert np.isnan(out[32:40]).all()


def test_atomics(call):
    count, least, most = call.put(np.zeros(1, np.int64)), call.put(np.zeros(1)), call.put(np.zeros(1, np.float32))
    call.device.launch(NAMES.index("counted"), [5], [100], (count, least, most))
    assert call.get(count, np.zeros(1, np.int64))[0] == 500
    assert call.get(least, np.zeros(1))[0] == -99
    assert call.get(most, np.zeros(1, np.float32))[0] == 99


def test_atomics_keep_nan(call):
    count, most = call.put(np.zeros(1, np.int64)), call.put(np.zeros(1, np.float32))
    least = call.put(np.full(1, np.nan))
    call.device.launch(NAMES.index("counted"), [1], [100], (count, least, most))
    assert np.isnan(call.get(least, np.zeros(1))[0])


@pytest.mark.parametrize(
    ("blocks", "threads", "said"),
    [
        ([0], [32], "0 blocks in x"),
        ([1, 65536], [32], "65536 blocks in y: from 1 to 65535"),
        ([1], [129], "129 threads in a block, 128 are declared"),
        ([1], [16, 16], "256 threads in a block, 128 are declared"),
        ([1], [1, 1, 65], "65 threads in z"),
    ],
)
def test_launches_that_no_device_takes(call, blocks, threads, said):
    out = call.put(np.zeros(128))
    with pytest.raises(DeviceError, match=said):
        call.device.launch(NAMES.index("in_front"), blocks, threads, (out,))
    call.done()  # nothing is lost


def test_too_much_dynamic_memory(call):
    with pytest.raises(DeviceError, match="232704 bytes of shared memory: 232448 are possible"):
        call.device.launch(NAMES.index("dynamic"), [1], [1], (call.put(np.zeros(128)),), 232704)


def test_a_kernel_that_is_none(call):
    with pytest.raises(DeviceError, match="there is no kernel 99"):
        call.device.launch(99, [1], [1], ())


def test_a_place_of_the_host_as_an_argument(call):
    out = np.zeros(128)
    with pytest.raises(DeviceError, match=r"argument 0: 0x[0-9a-f]+ is a place of the host"):
        call.device.launch(NAMES.index("in_front"), [1], [1], (place(out.ctypes.data),))


def test_pinned_memory_is_for_both_sides(call):
    there = call.device.pin(1024)
    view = np.ctypeslib.as_array((ctypes.c_double * 128).from_address(there))
    assert np.isnan(view).all()
    call.device.launch(NAMES.index("leaves_failing"), [1], [128], (place(there), place(call.device.errors)))
    call.device.wait()
    assert view[0] == 1
    call.device.unpin(there)
    with pytest.raises(DeviceError, match="is not pinned"):
        call.device.unpin(there)


def test_messages_with_lines_of_python(call):
    first, second = line_of("two_barriers", "DCPY_BARRIER"), line_of("two_barriers", "DCPY_BARRIER(); }\n    out")
    spans = SrcSpan("model.py", 4, 5, 4, 20), SrcSpan("model.py", 9, 5, 9, 20)
    call.device.kernel_places = {"kernels.cpp": ((1, spans[0]), (second, spans[1]))}
    said = problem(call, "two_barriers")
    assert f"kernels.cpp:{first} (model.py:4)" in said
    assert f"kernels.cpp:{second} (model.py:9)" in said


class TestMemory:
    """What the host does with it."""

    def test_fresh_memory_is_nan(self, call):
        there = call.device.allocate(80)
        assert there % 256 == 0
        assert np.isnan(call.device.download(there, np.zeros(10))).all()

    def test_out_of_memory(self, library):
        device = device_of(library, memory=1000)
        first = device.allocate(800)
        with pytest.raises(DeviceMemoryError, match=r"300 bytes asked for, .* of 1000 free"):
            device.allocate(300)
        device.release(first)
        device.release(device.allocate(300))  # what waits to be released is, first
        device.close()

    def test_use_after_release(self, call):
        there = call.device.upload(np.zeros(4))
        call.device.release(there)
        with pytest.raises(DeviceError, match="use after release"):
            call.device.fill(there, 0, 8)
        with pytest.raises(DeviceError, match=r"argument 0: use after release: .* of the 32 bytes of allocation"):
            call.device.launch(NAMES.index("in_front"), [1], [1], (place(there),))
        with pytest.raises(DeviceError, match="released twice"):
            call.device.release(there)
        with pytest.raises(DeviceError, match="in the middle: at offset 4"):
            call.device.release(call.device.allocate(32) + 4)
        with pytest.raises(DeviceError, match="nothing to release"):
            call.device.release(np.zeros(4).ctypes.data)

    def test_places_of_the_wrong_side(self, call):
        host, there = np.zeros(4), call.device.allocate(32)
        for way, to, source, said in [
            (TO_DEVICE, host.ctypes.data, host.ctypes.data, "one of the device is needed"),
            (TO_DEVICE, there, there, "is a place of the device, at offset 0 of the 32 bytes"),
            (TO_HOST, there, there, "one of the host is needed"),
            (TO_HOST, host.ctypes.data, host.ctypes.data, "one of the device is needed"),
            (WITHIN_DEVICE, there, host.ctypes.data, "one of the device is needed"),
            (3, there, there, "there is no way 3 to copy"),
        ]:
            with pytest.raises(DeviceError, match=said):
                call.device.copy(to, source, 32, way)

    def test_sizes_that_are_not_there(self, call):
        host, there = np.zeros(40), call.device.allocate(32)
        with pytest.raises(DeviceError, match="to a byte 7 bytes behind the end of the 32 bytes"):
            call.device.copy(there, host.ctypes.data, 40, TO_DEVICE)
        with pytest.raises(DeviceError, match="a negative number of bytes"):
            call.device.copy(there, host.ctypes.data, -1, TO_DEVICE)

    def test_boxes(self, call):
        a = np.arange(60.0).reshape(3, 4, 5)
        there, back = call.device.upload(np.zeros(60)), np.zeros((4, 3))
        part = a[::-1, :, 2]
        call.device.copy_box(there, part.ctypes.data, 8, part.shape, ((32, 8), part.strides), TO_DEVICE)
        call.device.copy_box(back.ctypes.data, there, 8, (4, 3), (back.strides, (8, 32)), TO_HOST)
        call.device.wait()
        assert np.array_equal(back, part.T)
        with pytest.raises(DeviceError, match="to a byte 16 bytes in front of the 480 bytes"):
            call.device.copy_box(there, part.ctypes.data, 8, (2,), ((-16,), (8,)), TO_DEVICE)

    def test_the_host_may_not_touch_it(self, call):
        there = call.device.upload(np.arange(4.0))
        values = (ctypes.c_double * 4).from_address(there)
        for _ in range(2):
            assert values[1] in (0.0, 1.0)  # goes on, and hears of it from the next command
            with pytest.raises(DeviceError, match=r"the host program touched 0x.*, at offset 8 of the 32 bytes"):
                call.device.check()
        values[2] = 5
        with pytest.raises(DeviceError, match="the access is in"):
            call.device.wait()
        call.device.check()

    def test_released_memory_neither(self, call):
        there = call.device.upload(np.arange(4.0))
        call.device.release(there)
        call.device.wait()
        ctypes.c_double.from_address(there).value = 1
        with pytest.raises(DeviceError, match="which have been released"):
            call.device.check()

    def test_other_faults_are_not_ours(self):
        """A crash of the host's is a crash, also behind a handler of Python's own."""
        program = (
            "import ctypes\n"
            "from tests.runtime.gpu.kernels import device_of\n"
            "device = device_of()\n"
            "ctypes.c_double.from_address(8).value = 1\n"
        )
        for words in ([sys.executable], [sys.executable, "-X", "faulthandler"]):
            ended = subprocess.run([*words, "-c", program], capture_output=True, env=dict(os.environ), check=False)
            assert ended.returncode == -signal.SIGSEGV
            assert (b"Segmentation fault" in ended.stderr) == (len(words) > 1)
