"""Commands that are run later, in any order that queues and events allow: what does not wait is found out."""

from __future__ import annotations

import numpy as np
import pytest

from dcpy.base.errors import DeviceError
from dcpy.runtime.gpu.device_table import TO_DEVICE, TO_HOST, WITHIN_DEVICE
from tests.runtime.gpu.kernels import AXPY, Call, compiled, device_of, number

pytestmark = pytest.mark.cc
N = 512
SEEDS = range(12)


@pytest.fixture(scope="module")
def library():
    return compiled(AXPY, "DCPY_ROW(axpy, 256, 0)")


def axpy(call: Call, x, y) -> None:
    call.device.launch(0, [2], [256], (number(2.0), x, y, number(N)))


def seeds_that_differ(library, run, wanted) -> int:
    """Of how many seeds the values are not `wanted`."""
    found = 0
    for seed in SEEDS:
        call = Call(device_of(library, seed=seed))
        found += not np.array_equal(run(call), wanted)
        call.done()
        call.device.close()
    return found


def test_one_queue_keeps_its_order(library):
    def run(call):
        x, y = call.put(np.ones(N)), call.put(np.zeros(N))
        for _ in range(20):
            axpy(call, x, y)
        return call.get(y, np.zeros(N))

    assert seeds_that_differ(library, run, np.full(N, 40.0)) == 0


def test_a_result_that_nobody_waits_for_is_not_there(library):
    def run(call):
        there, host = call.put(np.ones(N)), np.zeros(N)
        call.device.copy(host.ctypes.data, there.value, host.nbytes, TO_HOST)
        early = host.copy()
        call.device.wait()
        assert (host == 1).all()
        return early

    assert seeds_that_differ(library, run, np.ones(N)) >= len(SEEDS) // 2


@pytest.mark.parametrize(("behind", "first_has_run"), [(1000, False), (1100, True)])
def test_a_queue_that_is_full_runs_its_first_commands(library, behind, first_has_run):
    call = Call(device_of(library))
    there, host = call.put(np.ones(N)), np.zeros(N)
    call.device.wait()
    call.device.copy(host.ctypes.data, there.value, host.nbytes, TO_HOST)
    for _ in range(behind):
        call.device.copy(there.value, there.value, 8, WITHIN_DEVICE)
    assert (host == 1).all() == first_has_run
    call.device.wait()
    call.done()
    call.device.close()


def test_a_source_that_is_changed_before_the_wait(library):
    def run(call):
        there, host = call.put(np.zeros(N)), np.ones(N)
        call.device.copy(there.value, host.ctypes.data, host.nbytes, TO_DEVICE)
        host[:] = 7
        return call.get(there, host)

    assert seeds_that_differ(library, run, np.ones(N)) >= len(SEEDS) // 2


def test_arguments_are_taken_at_once(library):
    def run(call):
        x, y, factor = call.put(np.ones(N)), call.put(np.zeros(N)), number(2.0)
        call.device.launch(0, [2], [256], (factor, x, y, number(N)))
        factor.value = 100.0
        return call.get(y, np.zeros(N))

    assert seeds_that_differ(library, run, np.full(N, 2.0)) == 0


def test_synchronous_devices_run_at_once(library):
    call = Call(device_of(library, asynchronous=False))
    there, host = call.put(np.ones(N)), np.zeros(N)
    call.device.copy(host.ctypes.data, there.value, host.nbytes, TO_HOST)
    assert (host == 1).all()


def two_queues(call: Call, events: bool) -> np.ndarray:
    """``y = 2 * x`` in one queue, ``z = 2 * y`` in another one."""
    x, y, z = (call.put(array) for array in (np.ones(N), np.zeros(N), np.zeros(N)))
    call.device.use_queue(1)
    axpy(call, x, y)
    if events:
        call.device.record(5)
    call.device.use_queue(2)
    if events:
        call.device.wait_event(5)
    axpy(call, y, z)
    call.device.use_queue(0)
    call.device.wait()
    return call.get(z, np.zeros(N))


def test_queues_that_events_join(library):
    assert seeds_that_differ(library, lambda call: two_queues(call, True), np.full(N, 4.0)) == 0


def test_queues_that_nothing_joins(library):
    assert seeds_that_differ(library, lambda call: two_queues(call, False), np.full(N, 4.0)) >= 2


def test_an_event_is_that_of_its_last_record(library):
    def run(call):
        x, y, z = (call.put(array) for array in (np.ones(N), np.zeros(N), np.zeros(N)))
        for _ in range(3):
            call.device.use_queue(1)
            axpy(call, x, y)
            call.device.record(0)
            call.device.use_queue(2)
            call.device.wait_event(0)
            call.device.copy(z.value, y.value, 8 * N, WITHIN_DEVICE)
            call.device.record(1)
            call.device.use_queue(1)
            call.device.wait_event(1)
        return call.get(z, np.zeros(N))

    assert seeds_that_differ(library, run, np.full(N, 6.0)) == 0


def test_an_event_that_nobody_records(library):
    with pytest.raises(DeviceError, match="event 3 has not been recorded"):
        device_of(library).wait_event(3)


def test_memory_that_another_queue_still_uses(library):
    """Released in one queue, read in another one: some orders touch it after its release."""

    def problem(seed):
        call = Call(device_of(library, seed=seed))
        x, y = call.put(np.ones(N)), call.put(np.zeros(N))
        try:
            call.device.use_queue(1)
            axpy(call, x, y)
            call.device.use_queue(2)
            call.device.release(x.value)
            call.device.wait()
        except DeviceError as error:
            return error.message
        return ""

    said = list(filter(None, map(problem, SEEDS)))
    assert 0 < len(said) < len(SEEDS)
    assert all("which have been released" in text for text in said)


def test_the_error_block_before_a_wait(library):
    device = device_of(library)
    device.fill(device.allocate(8), 0, 8)
    with pytest.raises(DeviceError, match="there was no wait before"):
        device.failed()
