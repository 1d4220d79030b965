"""The report of a campaign: tables from stored figures, means, shares of ceilings, what failed; and the words."""

from __future__ import annotations

import json

import pytest

from benchmarks.device_campaign import __main__ as command
from benchmarks.device_campaign import comparisons, floors, report
from benchmarks.peers import heatmap


def row(kernel, framework, median=None, status="ok", **more):
    clocks = {"clock": "events", "times": [median] * 5, "median": median, "host_median": median}
    times = {} if median is None else clocks | {"bytes": 8_000_000}
    return {"key": {"kernel": kernel, "framework": framework}, "preset": "S", "status": status} | times | more


FACTS = {
    "date": "2026-12-01",
    "device": {"name": "No GPU, sm_90", "constants": {}},
    "preset": "S",
    "commit": "abc",
    "sources": "def",
    "versions": {"numpy": "2.4"},
    "missing": ["torch"],
}
DOCTOR = ["GPU: cuda  here", "constants of the cuda device, measured now:", f"        {'launch':24}     3.000 µs"]
FILES = {
    "1-ceilings": [
        {"key": {"ceiling": "copy", "framework": "torch"}, "figure": 4000.0, "unit": "GB/s", "status": "ok"},
        {"key": {"ceiling": "gemm float64", "framework": "torch"}, "figure": 50.0, "unit": "TFLOP/s", "status": "ok"},
        {"key": {"doctor": "dcpy"}, "lines": DOCTOR, "status": "ok"},
    ],
    "2-compile": [
        row("gemm", "cupy", version="14.2"),
        *(row("gemm", name) for name in ("dcpy", "jax-gpu")),
        *(row("atax", name) for name in ("cupy", "torch")),
        row("atax", "dcpy", status="timeout: more than 30 s"),
        row("lu", "dcpy"),
    ],
    "3-clock": [
        row("gemm", "dcpy", 1e-3),
        row("gemm", "cupy", 2e-3),
        row("gemm", "jax-gpu", 3e-3, clock="host"),
        row("gemm", "torch", status="refused: TypeError: no | way"),
        row("atax", "dcpy", 4e-3),
        row("atax", "cupy", 2e-3),
        row("atax", "torch", 5e-3, graph_breaks=2),
        row("lu", "dcpy", 1e-2),
        row("lu", "cupy", status="timeout: more than 12 s"),
    ],
    "4-by-hand": [{**row("", "dcpy", 1e-5), "key": {"problem": "triad", "framework": "dcpy"}}],
    "5-ablation": [
        {"key": {"pass": "kernel-fusion", "kernel": "gemm"}, "with_it": 1e-3, "median": 3e-3, "status": "ok"},
        {"key": {"pass": "kernel-fusion", "kernel": "lu"}, "status": "timeout: more than 20 s"},
    ],
    "6-tools": [
        {"key": {"tool": "memcheck", "kernels": "gemm,lu"}, "status": "ok"},
        {
            "key": {"tool": "ncu", "kernel": "gemm"},
            "kernels": {"k(x)": {"launches": 2, "bytes": 4e6, "seconds": 2e-6, "occupancy": 50.0}},
            "status": "ok",
        },
    ],
    "7-tests": [{"key": {"file": "tests/a.py"}, "said": "3 passed", "status": "ok"}],
}


@pytest.fixture
def out(tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    for name, rows in FILES.items():
        took = {"steps": {name[2:]: {"seconds": 7.0, "done": name != "3-clock"}}}
        (folder / f"{name}.json").write_text(json.dumps({**FACTS, **took, "rows": rows}))
    return folder


def test_the_page_from_stored_figures(tmp_path, out):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n")
    assert command.main(["--report", str(page), "--out", str(out)]) == 0
    told = page.read_text()
    assert "old" not in told
    for line in (
        "2026-12-01: No GPU, sm_90; preset S; commit abc, sources def.",
        "numpy 2.4, cupy 14.2. Not there: torch.",
        "| copy | 4000 GB/s |",
        "| doctor: launch | 3.000 µs |",
        "* dcpy: 1.00 times (geometric mean of 2 kernels; atax: 0.50) the best peer of each kernel, "
        "the fastest of all on 1 of 2",
        "* dcpy: 1.00 times (geometric mean of 2 kernels; atax: 0.50) cupy",
        "* dcpy: 3.00 times (geometric mean of 1 kernel; gemm: 3.00) jax-gpu",
        "* dcpy runs 3 of 3 kernels that were reached",
        "| kernel, ms | dcpy | cupy | jax-gpu | torch | best peer | dcpy over it | of the ceiling |",
        "| gemm | 1 | 2 | 3 | refused | cupy | 2.00 | 5% |",
        "| atax | 4 ? | 2 |  | 5 (host) | cupy | 0.50 | 0% |",
        "| lu | 10 | timeout |  |  |  |  | 0% |",
        "| triad | 0.01 (20%) |",
        "| kernel-fusion | gemm | 1 | 3 | 3.00 |",
        "| kernel-fusion | lu |  | timeout |  |",
        "* memcheck: nothing to report on 2 kernels",
        "| gemm | k | 2 | 4 | 2000 | 50% |",
        "* tests/a.py: 3 passed",
        "* 3-clock torch: gemm: refused: TypeError: no \\| way",
        "* 3-clock cupy: lu: timeout: more than 12 s",
    ):
        assert line in told.splitlines(), line
    assert "Cut where their time was over: clock." in told
    assert sorted(path.name for path in (tmp_path / "results" / "device").glob("*.json")) == sorted(
        f"{name}.json" for name in FILES
    )
    assert (tmp_path / "results" / "device" / "npbench.svg").exists()
    assert command.main(["--report", str(page), "--out", str(tmp_path / "results" / "device")]) == 0
    assert page.read_text() == told


def test_nothing_to_report(tmp_path, capsys):
    assert command.main(["--report", str(tmp_path / "page.md"), "--out", str(tmp_path)]) == 1
    assert "no results" in capsys.readouterr().err


def test_by_the_host_s_clock_where_nobody_knows_the_stream():
    mine = row("gemm", "dcpy", 1e-3, host_median=2e-3)
    theirs = row("gemm", "jax-gpu", 3e-3, clock="host")
    assert comparisons.ratio(mine, row("gemm", "cupy", 4e-3, host_median=9e-3)) == pytest.approx(4)
    assert comparisons.ratio(mine, theirs) == pytest.approx(1.5)


def test_floors():
    ceilings = {"copy": 1000.0, "gemm float64": 1.0}
    assert floors.floor(row("atax", "dcpy", 1.0), ceilings) == pytest.approx(8e6 / 1e12)
    assert floors.floor(row("gemm", "dcpy", 1.0), ceilings) == pytest.approx(2 * 1000 * 1100 * 1200 / 1e12)
    assert floors.floor(row("gemm", "dcpy", 1.0), {}) is None


def test_operations_have_sizes_of_the_catalog():
    for kernel in floors.OPERATIONS:
        found = row(kernel, "dcpy", 1.0) | {"preset": "paper", "bytes": 0}
        assert floors.floor(found, {"gemm float64": 1.0, "gemm float32": 1.0}) > 0


def test_the_heat_map_is_beside_cupy():
    drawn = heatmap.cells(list(report._drawn(FILES["3-clock"])), "cupy")
    texts = [cell.text for cell in drawn]
    assert texts[:5] == ["dcpy", "jax-gpu", "torch", "cupy", "geometric mean"]
    assert "↑2" in texts
    assert "10 ms" in texts  # nothing to compare it with
    assert "refused" in texts


def test_words():
    chosen = command.options(["--only", "lu,gemm", "--frameworks", "cupy,dcpy", "--steps", "clock"])
    assert (chosen.only, chosen.steps, chosen.seconds) == (["lu", "gemm"], ["clock"], 540.0)
    for words in (["--only", "gem"], ["--steps", "clocks"], ["--frameworks", "numpy"]):
        with pytest.raises(SystemExit):
            command.options(words)
    setting = command.setting_of(command.options(["--only", "lu,gemm", "--frameworks", "cupy,dcpy", "--jobs", "3"]))
    assert (setting.kernels, setting.frameworks, setting.jobs) == (("gemm", "lu"), ("dcpy", "cupy"), 3)
    assert (setting.preset, setting.compared) == ("paper", "S")


def test_without_a_gpu_it_says_so(tmp_path, monkeypatch, capfd):
    monkeypatch.delenv("DCPY_GPU_BACKEND", raising=False)
    monkeypatch.setenv("DCPY_GPU_DRIVER", str(tmp_path / "none.so"))
    words = ["--out", str(tmp_path / "out"), "--work", str(tmp_path / "work")]
    assert command.main(words) == 2
    said = capfd.readouterr()
    assert command.NO_GPU in said.err
    assert said.out == ""
    assert not list((tmp_path / "out").iterdir())
