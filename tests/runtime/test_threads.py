"""Threads of GNU OpenMP: a forked child, which has none of them, still computes; idle ones do not spin for long."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dcpy.codegen.prelude import CPP_PRELUDE
from dcpy.runtime.compilers.toolchain import find_toolchain

pytestmark = pytest.mark.cc

TOTAL = '''
import ctypes
import os
import signal

import numpy as np

from tests.support.compiled import compile_sdfg

total = compile_sdfg("""
    sdfg @total(x: f64[N], r: f64[1]) symbols(N: size) {
      state { map i = 0:N { tasklet (a <- x[i]) -> (o -> r[0] (add)) { o = a } } }
    }""")
x, r = np.ones(1_000_000), np.zeros(1)
total(x, r)
'''
FORK = """
if os.fork() == 0:
    signal.alarm(20)
    total(x, r)
    os._exit(0 if r[0] == 2e6 else 1)
raise SystemExit(os.wait()[1])
"""
LEFT = "print(ctypes.CDLL(None).getenv(b'GOMP_SPINCOUNT'))"


def outcome(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return _outcome("-c", program, **environment)


def outcome_of_file(folder: Path, program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """For programs with functions, whose source is read."""
    path = folder / "program.py"
    path.write_text(program)
    return _outcome(str(path), **environment)


def _outcome(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "ignore", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env={**os.environ, **environment})


def test_a_forked_child_does_not_wait_for_its_parents_threads():
    done = outcome(TOTAL + FORK)
    assert done.returncode == 0, done.stderr


def test_idle_threads_spin_briefly_unless_the_user_says_how_they_wait():
    ours = outcome(TOTAL + LEFT, OMP_DISPLAY_ENV="verbose")
    if "GOMP_SPINCOUNT" not in ours.stderr:
        pytest.skip("not GNU OpenMP")
    assert "GOMP_SPINCOUNT = '5000'" in ours.stderr
    assert ours.stdout == "0\n"
    theirs = outcome(TOTAL, OMP_DISPLAY_ENV="verbose", OMP_WAIT_POLICY="active")
    assert "GOMP_SPINCOUNT = '5000'" not in theirs.stderr


PRODUCT = """
import os
import signal
import threading

import numpy as np

import dcpy
from dcpy.runtime.loading import shared_libraries

shared = []
shared_libraries.share_pool = lambda handle, share=shared_libraries.share_pool: shared.append(share(handle))


@dcpy.program
def matmul(a, b, c):
    c[:] = a @ b


@dcpy.program
def rows(a, b, c):
    for i in dcpy.map[0 : a.shape[0]]:
        c[i] = a[i] @ b


rng = np.random.default_rng(0)
a, b = rng.random((200, 200)), rng.random((200, 200))


exact = np.einsum("ik,kj->ij", a, b)


def is_right():
    c = np.zeros_like(a)
    matmul(a, b, c)
    return np.allclose(c, exact) and np.allclose(a @ b, exact)


assert is_right()
"""
POOLED = "print(shared[-1], 'OPENBLAS_THREAD_TIMEOUT' in os.environ)"
TURNS = """
wrong = []
def often():
    for _ in range(20):
        if not is_right():
            wrong.append(1)
threads = [threading.Thread(target=often) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(60)
assert not wrong and not any(thread.is_alive() for thread in threads)
"""
INSIDE = """
stacked, c = rng.random((6, 200, 200)), np.zeros((6, 200, 200))
rows(stacked, b, c)
assert np.allclose(c, stacked @ b)
"""
FORKED = """
if os.fork() == 0:
    signal.alarm(20)
    os._exit(0 if is_right() else 1)
raise SystemExit(os.wait()[1])
"""


@pytest.mark.parametrize("threads", ["1", "2", "5"])
@pytest.mark.parametrize("program", [TURNS, INSIDE, FORKED], ids=["threads of Python", "a parallel map", "a fork"])
def test_products_run_on_the_threads_of_openmp(tmp_path, program, threads):
    done = outcome_of_file(tmp_path, PRODUCT + program, OMP_NUM_THREADS=threads)
    assert done.returncode == 0, done.stderr


def test_products_have_no_pool_of_their_own(tmp_path):
    """Workers of another pool spin for a tenth of a second after each call, on the processors that maps want.

    The second is NumPy's: it has a BLAS of another kind where it does not come from PyPI.
    """
    done = outcome_of_file(tmp_path, PRODUCT + POOLED)
    assert done.stdout in ("(True, True) False\n", "(True, False) False\n"), done.stderr


def test_a_team_rests_where_threads_wait_for_processors_and_not_where_work_is_uneven(tmp_path):
    """The first line of each: a thread that works longer than the first one is what teams are for."""
    toolchain = find_toolchain()
    if not toolchain.openmp:
        pytest.skip("no OpenMP")
    helpers = CPP_PRELUDE.text(["dcpy_team"], frozenset())
    (tmp_path / "teams.cpp.h").write_text(helpers.replace('extern "C" int clock_gettime', "//"))
    source = Path(__file__).with_name("teams.cpp")
    command = [*toolchain.command, "-std=c++17", "-w", "-O1", "-I", str(tmp_path), str(source)]
    program = str(tmp_path / "program")
    subprocess.run([*command, *toolchain.openmp.compile, *toolchain.openmp.link, "-o", program], check=True)
    done = subprocess.run(
        [program], capture_output=True, text=True, check=True, env={**os.environ, "OMP_NUM_THREADS": "2"}
    )
    assert done.stdout == "work is uneven: 20 of 20\nprocessors are taken: rests\nlater: 20 of 20\n"
