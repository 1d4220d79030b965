"""The sanitizers of `make sanitize` report the faults they are there for, and nothing where there is none."""

import pytest

from tests.sanitizers.sanitizer import SANITIZERS, reports

FAULTS = {
    "heap": ("address", "heap-buffer-overflow"),
    "stack": ("address", "index 8 out of bounds"),
    "race": ("threads", "data race"),
}


@pytest.mark.cc
@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_reported(fault, tmp_path, capfd):
    name, expected = FAULTS[fault]
    assert SANITIZERS[name].run(tmp_path, "-m", "tests.sanitizers.faults", fault) != 0
    assert expected in reports(tmp_path) + capfd.readouterr().err


@pytest.mark.cc
@pytest.mark.heavy
@pytest.mark.parametrize("name", SANITIZERS)
def test_a_parallel_kernel_has_no_reports(name, tmp_path):
    test = "tests/benchmarks/test_dcpy.py::test_equals_numpy[jacobi_2d-optimized]"
    words = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tests.sanitizers.teams", test)
    assert SANITIZERS[name].run(tmp_path, *words) == 0
    assert reports(tmp_path) == ""
