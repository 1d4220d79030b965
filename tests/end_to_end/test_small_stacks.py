"""Threads with the smallest stack that Python makes run programs with local arrays."""

import subprocess
import sys

import numpy as np
import pytest

import dcpy


def eight_arrays(x):
    a, b, c, d = np.zeros(1000), np.zeros(1000), np.zeros(1000), np.zeros(1000)
    e, f, g, h = np.zeros(1000), np.zeros(1000), np.zeros(1000), np.zeros(1000)
    for i in range(1000):
        a[i], b[999 - i] = x[i], x[i]
        c[i], d[i] = a[i // 2], b[i // 2] + a[0]
        e[i], f[i] = c[i // 3], d[i // 2]
        g[i], h[i] = e[i // 2], f[i // 3]
    total = 0.0
    for i in range(1000):
        total += a[i] * b[i] + c[i] * d[999 - i] + e[i] * f[999 - i] + g[i] * h[i // 2]
    return total


IN_A_THREAD = """
import sys, threading
import numpy as np
import dcpy
from tests.end_to_end.test_small_stacks import eight_arrays
program, x, found = dcpy.program(eight_arrays), np.arange(1000.0), []
program(x)  # the compiler needs more
threading.stack_size(64 * 1024)
thread = threading.Thread(target=lambda: found.append(program(x)))
thread.start()
thread.join()
sys.exit(found != [eight_arrays(x)])
"""


@pytest.mark.cc
def test_a_thread_of_64_kib_runs_eight_arrays_of_8_kib():
    assert subprocess.run([sys.executable, "-c", IN_A_THREAD], timeout=300).returncode == 0


def test_arrays_of_loops_one_after_the_other_share_the_stack():
    array = "map I{0} = 0:9 {{ data t{0}: f64[1000] transient\n tasklet () -> (b -> t{0}[I{0}]) {{ b = 1.0 }} }}"
    maps = "\n".join(array.format(number) for number in range(8))
    text = f"sdfg @loops() {{ state {{ {maps} }} }}"
    assert str(dcpy.parse(text).lower()).count("@stack") == 8
