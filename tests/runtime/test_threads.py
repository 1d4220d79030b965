"""Threads of GNU OpenMP: a forked child, which has none of them, still computes; idle ones do not spin for long."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

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
    command = [sys.executable, "-W", "ignore", "-c", program]
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
