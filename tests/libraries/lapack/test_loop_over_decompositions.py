"""Decompositions of stacks run in turn, where a device's library does them: shape, value, refusal."""

import os
import subprocess
import sys

import numpy as np
import pytest

import dcpy
from dcpy import driver, plugins
from dcpy.base.options import resolve_options
from dcpy.ir.text import print_sdfg
from dcpy.libraries.lapack.loop_over_decompositions import LoopOverDecompositions
from tests.support.expect import expect, parse

NODE = "lapack.eigh (a <- A[i, j, 0:K, 0:K]) -> (w -> W[i, j, 0:K], info -> info)"
BODY = f'data info: i32 transient state {{ {NODE} }} check info[] == i32(0) else LinAlgError "it did not"'
STACK = f"state {{ copy s -> t map i = 0:N, j = 0:M {{ {BODY} }} }}"
LOOPS = f"state {{ copy s -> t }} loop i = 0:N {{ loop j = 0:M {{ {BODY} }} }}"
QR = "state { map i = 0:N { lapack.qr (a <- S[i, 0:32, 0:40]) -> (r -> S[i, 0:32, 0:40]) } }"
SMALL = "state { map i = 0:N { lapack.svd (a <- S[i, 0:32, 0:40]) -> (s -> V[i, 0:32], info -> I[i]) } }"


def program(text):
    plugins.load()
    return parse(
        "sdfg @f(A: f64[N, M, K, K], W: f64[N, M, K], S: f64[N, 32, 40], V: f64[N, 32], I: i32[N], s: f64, t: f64[1]) "
        f"symbols(N: size, M: size, K: size) {{ {text.replace('-> t ', '-> t[0] ')} }}"
    )


def test_a_map_becomes_loops():
    found = expect(LoopOverDecompositions(), on=program(STACK)).becomes(print_sdfg(program(LOOPS)))
    found.same_values(N=[1, 2], M=[2], K=[1])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (SMALL, "matrices of 32 rows are work for the host, which has LAPACK"),
        (STACK.replace("map i = 0:N, j = 0:M {", "map i = 0:N, j = 0:M @sequential {"), "the map has a schedule"),
        (f"state {{ {NODE.replace('i, j,', '0, 0,').replace('-> info)', '-> I[0])')} }}", "it is inside of no map"),
        (QR, "it has kernels, or no call"),
    ],
)
def test_refusals(text, reason):
    expect(LoopOverDecompositions(), on=program(text)).is_refused(reason)


def test_calls_are_in_the_loop():
    """On the device; `info` comes to the host, which looks at it before the next matrix."""
    sdfg = program(STACK)
    lowered, _ = driver.lower(sdfg, resolve_options({"device": "gpu", "gpu.backend": "simulator"}))
    text = print_sdfg(lowered)
    assert "loop i = 0:N" in text
    assert text.count("dcpy_syevd(100, 0, 1, K, &a, max(1, K), &w, &info)") == 1
    assert "LAPACKE" not in text


def inverses(A):
    return np.linalg.inv(A)


def test_maps_that_call_lapack_leave_it_the_threads():
    told = dcpy.program(inverses).to_sdfg(np.ones((4, 3, 3))).explain("assign-schedules")
    assert "has threads of its own" in told or "LAPACKE" not in told


@pytest.mark.cc
def test_stacks_of_large_matrices_do_not_wait_for_ever(tmp_path):
    """In a process of its own: OpenBLAS's threads cannot be told to give up."""
    script = tmp_path / "stack.py"
    script.write_text(
        "import numpy as np, dcpy\n"
        "@dcpy.program(auto_optimize=True)\n"
        "def inverses(A):\n"
        "    return np.linalg.inv(A)\n"
        "A = np.random.default_rng(1).random((32, 100, 100)) * (1 + 1j) + 100 * np.eye(100)\n"
        "for _ in range(4):\n"
        "    np.testing.assert_allclose(inverses(A), np.linalg.inv(A), rtol=1e-9, atol=1e-12)\n"
    )
    subprocess.run([sys.executable, script], check=True, timeout=300, env={**os.environ, "OMP_NUM_THREADS": "2"})
