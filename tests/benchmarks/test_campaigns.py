"""Campaigns: what is kept, which sizes are taken, how far the bars are, and programs in C."""

import json
import shutil

import pytest

from benchmarks import limits
from benchmarks.npbench import kernels
from benchmarks.peers import bars, large, polybench, streaming
from benchmarks.peers.campaign import Campaign, Table
from benchmarks.timing import in_new_process


def row(framework, median=None, *, kernel="gemm", preset="S", threads=1, **more):
    known = {"kernel": kernel, "framework": framework, "preset": preset, "threads": threads, "status": "ok"}
    return known | ({} if median is None else {"median": median}) | more


def test_rows_are_kept_and_those_measured_again_take_their_place(tmp_path):
    campaign = Campaign([row("numpy", 1.0), row("dcpy", 0.5)], {"1": {"triad": 1.0}}, {"gemm": "M"})
    campaign.add(row("numpy", 2.0))
    campaign.add(row("numpy", 3.0, threads=2))
    campaign.write(tmp_path / "deep" / "c.json")
    found = Campaign.read(tmp_path / "deep" / "c.json")
    assert found == campaign
    assert [one["median"] for one in found.rows] == [2.0, 0.5, 3.0]
    assert found.parts() == [Table("S", 1), Table("S", 2)]
    assert found.has(Table("S", 2), "gemm", "numpy")
    assert not found.has(Table("S", 2), "gemm", "dcpy")


def test_a_file_of_another_form_is_refused(tmp_path):
    (tmp_path / "old.json").write_text(json.dumps([row("numpy", 1.0)]))
    with pytest.raises(ValueError, match="no campaign"):
        Campaign.read(tmp_path / "old.json")


def test_who_measures_no_numpy_gets_what_the_others_measured():
    campaign = Campaign([row("a", 0.5, numpy_median=1.0), row("b", 0.5, numpy_median=3.0), row("c", 1.0)])
    assert [one["numpy_median"] for one in campaign.of(Table("S", 1))] == [1.0, 3.0, 2.0]


def test_all_are_compared_with_the_median_of_all_calls_of_numpy():
    slow, quick = [9.0, 9.0, 1.0], [1.0, 1.0, 1.0]  # in the first process, two calls were slow
    campaign = Campaign(
        [
            row("a", 0.5, numpy_median=9.0, numpy_times=slow),
            row("b", 0.5, numpy_median=1.0, numpy_times=quick),
            row("a", 0.5, kernel="other", numpy_median=4.0, numpy_times=[4.0]),
        ]
    )
    assert [one["numpy_median"] for one in campaign.of(Table("S", 1))] == [1.0, 1.0, 4.0]


@pytest.mark.parametrize(
    ("seconds", "preset"),
    [
        ({"S": 0.1, "M": 0.2, "paper": 0.9, "L": 9.0}, "paper"),
        ({"S": 0.1, "M": 0.2, "paper": 0.15, "L": 0.8}, "L"),
        ({"S": 0.1, "M": 3.0, "paper": 0.5}, "paper"),  # L is larger than M: it is not tried
        ({"S": 0.1, "M": 0.3, "paper": 0.2, "L": float("inf")}, "M"),
        ({"S": 2.0}, "S"),
    ],
)
def test_the_large_preset_takes_numpy_longest_within_a_second(seconds, preset):
    assert large.preset_of(kernels()["gemm"], lambda name: seconds[name]) == preset


def test_sizes_at_which_a_unit_in_the_last_place_decides_are_chaotic():
    assert large.is_chaotic(kernels()["nbody"], kernels()["nbody"].initialize("paper"))
    for name in ("mandelbrot2", "jacobi_1d", "crc16"):
        assert not large.is_chaotic(kernels()[name], kernels()[name].initialize("XS"))


def test_of_all_kernels_l_is_no_smaller_than_m():
    for kernel in kernels().values():
        assert all(kernel.sizes["L"][name] >= size for name, size in kernel.sizes["M"].items() if type(size) is int)


def compared(kernel, dcpy, numba, plain, first):
    ours = row("dcpy", dcpy, kernel=kernel, numpy_median=1.0, over_plain=plain, first_call=first)
    return [ours, row("numba", numba, kernel=kernel, numpy_median=1.0)]


def test_each_bar_has_its_figure():
    rows = [
        *compared("a", 0.1, 0.4, 1.2, 0.5),
        *compared("b", 0.5, 0.25, 0.9, 3.0),
        row("polybench-c", 0.2, kernel="a"),
    ]
    rows[-1]["numpy_median"] = 1.0
    assert {bar.what: (round(bar.value, 2), bar.said, bar.reached) for bar in bars.bars(rows, {})} == {
        "over the best peer of each kernel, geometric mean": (1.41, "", False),
        "kernels where dcpy is the fastest of all": (1, "of 2", False),
        "the worst kernel over its best peer": (0.5, "b, numba", False),
        "over NumPy, geometric mean": (4.47, "", False),
        "over the best C variant of PolyBench, geometric mean": (2.0, "1 kernels", False),
        "the worst kernel over its best C variant": (2.0, "a", True),
        "auto_optimize over plain, the worst kernel": (0.9, "b", False),
        "first call, cold, median of seconds": (1.75, "", False),
        "the longest first call, seconds": (3.0, "b", False),
    }


def test_kernels_that_stream_are_seen_beside_the_triad():
    """A step of jacobi_2d sweeps twice over both arrays, the first one not at all."""
    steps = kernels()["jacobi_2d"].sizes["beyond"]["TSTEPS"]
    rows = [
        row("dcpy", 1.0, kernel="jacobi_2d", preset="beyond", bytes=4e9),
        row("dcpy", 2.0, kernel="gesummv", preset="beyond", bytes=6e9),
    ]
    shares = dict(streaming.shares(rows, "dcpy", 30e9))
    assert shares == pytest.approx({"jacobi_2d": 2 * (steps - 1) * 4 / 30, "gesummv": 0.1})
    (bar,) = bars.bars(rows, {"triad": 30e9})
    assert (bar.value, bar.shown) == (pytest.approx(0.1), "0.1 (jacobi_2d 0.80, gesummv 0.10)")
    assert bars.bars(rows, {}) == []


def test_triads_are_measured_before_and_after(monkeypatch):
    speeds = iter([20e9, 40e9])
    monkeypatch.setattr(limits, "measured", lambda environment: {"triad": next(speeds), "dgemm": 1.0})
    beside = streaming.beside_triads(lambda: row("dcpy", 2.0, kernel="gesummv", preset="beyond", bytes=6e9), 2)
    assert dict(streaming.shares([beside], "dcpy", 1e9)) == {"gesummv": pytest.approx(0.1)}
    monkeypatch.setattr(limits, "measured", lambda environment: {})
    assert "triad" not in streaming.beside_triads(lambda: row("dcpy", 2.0), 2)


PROGRAM = r"""
#include <polybench.h>
#ifndef N
#define N 10
#endif
static double a[N];
int main(void)
{
    polybench_start_instruments;
    for (int i = 0; i < N; i++)
        a[i] = i * 0.5;
    polybench_stop_instruments;
    polybench_print_instruments;
    return a[N - 1] != (N - 1) * 0.5 || N != EXPECTED;
}
"""
HEADER = """
#define EXPECTED 400
void start(void);
void stop(void);
#ifdef POLYBENCH_TIME
#define polybench_start_instruments start()
#define polybench_stop_instruments start()
#define polybench_print_instruments stop()
#endif
"""
CLOCK = r"""
#include <stdio.h>
void start(void) {}
void stop(void) { printf("%0.6f\n", 0.25); }
"""


@pytest.fixture
def suite(tmp_path):
    """A folder like PolyBench's, with one program in it that is no kernel of its."""
    for name, text in (("utilities/polybench.h", HEADER), ("utilities/polybench.c", CLOCK)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "stencils" / "half-way").mkdir(parents=True)
    (tmp_path / "stencils" / "half-way" / "half-way.c").write_text(PROGRAM)
    return polybench.Suite(tmp_path, 3, 60.0)


def test_libraries_may_use_the_whole_machine(monkeypatch):
    """What tells OpenBLAS to take a processor for an older one would hold NumPy and dcpy back, and no compiler."""
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    code = "import json, os; print(json.dumps(sorted({'OPENBLAS_CORETYPE', 'WORD'} & set(os.environ))))"
    assert in_new_process(code, environment={"WORD": "2"}) == ["WORD"]


def test_programs_in_c_are_found_by_name(suite):
    assert list(polybench.sources(suite.folder)) == ["half_way"]
    (suite.folder / "3mm.c").write_text("")
    assert list(polybench.sources(suite.folder)) == ["k3mm", "half_way"]


@pytest.mark.cc
@pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc")
def test_programs_in_c_are_compiled_at_the_size_that_is_asked_for(suite):
    found = suite.row("half_way", {"N": 400, "factor": 0.5}, {}, 1)
    assert (found["status"], found["times"]) == ("ok", [0.25] * 3)
    assert found["variant"].split()[1:3] == ["-O3", "-march=native"]
    assert suite.row("half_way", {"N": 300}, {}, 1)["status"].startswith("crash")
    assert suite.row("gemm", {"N": 400}, {}, 1) is None


@pytest.mark.cc
def test_what_does_not_compile_is_refused_with_its_first_line(suite):
    (suite.folder / "lu.c").write_text("nonsense\n")
    found = suite.row("lu", {"N": 4}, {}, 1)
    assert found["status"].startswith("refused: ")
    assert "lu.c" in found["status"]


@pytest.mark.cc
def test_compilers_come_with_and_without_fast_math():
    """And with threads, also with what makes loops parallel."""
    one, two = polybench.variants(1), polybench.variants(2)
    assert [("-ffast-math" in variant.flags) for variant in one] == [False, True] * (len(one) // 2)
    assert set(one) <= set(two)
    assert not any("-fopenmp" in variant.flags for variant in one)
