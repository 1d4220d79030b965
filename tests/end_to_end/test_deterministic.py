"""The same program gives the same bytes, whatever the hash seed of the process."""

import os
import subprocess
import sys

PRINT_EVERYTHING = """
from examples import gemm, hdiff, jacobi_2d, softmax
import dcpy
from dcpy import driver
from dcpy.programs.signatures import signature_of
for module, name in ((gemm, "gemm"), (jacobi_2d, "jacobi_2d"), (hdiff, "hdiff"), (softmax, "softmax")):
    program = getattr(module, name)
    for simplify in (False, True):
        sdfg = program.to_sdfg(**module.initialize(4), simplify=simplify)
        print(sdfg)
        print(driver.artifact_of(sdfg, signature_of(sdfg), program.options).files)
"""


def output_with_seed(seed: str) -> bytes:
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    return subprocess.run(
        [sys.executable, "-c", PRINT_EVERYTHING], env=environment, check=True, capture_output=True
    ).stdout


def test_two_processes_print_the_same_bytes():
    first, second = output_with_seed("1"), output_with_seed("4242")
    assert len(first) > 1000
    assert first == second
