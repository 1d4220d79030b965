"""`program.tune`: what it measures, what it keeps, whom it serves, and what it refuses."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import DcpyError, DeviceError
from dcpy.programs.autotuning import local_search
from dcpy.programs.autotuning.local_search import Tuning

BUSY = 1 + os.getloadavg()[0] / (os.cpu_count() or 1)  # versions take longer to compile where others compute, too

pytestmark = pytest.mark.cc


def smooth(A, B, steps):
    for _ in range(steps):
        B[1:-1] = 0.5 * (A[:-2] + A[2:])
        A[1:-1] = 0.5 * (B[:-2] + B[2:])
    return B.sum()


def made(function, tmp_path: Path, **options):
    return dcpy.program(function, cache_dir=str(tmp_path), **options)


def test_the_result_is_a_table_the_quickest_first(tmp_path: Path) -> None:
    program = made(smooth, tmp_path, auto_optimize=True)
    A, B = np.arange(100.0), np.zeros(100)
    found = program.tune(A, B, 3, seconds=8 * BUSY)
    assert isinstance(found, Tuning)
    assert A[5] == 5
    assert not B.any()
    assert list(found.versions) == sorted(found.versions, key=lambda version: version.seconds)
    assert found.chosen in found.versions
    assert found.before in found.versions
    assert found.speedup >= 1
    assert found.chosen.seconds <= found.before.seconds
    assert f"{found.chosen}" in str(found)
    assert "smooth with " in str(found)
    assert any(version.sizes_as_numbers for version in found.versions)


@pytest.fixture
def always_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """The version before is taken to be the slowest: what follows from a choice can be seen without a stopwatch."""
    measure = local_search._Search._measure

    def slower(search, trials) -> None:
        measure(search, trials)
        search.before.times = [1.0 + max(trial.seconds for trial in trials)] * 3

    monkeypatch.setattr(local_search._Search, "_measure", slower)


@pytest.mark.usefixtures("always_taken")
def test_a_choice_serves_calls_of_these_sizes_alone(tmp_path: Path) -> None:
    program = made(smooth, tmp_path)
    found = program.tune(np.arange(50.0), np.zeros(50), 2, seconds=5 * BUSY)
    assert found.chosen.sizes_as_numbers
    assert found.chosen is not found.before
    assert found.kept
    assert list(found.sizes.values()) == [50]
    for size in (50, 51, 50, 9):
        A, B = np.arange(float(size)), np.zeros(size)
        expected_A, expected_B = A.copy(), B.copy()
        expected = smooth(expected_A, expected_B, 2)
        assert program(A, B, 2) == pytest.approx(expected)
        np.testing.assert_array_equal(A, expected_A)
        np.testing.assert_array_equal(B, expected_B)
    assert program.specializations == 2  # the tuned one, and the one for all sizes


@pytest.mark.usefixtures("always_taken")
def test_to_tune_again_is_to_choose_again(tmp_path: Path) -> None:
    program = made(smooth, tmp_path)
    first = program.tune(np.arange(50.0), np.zeros(50), 2, seconds=4 * BUSY)
    second = program.tune(np.arange(50.0), np.zeros(50), 2, seconds=4 * BUSY)
    assert first.kept
    assert second.kept
    other = program.tune(np.arange(60.0), np.zeros(60), 2, seconds=4 * BUSY)
    assert other.kept
    assert list(other.sizes.values()) == [60]
    again = made(smooth, tmp_path)
    again(np.arange(60.0), np.zeros(60), 2)
    assert again.specializations == 2  # of 50 and of 60; the one for all sizes was not needed yet
    again(np.arange(70.0), np.zeros(70), 2)
    assert again.specializations == 3


SCRIPT = """
import sys
import numpy as np
import dcpy

@dcpy.program(cache_dir=sys.argv[1])
def scale(x, a):
    return x * a + 1

if sys.argv[2] == "tune":
    from dcpy.programs.autotuning.local_search import _Search
    measure = _Search._measure
    def slower(search, trials):  # what there was is taken to be the slowest, so that something else is chosen
        measure(search, trials)
        search.before.times = [1.0 + max(trial.seconds for trial in trials)] * 3
    _Search._measure = slower
    print(scale.tune(np.ones(8), 2.0, seconds=4).kept)
else:
    assert scale(np.ones(8), 2.0).tolist() == [3.0] * 8
    print(scale.specializations, scale.profile.get("compiler", 0.0))
    assert scale(np.ones(9), 2.0).tolist() == [3.0] * 9
    print(scale.specializations)
"""


def test_later_processes_run_what_was_chosen(tmp_path: Path) -> None:
    file = tmp_path / "script.py"
    file.write_text(SCRIPT)

    def run(what: str) -> str:
        command = [sys.executable, str(file), str(tmp_path / "cache"), what]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout

    assert run("tune").strip() == "True"
    assert run("call").split() == ["1", "0.0", "2"]


def test_versions_with_other_bits_are_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generated = local_search._Search._artifact

    def with_other_bits(search, options):
        artifact, call = generated(search, options)
        unit = artifact.units[0]
        wrong = unit.text.replace("2.0", "2.0000000000000004")
        assert wrong != unit.text
        import dataclasses

        return dataclasses.replace(artifact, units=(dataclasses.replace(unit, text=wrong), *artifact.units[1:])), call

    monkeypatch.setattr(local_search._Search, "_artifact", with_other_bits)

    def double(x):
        return x * 2.0

    found = made(double, tmp_path).tune(np.ones(5), seconds=4)
    assert found.refused > 0
    assert found.chosen is found.before
    assert found.versions == (found.before,)
    assert f"{found.refused} more gave other results" in str(found)


def test_overrides_can_be_given_as_they_were_found(tmp_path: Path) -> None:
    plain, other = made(smooth, tmp_path), made(smooth, tmp_path, overrides=("lanes=2", "map-fusion=off"))
    A, B = np.arange(30.0), np.zeros(30)
    expected = plain(A.copy(), B.copy(), 2)
    assert other(A.copy(), B.copy(), 2) == expected
    assert other.options.overrides == ("lanes=2", "map-fusion=off")


def test_objects_strides_symbols_and_several_arguments(tmp_path: Path) -> None:
    @dataclass
    class Body:
        x: np.ndarray
        t: float

    def push(body, v, dt):
        body.x[:] = body.x + v * dt
        body.t = body.t + dt
        return body.t

    program = made(push, tmp_path)
    body = Body(np.zeros((4, 6))[:, ::2], 0.0)
    found = program.tune(body, np.ones((3, 4)).T, 0.5, seconds=4)
    assert body.t == 0.0
    assert not body.x.any()
    assert found.chosen in found.versions
    assert program(body, np.ones((3, 4)).T, 0.5) == 0.5
    assert (body.x == 0.5).all()
    assert body.t == 0.5

    N = dcpy.symbol("N")

    def zeros():
        return np.zeros(N)

    made_zeros = made(zeros, tmp_path)
    assert made_zeros.tune(N=4, seconds=3).chosen is not None
    assert made_zeros(N=5).shape == (5,)


def test_what_a_call_raises_is_raised(tmp_path: Path) -> None:
    def fails(x):
        if x[0] > 0:
            raise ValueError("too large")
        return x * 2

    with pytest.raises(ValueError, match="too large"):
        made(fails, tmp_path).tune(np.ones(3))


def test_programs_that_do_more_than_to_compute_are_refused(tmp_path: Path) -> None:
    seen = []

    def spy(x):
        seen.append(x.shape)
        return x

    def calls(x):
        return spy(x) + 1

    program = made(calls, tmp_path, allow_callbacks=True)
    with pytest.raises(DcpyError, match="which tuning would call many times"):
        program.tune(np.ones(3))
    assert len(seen) <= 1
    gpu = made(smooth, tmp_path, device=dcpy.DeviceType.GPU, gpu_backend="simulator")
    with pytest.raises(DeviceError, match="for CPUs"):
        gpu.tune(np.ones(3), np.ones(3), 1)
    races = made(smooth, tmp_path, check_races=True)
    with pytest.raises(DcpyError, match="compiled programs of one process"):
        races.tune(np.ones(3), np.ones(3), 1)
