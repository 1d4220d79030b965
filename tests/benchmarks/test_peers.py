"""The comparison's own parts: adapted sources, their metrics, the heat map, and one whole run."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks import run
from benchmarks.npbench import kernels
from benchmarks.peers import adapt, best, by_hand, heatmap, report
from benchmarks.peers.adapt_dace import for_dace
from benchmarks.peers.adapt_jax import changed, for_jax, functional
from benchmarks.peers.campaign import Campaign, Table
from benchmarks.peers.subject import Subject, computing_source, named_shapes

SOURCE = '''"""A kernel."""

import numpy as np


def half(x):
    """Half of it."""
    return x / 2  # of x


def kernel(x, n):
    # Twice.
    x[:] = half(x)
    return half(x)


def initialize(N):
    """Not measured."""
    return {"x": np.ones(N), "n": N}
'''
ARGUMENTS = {"x": np.ones((2, 5), np.float32), "n": 2}
SUBJECT = Subject(computing_source(SOURCE), "kernel", ARGUMENTS, {"x": ("n", "n + 3")}, ("n",))


def added(adapted: str) -> list[str]:
    return [line for line in adapt.lines(adapted) if line not in adapt.lines(SUBJECT.source)]


def test_blank_lines_comments_and_docstrings_are_no_code():
    assert adapt.lines(SUBJECT.source) == [
        "import numpy as np",
        "def half(x):",
        "return x / 2  # of x",
        "def kernel(x, n):",
        "x[:] = half(x)",
        "return half(x)",
    ]


def test_dcpy_needs_an_import_and_a_decorator():
    adapted = adapt.for_dcpy(SUBJECT)
    assert added(adapted) == ["import dcpy", "@dcpy.program(auto_optimize=True)"]
    assert adapt.coverage(SUBJECT.source, adapted) == 1


def test_numba_decorates_helpers_too():
    assert adapt.for_numba(SUBJECT).count("@nb.njit") == 2


def test_pythran_needs_types():
    assert adapt.lines(adapt.for_pythran(SUBJECT))[0] == "# pythran export kernel(float32[:,:], int)"


def test_dace_gets_symbols_and_annotations():
    adapted = for_dace(SUBJECT)
    assert added(adapted) == [
        "import dace",
        'n = dace.symbol("n", dtype=dace.int64)',
        "@dace.program",
        "@dace.program(auto_optimize=True)",
        "def kernel(x: dace.float32[n, n + 3]):",
    ]
    assert adapt.coverage(SUBJECT.source, adapted) == pytest.approx(5 / 6)


def test_sizes_are_named_by_comparing_two_samples():
    def sample(n, m):
        arguments = {"n": n, "a": np.ones((n, m + 1, 3)), "b": np.ones(n * m), "c": np.ones((m, n - 1))}
        return arguments, {"n": n, "m": m}

    shapes, names = named_shapes(sample(4, 7), sample(9, 5))
    assert shapes == {"a": ("n", "m + 1", "3"), "b": ("b_0",), "c": ("m", "n - 1")}
    assert names == ("n", "m", "b_0")


STORES = """
import numpy as np

def fill(b, k):
    b[0] = k
    b[1:] += 2 * k
    return k

def kernel(a, b, c):
    a -= 1
    d = a[0] = b[2]
    fill(b, d)
    x, b[1] = 3, 4
    b[2] //= x
    if x > 5:
        return c
    return x
"""


def test_jax_gets_functions_without_stores():
    assert changed(STORES) == {"fill": ("b",), "kernel": ("a", "b")}
    assert [line.strip() for line in functional(STORES).splitlines() if line] == [
        "import numpy as np",
        "def fill(b, k):",
        "b = b.at[0].set(k)",
        "b = b.at[1:].add(2 * k)",
        "return k, (b,)",
        "def kernel(a, b, c):",
        "a -= 1",
        "_value = b[2]",
        "d = _value",
        "a = a.at[0].set(_value)",
        "_, (b,) = fill(b, d)",
        "_value = (3, 4)",
        "x = _value[0]",
        "b = b.at[1].set(_value[1])",
        "b = b.at[2].set(b[2] // x)",
        "if x > 5:",
        "return c, (a, b,)",
        "return x, (a, b,)",
    ]


MASKED = """import numpy as np

def kernel(z, n, c):
    inside = np.less(abs(z), 2.0)
    other = inside & (n > 3)
    n[inside] = 4
    z[inside] = z[inside] ** 2 + c[inside]
    z[~other] *= c[~other] + 1
    z[n == 0] = 0
    k = 3
    z[k] = 1
"""


def test_jax_gets_choices_for_stores_under_masks():
    assert [line.strip() for line in functional(MASKED).splitlines()[5:]] == [
        "n = np.where(inside, 4, n)",
        "z = np.where(inside, z ** 2 + c, z)",
        "z = np.where(~other, z * (c + 1), z)",
        "z = np.where(n == 0, 0, z)",
        "k = 3",
        "z = z.at[k].set(1)",
        "return None, (z, n,)",
    ]


def test_jax_replaces_numpy_and_stores_so_lines_are_lost():
    adapted = for_jax(SUBJECT)
    assert "static_argnames=('n',)" in adapted
    assert added(adapted) == [
        "import functools",
        "import jax",
        "import jax.numpy as np",
        "@functools.partial(jax.jit, static_argnames=('n',))",
        "x = x.at[:].set(half(x))",
        "return half(x), (x,)",
    ]
    assert adapt.coverage(SUBJECT.source, adapted) == pytest.approx(3 / 6)


def row(framework, seconds, status="ok"):
    times = {"times": [seconds] * 3, "median": seconds, "numpy_median": 1.0} if status == "ok" else {}
    return {"kernel": "gemm", "framework": framework, "status": status, **times}


def test_the_heat_map_shows_speed_ups_means_and_failures():
    drawn = heatmap.svg(list(heatmap.cells([row("fast", 0.1), row("slow", 2.0), row("none", 0, "refused: why")])))
    for text in (">gemm<", "↑10<", "↓2<", ">refused<", ">1 s<", ">geometric mean<"):
        assert text in drawn


def test_a_ratio_of_one_is_white():
    colors = [cell.color for cell in heatmap.cells([row("even", 1.0), row("slow", 100.0)]) if "↑1" in cell.text]
    assert colors == ["#ffffff"] * 2


def test_pixels_are_drawn_where_matplotlib_is(tmp_path, monkeypatch):
    monkeypatch.setattr(heatmap, "can_draw_pixels", lambda: False)
    assert heatmap.draw([row("fast", 0.1)], tmp_path / "map") == [tmp_path / "map.svg"]
    monkeypatch.undo()
    if heatmap.can_draw_pixels():
        assert heatmap.draw([row("fast", 0.1)], tmp_path / "map")[1].read_bytes().startswith(b"\x89PNG")


def test_results_go_between_the_marks_of_a_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"Before.\n{report.BEGIN}\nold\n{report.END}\nAfter.\n")
    more = {"first_call": 2.0, "coverage": 1.0, "lines": 9, "numpy_lines": 7}
    where = {"preset": "S", "threads": 1}
    report.write(Campaign([row("fast", 0.1) | more | where, row("none", 0, "refused: why") | where]), page)
    text = page.read_text()
    assert "| fast | 1 of 1 | 10.00 | 2.00 s, 2.00 s | 100% | +2 |" in text
    assert "| gemm | 1e+03 | 10.00 | refused |" in text
    assert text.startswith("Before.")
    assert text.endswith("After.\n")
    assert "old" not in text


def times(kernel, **medians):
    """Rows of a kernel for which NumPy takes a second."""
    rest = {"kernel": kernel, "numpy_median": 1.0, "status": "ok", "preset": "S", "threads": 1}
    rest |= {"first_call": 2.0, "coverage": 1.0, "lines": 9, "numpy_lines": 7}
    return [rest | {"framework": name, "median": median} for name, median in medians.items()]


def test_dcpy_is_compared_with_the_best_peer_of_each_kernel():
    """NumPy is one; what is refused is none; the plain variant counts where it was measured alone."""
    slow = times("slow", numpy=1, dcpy=0.5, numba=2.0, jax=4.0)
    rows = [*times("a", numpy=1, dcpy=0.1, numba=0.4, jax=0.2), *slow, *times("c", numpy=1, dcpy=0.5, numba=0.25)]
    rows.append(row("jax", 0, "refused: why") | {"kernel": "c"})
    found = [(one.kernel, one.peer, one.ratio) for one in best.comparisons(rows)]
    assert found == [("a", "jax", 2.0), ("slow", "numpy", 2.0), ("c", "numba", 0.5)]
    assert best.summary(rows) == [
        "1.26 times the best peer of each kernel (geometric mean), the fastest of all on 2 of 3; "
        "the slowest: c, 0.50 of numba"
    ]
    assert list(best.comparisons(times("a", numpy=1, dcpy=0.1))) == []
    (one,) = best.comparisons([*times("a", **{"numpy": 1, "dcpy-plain": 0.1, "jax": 0.3})])
    assert (one.peer, round(one.ratio, 9)) == ("jax", 3)


def test_peers_by_hand_count_in_a_comparison_of_their_own():
    rows = [
        {"kernel": "k", "framework": name, "status": "ok", "median": seconds, "numpy_median": 8.0}
        for name, seconds in (("dcpy", 1.0), ("numba", 4.0), ("jax", 3.0), ("numba-by-hand", 2.0))
    ]
    (same,), (any_form,) = best.comparisons(rows), best.comparisons(rows, by_hand=True)
    assert (same.peer, same.ratio) == ("jax", 3.0)
    assert (any_form.peer, any_form.ratio) == ("numba-by-hand", 2.0)
    assert list(best.comparisons(rows[:-1], by_hand=True)) == []


@pytest.fixture
def npbench_of_one_kernel(tmp_path, monkeypatch) -> Path:
    """A checkout of NPBench that has one kernel, in a form that returns what NumPy's changes."""
    (tmp_path / "bench_info").mkdir()
    facts = {"relative_path": "polybench/trisolv", "module_name": "trisolv", "func_name": "kernel"}
    (tmp_path / "bench_info" / "trisolv.json").write_text(json.dumps({"benchmark": facts}))
    folder = tmp_path / "npbench" / "benchmarks" / "polybench" / "trisolv"
    folder.mkdir(parents=True)
    (folder / "trisolv_jax.py").write_text("def kernel(L, x, b):\n    return x\n")
    monkeypatch.setenv(by_hand.VARIABLE, str(tmp_path))
    return folder


def test_a_form_by_hand_is_the_file_of_the_checkout(npbench_of_one_kernel):
    subject = Subject("", "trisolv", {}, {}, ())
    assert by_hand.entry("trisolv") == "kernel"
    assert by_hand.form("jax", "\n{entry}.fast = 1\n")(subject).endswith("return x\n\nkernel.fast = 1\n")
    with pytest.raises(FileNotFoundError):
        by_hand.form("numba_n")(subject)


def test_without_a_checkout_there_are_no_forms_by_hand(monkeypatch, capsys):
    monkeypatch.delenv(by_hand.VARIABLE, raising=False)
    assert by_hand.root() is None
    assert run.installed(["numpy", "numba-by-hand"]).keys() == {"numpy"}
    assert "NPBENCH_ROOT" in capsys.readouterr().out


def test_the_report_has_the_best_peer_and_the_limits_of_the_machine():
    limits = {"1": {"triad": 32.1e9, "dgemm": 98e9}}
    lines = list(report.markdown(Campaign(times("a", numpy=1, dcpy=0.1, jax=0.2), limits)))
    assert "The machine at its best, in this run: triad 32.1 GB/s, dgemm 98 GFLOP/s." in lines
    assert "| kernel | NumPy, ms | dcpy | jax | best peer | dcpy over it |" in lines
    assert "| a | 1e+03 | 10.00 | 5.00 | jax, 5.00 | 2.00 |" in lines
    assert "| over NumPy, geometric mean | ≥ 14 | 10 |" in lines


def test_the_confidence_interval_is_in_percent_of_the_median():
    assert heatmap.confidence(row("dcpy", 1.0)) == 0
    assert heatmap.confidence({"times": [1.0, 2.0, 3.0]}) == pytest.approx(100)


@pytest.mark.cc
def test_a_run_goes_on_where_it_was_cut(tmp_path):
    """The first piece has NumPy alone; the second one adds dcpy, and keeps what there is."""
    command = [sys.executable, "benchmarks/run.py", "--preset", "XS", "--only", "gemm", "--repeat", "2"]
    command += ["--threads", "1", "--json", str(tmp_path / "out.json")]
    root = Path(__file__).parent.parent.parent

    def piece(*more):
        return subprocess.run([*command, *more], cwd=root, check=True, capture_output=True, text=True).stdout

    piece("--frameworks", "numpy")
    before = Campaign.read(tmp_path / "out.json")
    printed = piece("--frameworks", "numpy,dcpy", "--resume")
    found = Campaign.read(tmp_path / "out.json")
    numpy_row, dcpy_row = found.of(Table("XS", 1))
    assert before.rows == [row for row in found.rows if row["framework"] == "numpy"]
    assert numpy_row["status"] == dcpy_row["status"] == "ok"
    assert len(dcpy_row["times"]) == 2
    assert min(found.limits["1"].values()) > 0
    assert "triad" in printed
    assert "over NumPy, geometric mean" in printed
    assert (dcpy_row["coverage"], dcpy_row["variant"]) == (1, "for_dcpy")
    assert dcpy_row["over_plain"] > 0
    assert dcpy_row["bytes"] == sum(a.nbytes for a in kernels()["gemm"].initialize("XS").values() if np.ndim(a))
    assert "dcpy: 1 of 1 kernels run" in printed
    assert (tmp_path / "out-XS-1.svg").read_text().startswith("<svg")


def test_unknown_names_are_refused():
    command = [sys.executable, "benchmarks/run.py", "--only", "gemm,nonsense"]
    done = subprocess.run(command, cwd=Path(__file__).parent.parent.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "unknown: nonsense" in done.stderr
