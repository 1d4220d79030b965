"""What residents of a campaign answer, with stand-ins for the peers, and the simulator as the device."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.device_campaign import counters, steps
from benchmarks.device_campaign.ceilings import DEVICES, WHAT
from benchmarks.device_campaign.problems import PROBLEMS
from benchmarks.device_campaign.residents import Resident
from benchmarks.device_campaign.setting import BY_HAND, CEILINGS, KERNELS, Setting
from benchmarks.devices import FRAMEWORKS
from benchmarks.npbench import kernels

STAND_INS = Path(__file__).parent / "stand_ins"
TIMES = {"repeat": 2, "measured": 0.02}


@pytest.fixture
def resident(tmp_path, monkeypatch):
    """Makes residents in a role, which end with the test."""
    monkeypatch.setenv("PYTHONPATH", str(STAND_INS))
    monkeypatch.syspath_prepend(str(STAND_INS))
    monkeypatch.setenv("PATH", f"{STAND_INS / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("DCPY_GPU_BACKEND", "simulator")
    made = []

    def make(name, module):
        role = Setting(tmp_path, True).role(name, module)
        role = replace(role, environment={**role.environment, "DCPY_CACHE_DIR": os.environ["DCPY_CACHE_DIR"]})
        made.append(Resident(role, tmp_path))
        mine = len(made) - 1

        def ask(**question):
            if not made[mine].is_there:
                made[mine] = Resident(role, tmp_path)
            return made[mine].ask(question, 120.0)

        return ask

    yield make
    for one in made:
        if one.is_there:
            one.end()


@pytest.mark.parametrize("name", DEVICES)
def test_ceilings(name, resident):
    ask = resident(name, CEILINGS)
    found = {what: ask(what=what, size=1 << 12, measured=0.01) for what in WHAT}
    refused = {what for what, row in found.items() if row["status"] != "ok"}
    assert refused == ({"gemm bfloat16"} if name == "torch" else {"gemm bfloat16", "gemm tf32"})
    assert all(row["figure"] > 0 for row in found.values() if row["status"] == "ok")
    assert found["copy"]["unit"] == "GB/s"


@pytest.mark.cc
@pytest.mark.parametrize("name", ["cuda-c", "numba-cuda"])
def test_problems_by_hand(name, resident):
    ask = resident(name, BY_HAND)
    for problem in PROBLEMS:
        row = ask(problem=problem, compared=100, size=50, **TIMES)
        assert row["status"] == "ok", problem
        assert row["bytes"] == PROBLEMS[problem].moved(50)
        assert row["median"] > 0


@pytest.mark.cc
@pytest.mark.parametrize("problem", ["triad", "gather"])
def test_problems_in_dcpy(problem, resident):
    assert resident("dcpy", BY_HAND)(problem=problem, compared=100, size=50, **TIMES)["status"] == "ok"


@pytest.mark.cc
@pytest.mark.parametrize("name", FRAMEWORKS)
def test_kernels_in_each_framework(name, resident):
    ask = resident(name, KERNELS)
    for kernel in ("atax", "jacobi_1d"):
        row = ask(ask="check", kernel=kernel, compared="XS", preset="XS")
        assert row["status"] == "ok"
        assert row["version"]
    row = ask(ask="time", kernel="atax", preset="XS", **TIMES)
    assert (row["status"], row["clock"]) == ("ok", "host")
    assert row["bytes"] > 8 * np.prod([*kernels()["atax"].sizes["XS"].values()])


@pytest.mark.cc
def test_a_pass_is_left_out(resident):
    ask = resident("dcpy", KERNELS)
    row = ask(ask="check", kernel="jacobi_1d", compared="XS", preset="XS")
    assert row["passes"]["overlapped-tiles"] > 0
    question = {"kernel": "jacobi_1d", "compared": "XS", "preset": "XS", **TIMES}
    row = ask(ask="ablate", without="overlapped-tiles", **question)
    assert (row["status"], row["status_with_it"]) == ("ok", "ok")
    assert row["with_it"] > 0 < row["median"]
    row = ask(ask="ablate", without="place-data", **question)
    assert row["status"].startswith("refused: InvalidOption")


def test_what_is_refused_is_a_row(resident):
    row = resident("jax-gpu", KERNELS)(ask="time", kernel="spmv", preset="XS", **TIMES)
    assert row["status"] == "ok" or row["status"].startswith("refused: ")


def test_a_broken_peer_answers_why(resident, monkeypatch, tmp_path):
    (tmp_path / "cupy.py").write_text("raise ImportError('no driver')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    row = resident("cupy", KERNELS)(ask="time", kernel="gemm", preset="XS", **TIMES)
    assert row["status"] == "refused: ImportError: no driver"


NCU = """==PROF== Connected
"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"
"0","a(double*)","dram__bytes.sum","byte","1,000"
"0","a(double*)","gpu__time_duration.sum","nsecond","500"
"0","a(double*)","sm__warps_active.avg.pct_of_peak_sustained_active","%","40"
"1","a(double*)","dram__bytes.sum","byte","3,000"
"1","a(double*)","gpu__time_duration.sum","nsecond","1,500"
"1","a(double*)","sm__warps_active.avg.pct_of_peak_sustained_active","%","60"
"""


def test_counters_of_ncu():
    row = counters.read(0, NCU)
    found = row["kernels"]["a(double*)"]
    assert row["status"] == "ok"
    assert found == {"launches": 2, "bytes": 4000, "seconds": pytest.approx(2e-6), "occupancy": 50}
    assert counters.read(1, "==ERROR== no permission")["status"] == "crash: exit 1: ==ERROR== no permission"
    assert counters.read(0, "")["status"] == "refused: ncu saw no kernels"


def test_what_sanitizers_and_tests_say():
    assert steps.reports(0, "3 kernels") == {"status": "ok"}
    assert steps.reports(1, "memcheck: gemm: Invalid read\n1 kernels")["status"] == "wrong: 1 reports"
    assert steps.reports(-11, "")["status"] == "crash: SIGSEGV: no message"
    assert steps.passed(0, "..\n2 passed in 1 s\n") == {"said": "2 passed in 1 s", "status": "ok"}
    assert steps.passed(1, "F\nFAILED a.py::b\n1 failed\n")["lines"] == ["FAILED a.py::b"]
    assert steps.passed(4, "no such file")["status"] == "crash: exit 4: no such file"
