"""Machine code leaves memory with the last program that holds it; what was returned, and what runs, goes on."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import dcpy
from dcpy.base.options import resolve_options
from dcpy.runtime.compilers.toolchain import find_toolchain
from dcpy.runtime.loading import unloading
from tests.support.compiled import compile_sdfg

pytestmark = [
    pytest.mark.cc,
    pytest.mark.skipif(not unloading.UNLOADS, reason="nothing is unloaded on this system"),
    pytest.mark.skipif(
        find_toolchain(resolve_options().cpu.compiler).family != "gcc", reason="programs with LLVM's OpenMP stay"
    ),
]
LONG = """
    sdfg @long(x: f64[1]) {
      loop i = 0:200000000 { state { tasklet (a <- x[0]) -> (o -> x[0]) { o = a + 1.0 } } }
    }"""


def mappings() -> int:
    """Of libraries of programs."""
    gc.collect()
    with open("/proc/self/maps") as lines:
        return sum("/programs/" in line for line in lines)


def resident() -> int:
    """Bytes of memory that the process has."""
    with open("/proc/self/statm") as numbers:
        return int(numbers.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def number_times(k: int):
    """A program of its own for each number, with threads, a product, and memory that it keeps."""

    def times(a):
        b = (a @ a) * k
        return np.cumsum(b, axis=0), b.sum()

    return dcpy.program(times)


def test_forty_dead_programs_leave_no_mappings_and_their_results_stay():
    a = np.ones((40, 40))
    before, kept = mappings(), []
    for k in range(2):  # what is compiled is kept on disk: more would take time, and show nothing else
        for _ in range(20):
            kept.append((k, number_times(k)(a)))
    assert mappings() == before
    for k, (sums, total) in kept:
        assert (sums[-1, 0], total) == (1600.0 * k, 64000.0 * k)


def test_a_program_that_is_held_stays_and_so_does_its_code_for_other_types():
    program = number_times(1)
    before = mappings()
    for dtype in (np.float64, np.float32):
        assert program(np.ones((8, 8), dtype))[1] == 512
    more = mappings()
    assert more > before
    assert program(np.ones((8, 8)))[1] == 512
    del program
    assert mappings() == before


def test_compiled_graphs_hold_their_code():
    a = np.ones((8, 8))
    before = mappings()
    graph = number_times(1).to_sdfg(a)
    compiled = [graph.compile(), graph.compile()]
    del graph
    assert [program(a)[1] for program in compiled] == [512, 512]
    compiled.pop()
    assert mappings() > before
    assert compiled[0](a)[1] == 512
    compiled.clear()
    assert mappings() == before


def test_memory_that_a_program_keeps_goes_with_it():
    def smoothed(a):
        b = np.empty_like(a)
        b[:] = a * 2.0
        for _ in range(2):
            b[1:-1] = b[:-2] + b[2:]
        return b.sum()

    a = np.ones(2**23)  # far more than what the compiler itself remembers of a program
    dcpy.program(smoothed)(a)
    gc.collect()
    before = resident()
    for _ in range(6):
        dcpy.program(smoothed)(a)
        gc.collect()
    assert resident() - before < 3 * a.nbytes


def test_arrays_that_a_callback_has_kept_stay():
    kept = []

    @dcpy.callback(returns=float)
    def keep(a):
        kept.append(a)
        return float(a[0])

    @dcpy.program
    def calling(a):
        b = a * 2.0
        return keep(b) + b

    a = np.ones(1000)
    before = mappings()
    assert calling(a)[0] == 4
    del calling
    assert mappings() == before
    assert kept[0].sum() == 2000


def test_a_call_that_runs_holds_its_code():
    holder = [compile_sdfg(LONG)]
    x = np.zeros(1)
    thread = threading.Thread(target=holder[0], args=(x,))
    thread.start()
    time.sleep(0.02)
    holder.clear()
    gc.collect()
    thread.join()
    assert x[0] == 200000000


def test_sixteen_threads_load_call_and_drop_the_same_programs():
    a = np.ones((40, 40))
    for k in (1, 2):
        number_times(k)(a)  # compiled
    before = mappings()

    def use(thread: int) -> bool:
        sums = [number_times(1 + (thread + turn) % 2)(a)[1] for turn in range(6)]
        return sums == [64000.0 * (1 + (thread + turn) % 2) for turn in range(6)]

    with ThreadPoolExecutor(16) as threads:
        assert all(threads.map(use, range(16)))
    assert mappings() == before


FORKS = """
import gc, os
import numpy as np
from tests.runtime.loading.test_unloading import mappings, number_times
a = np.ones((300, 300))
held = number_times(1)
held(a)
number_times(2)(a)
before = mappings()
if os.fork() == 0:
    right = [number_times(k)(a)[1] == 300.0**3 * k for k in (2, 1, 2)]
    del held
    os._exit(0 if all(right) and mappings() == 0 else 1)
assert os.wait()[1] == 0
for _ in range(30):
    number_times(2)(a)
assert held(a)[1] == 300.0**3 and mappings() == before > 0
"""
ENDS = """
import threading, time
import numpy as np
from tests.runtime.loading.test_unloading import LONG, compile_sdfg, number_times
a, x = np.ones((300, 300)), np.zeros(1)
held = number_times(1)
result = held(a)
threading.Thread(target=compile_sdfg(LONG), args=(x,), daemon=True).start()
time.sleep(0.02)
"""


@pytest.mark.parametrize("script", [FORKS, ENDS], ids=["forks", "the process ends while a thread runs"])
def test_processes_that_fork_and_end(script):
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
