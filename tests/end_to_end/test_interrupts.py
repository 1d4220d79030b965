"""Interrupts: Ctrl-C stops compiled loops, as it stops Python's, and the arguments keep what was written."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import dcpy
from tests.support import devices

pytestmark = pytest.mark.cc
LONG = 10**12  # iterations that nobody waits for
SOON = 60.0  # seconds on a machine that is busy: far from the end of the loop


def smoothed(x, count, n):
    for t in range(n):
        x[1:-1] = 0.5 * (x[:-2] + x[2:])
        count[0] = t
    return x.sum()


def swept(a, count, n):
    for t in range(n):
        for i in range(1, a.shape[0]):
            for j in range(1, a.shape[1]):
                a[i, j] = 0.5 * (a[i - 1, j] + a[i, j - 1])
        count[0] = t


def halved(x, count, n):
    while count[0] < n:
        x[0] = 0.5 * x[0]
        count[0] += 1


def iterated(x, count, n):
    for i in range(x.shape[0]):
        value = x[i]
        for _ in range(n // LONG * 10**7):
            value = np.sqrt(value + i)
        x[i] = value
    count[0] = n


def _called(function, *args):
    function(*args)
    time.sleep(SOON)  # it ended before the signal came


@pytest.fixture
def interrupted():
    """Calls a function, which a signal interrupts soon after that; returns its arguments."""

    def call(function, *args):
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            _called(function, *args)
        timer.join()
        return args

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield call
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("auto", [False, True])
@pytest.mark.parametrize("function", [smoothed, swept, halved])
def test_loops_stop_and_keep_what_they_have_written(function, auto, interrupted):
    program = dcpy.program(function, auto_optimize=auto)
    shape = (50, 50) if function is swept else 1000
    program(np.ones(shape), np.zeros(1), 1)
    _, count, _ = interrupted(program, np.ones(shape), np.zeros(1), LONG)
    assert 0 < count[0] < LONG
    program(np.ones(shape), count, 3)  # the program is as good as before


def test_a_team_stops(interrupted):
    program = dcpy.program(iterated, auto_optimize=True)
    program(np.ones(1000), np.zeros(1), 1)
    _, count, _ = interrupted(program, np.ones(100_000), np.zeros(1), LONG)
    assert count[0] == 0


def by_rows(x, count, n):
    for i in range(x.shape[0]):
        z = np.zeros(x.shape[1])
        for _ in range(n // LONG * 10**9):
            z = z * z + x[i]
        x[i] = z
    count[0] = n


def in_lanes(x, count, n):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            k, z = 0, x[i, j]
            while k < n and z < 4.0:
                z = 0.5 * z
                k += 1
            x[i, j] = z
    count[0] = n


def innermost(x, count, n):
    for i in range(x.shape[0]):
        k = 0
        z = x[i, 0]
        while k < n and z < 4.0:
            z = 0.5 * z
            k += 1
        x[i, 0] = z
    count[0] = n


def inside_of_a_recurrence(x, count, n):
    for i in range(x.shape[0]):
        for j in range(1, x.shape[1]):
            k, z = 0, x[i, j - 1]
            while k < n and z < 4.0:
                z = 0.5 * z
                k, _ = k + 1, k
            x[i, j] = z
    count[0] = n


@pytest.mark.parametrize("function", [by_rows, in_lanes, innermost, inside_of_a_recurrence])
def test_long_iterations_of_a_team_stop(function, interrupted):
    program = dcpy.program(function, auto_optimize=True)
    program(np.zeros((64, 64)), np.zeros(1), 1)
    _, count, _ = interrupted(program, np.zeros((64, 64)), np.zeros(1), LONG)
    assert count[0] == 0


def test_handlers_of_other_signals_run_while_a_loop_goes_on():
    seen = []
    program = dcpy.program(smoothed)
    program(np.ones(100), np.zeros(1), 1)
    before = signal.signal(signal.SIGALRM, lambda number, frame: seen.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        start = time.perf_counter()
        while not seen and time.perf_counter() < start + SOON:
            program(np.ones(100_000), np.zeros(1), 2_000)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert seen == [signal.SIGALRM]


def test_other_threads_are_not_interrupted(interrupted):
    program, found = dcpy.program(smoothed), []
    expected = smoothed(np.arange(100.0), np.zeros(1), 1000)
    worker = threading.Thread(target=lambda: found.append(program(np.arange(100.0), np.zeros(1), 1000)))
    worker.start()
    interrupted(time.sleep, SOON)
    worker.join()
    np.testing.assert_allclose(found, expected)


def test_launches_of_a_device_are_interrupted_between_them(interrupted):
    program = dcpy.program(smoothed, device=dcpy.DeviceType.GPU, gpu_backend=devices.BACKEND)
    program(np.ones(10), np.zeros(1), 1)
    _, count, _ = interrupted(program, np.ones(10), np.zeros(1), LONG)
    assert count[0] < LONG


@pytest.mark.parametrize("function", [smoothed, halved])
def test_innermost_counted_loops_ask_nothing(function):
    code = dcpy.program(function).to_sdfg(np.ones(3), np.ones(1), 1).code()
    assert code.count("if (dcpy_interrupted(pace))") == 1


def checksum(data, steps):
    rest = 0xFFFF
    for byte in data:
        rest ^= byte
        for _ in range(8):
            rest = (rest >> 1) ^ 0x8408 if rest & 1 else rest >> 1
    return rest


def moved(x, steps):
    for _ in range(steps):
        for k in range(3):
            x[k] = x[k] * 0.5 + x[(k + 1) % 3]


def swept_by_windows(x, steps):
    for i in range(len(x)):
        for k in range(9):
            x[i] += k / (1 + x[i])


def test_loops_along_an_array_ask_nothing_where_compilers_write_out_what_is_inside():
    def questions(function, x):
        return dcpy.program(function).to_sdfg(x, 5).code().count("if (dcpy_interrupted(")

    assert questions(checksum, np.arange(9)) == 0
    assert questions(moved, np.ones(3)) > 0  # nothing bounds the number of steps
    assert questions(swept_by_windows, np.ones(9)) > 0
