"""A process that has used threads forks: the child, which has none of them, still computes."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = '''
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
if os.fork() == 0:
    signal.alarm(20)
    total(x, r)
    os._exit(0 if r[0] == 2e6 else 1)
raise SystemExit(os.wait()[1])
'''


@pytest.mark.cc
def test_a_forked_child_does_not_wait_for_its_parents_threads():
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", PROGRAM], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
