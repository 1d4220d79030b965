"""What becomes explicit before code generation: schedules, storages, where buffers live."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from dcpy.base.assumptions import Assumption
from dcpy.base.option_groups.cpu import CpuOptions
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.machine_model import COSTS
from dcpy.ir.nodes import Map
from dcpy.ir.schedules import Parallel
from dcpy.ir.text import parse_sdfg, print_sdfg
from dcpy.ir.verify import CODEGEN_FORM, verify
from dcpy.targets.cpu.costs import decided_by
from dcpy.transforms.cpu.assign_storages import AssignStorages
from dcpy.transforms.cpu.lowering import cpu_pipeline, lower_for_cpu
from dcpy.transforms.pass_manager import run_pipeline
from tests.support.compiled import source_of
from tests.support.expect import assert_same_text, assert_same_values


def becomes(before: str, after: str, *, openmp: bool = True, **values: list[int]) -> None:
    """Lowered, the text is `after`; it is in codegen form, and means the same."""
    given = parse_sdfg(before)
    lowered = copy_sdfg(given)
    lower_for_cpu(lowered, CpuOptions(openmp=openmp))
    verify(lowered, CODEGEN_FORM)
    expected = parse_sdfg(after)
    assert_same_text(without_parameters(print_sdfg(lowered)), print_sdfg(expected))
    assert_same_values(given, lowered, values)


def without_parameters(text: str) -> str:
    return re.sub(r"@parallel\{[^}]*\}", "@parallel", text)


def test_threads_outside_vectors_inside():
    becomes(
        """
        sdfg @f(A: f64[N, M], B: f64[N, M]) symbols(N: size, M: size) {
          state { map i = 0:N, j = 0:M { tasklet (a <- A[i, j]) -> (o -> B[i, j]) { o = a } } }
        }""",
        """
        sdfg @f(A: f64[N, M], B: f64[N, M]) symbols(N: size, M: size) {
          state { map i = 0:N @parallel { map j = 0:M @vector{streamed_above = 33554432} {
            tasklet (a <- A[i, j]) -> (o -> B[i, j]) { o = a } } } }
        }""",
        N=[0, 3], M=[2],
    )  # fmt: skip


def test_the_parameter_with_the_smallest_steps_comes_last():
    becomes(
        """
        sdfg @f(A: f64[N, N], B: f64[N, N], C: f64[N, N]) symbols(N: size) {
          state { map i = 0:N, j = 0:N, k = 0:N {
            tasklet (a <- A[i, k], b <- B[k, j]) -> (o -> C[i, j] (add)) { o = a * b } } }
        }""",
        """
        sdfg @f(A: f64[N, N], B: f64[N, N], C: f64[N, N]) symbols(N: size) {
          state { map i = 0:N @parallel { map k = 0:N, j = 0:N @vector {
            tasklet (a <- A[i, k], b <- B[k, j]) -> (o -> C[i, j] (add)) { o = a * b } } } }
        }""",
        N=[0, 3],
    )


def test_short_sums_are_written_out_inside_of_vectors():
    """S-6: a convolution, whose weights were loops around the row and loaded and stored it nine times."""
    becomes(
        """
        sdfg @f(w: f64[3, 3], A: f64[N, M], B: f64[N, M]) symbols(N: size, M: size) {
          state { map i = 1:N - 1, j = 1:M - 1, k = 0:3, l = 0:3 {
            tasklet (x <- w[k, l], a <- A[i + k - 1, j + l - 1]) -> (o -> B[i, j] (add)) { o = x * a } } }
        }""",
        """
        sdfg @f(w: f64[3, 3], A: f64[N, M], B: f64[N, M]) symbols(N: size, M: size) {
          state { map i = 1:N - 1 @parallel { map j = 1:M - 1 @vector {
            map k = 0:3 @unrolled { map l = 0:3 @unrolled {
              tasklet (x <- w[k, l], a <- A[i + k - 1, j + l - 1]) -> (o -> B[i, j] (add)) { o = x * a } } } } } }
        }""",
        N=[2, 5], M=[4],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("count", "target", "loops"),
    [
        pytest.param("4", "B[i, j]", 2, id="16 terms"),
        pytest.param("5", "B[i, j]", 1, id="of 25 terms, the five of the innermost loop"),
        pytest.param("17", "B[i, j]", 0, id="a sum that is too long"),
        pytest.param("K", "B[i, j]", 0, id="a sum whose length is not known"),
        pytest.param("3", "B[i, k + l]", 0, id="what is no sum over them has another place each time"),
    ],
)
def test_longer_sums_stay_around_vectors(count, target, loops):
    text = f"""
        sdfg @f(w: f64[17, 17], A: f64[99, 99], B: f64[99, 99]) symbols(N: size, M: size, K: size) {{
          state {{ map i = 0:N, j = 0:M, k = 0:{count}, l = 0:{count} {{
            tasklet (x <- w[k, l], a <- A[i + k, j + l]) -> (o -> {target} (add)) {{ o = x * a }} }} }}
        }}"""
    lowered = parse_sdfg(text)
    lower_for_cpu(lowered, CpuOptions(openmp=False))
    assert print_sdfg(lowered).count("@unrolled") == loops


def test_columns_are_divided_where_rows_meet():
    becomes(
        """
        sdfg @f(A: f64[N, M], s: f64[M]) symbols(N: size, M: size) {
          state { map i = 0:N, j = 0:M { tasklet (a <- A[i, j]) -> (o -> s[j] (add)) { o = a } } }
        }""",
        """
        sdfg @f(A: f64[N, M], s: f64[M]) symbols(N: size, M: size) {
          state { map j_tile = 0:M:256 @parallel { map i = 0:N, j = j_tile:min(j_tile + 256, M) @vector {
            tasklet (a <- A[i, j]) -> (o -> s[j] (add)) { o = a } } } }
        }""",
        N=[0, 3], M=[2, 300],
    )  # fmt: skip


def test_a_short_map_stays_on_one_thread():
    becomes(
        "sdfg @f(A: f64[8]) { state { map i = 0:8 { tasklet (a <- A[i]) -> (o -> A[i]) { o = a + f64(1) } } } }",
        "sdfg @f(A: f64[8]) { state { map i = 0:8 @vector { tasklet (a <- A[i]) -> (o -> A[i]) { o = a + f64(1) }}} }",
    )


def test_without_openmp_there_are_no_threads():
    becomes(
        "sdfg @f(A: f64[N]) symbols(N: size) { state { map i = 0:N { tasklet () -> (o -> A[i]) { o = f64(1) } } } }",
        "sdfg @f(A: f64[N]) symbols(N: size) { state { map i = 0:N @vector{streamed_above = 33554432} { "
        "tasklet () -> (o -> A[i]) { o = f64(1) } } } }",
        openmp=False,
        N=[3],
    )


@pytest.mark.parametrize(("target", "schedule"), [("s[0]", "parallel"), ("s[k]", "sequential")])
def test_a_histogram_is_not_parallel_but_a_sum_is(target, schedule):
    body = f"let k = idx[i] state {{ tasklet () -> (o -> {target} (add)) {{ o = i64(1) }} }}"
    becomes(
        f"sdfg @f(idx: i64[N], s: i64[4]) symbols(N: size) {{ state {{ map i = 0:N {{ {body} }} }} }}",
        f"sdfg @f(idx: i64[N], s: i64[4]) symbols(N: size) {{ state {{ map i = 0:N @{schedule} {{ {body} }} }} }}",
        N=[0],
    )


def test_a_map_inside_a_parallel_one_runs_on_the_same_thread():
    becomes(
        """
        sdfg @f(A: f64[N, M]) symbols(N: size, M: size) {
          state { map i = 0:N { loop t = 0:3 { state { map j = 0:M {
            tasklet (a <- A[i, j]) -> (o -> A[i, j]) { o = a * f64(2) } } } } } }
        }""",
        """
        sdfg @f(A: f64[N, M]) symbols(N: size, M: size) {
          state { map i = 0:N @parallel { loop t = 0:3 { state { map j = 0:M @vector {
            tasklet (a <- A[i, j]) -> (o -> A[i, j]) { o = a * f64(2) } } } } } }
        }""",
        N=[2], M=[3],
    )  # fmt: skip


def test_storages_follow_sizes():
    becomes(
        """
        sdfg @f(A: f64[N]) symbols(N: size) {
          data s: f64[1] transient
          data small: f64[64] transient
          data large: f64[2000] transient
          data symbolic: f64[N] transient
          data t: f64 transient
          state {
            tasklet () -> (o -> t) { o = f64(1) }
            tasklet (a <- t) -> (o -> s[0]) { o = a }
            tasklet (a <- t) -> (o -> small[0]) { o = a }
            tasklet (a <- t) -> (o -> large[0]) { o = a }
            tasklet (a <- t) -> (o -> symbolic[0]) { o = a }
            tasklet (a <- s[0], b <- small[0], c <- large[0], d <- symbolic[0]) -> (o -> A[0]) { o = a + b + c + d }
          }
        }""",
        """
        sdfg @f(A: f64[N]) symbols(N: size) {
          data s: f64[1] transient @stack
          data small: f64[64] transient @stack
          data large: f64[2000] transient @heap lifetime persistent
          data symbolic: f64[N] transient @heap lifetime persistent
          data t: f64 transient @register
          state {
            tasklet () -> (o -> t) { o = f64(1) }
            tasklet (a <- t) -> (o -> s[0]) { o = a }
            tasklet (a <- t) -> (o -> small[0]) { o = a }
            tasklet (a <- t) -> (o -> large[0]) { o = a }
            tasklet (a <- t) -> (o -> symbolic[0]) { o = a }
            tasklet (a <- s[0], b <- small[0], c <- large[0], d <- symbolic[0]) -> (o -> A[0]) { o = a + b + c + d }
          }
        }""",
        N=[2],
    )


def test_buffers_of_constant_size_leave_loops():
    becomes(
        """
        sdfg @f(A: f64[N]) symbols(N: size) {
          loop t = 0:3 {
            data tmp: f64[N] transient
            data part: f64[N - t] transient
            state { copy A[0:N] -> tmp[0:N]
                    copy tmp[t:N] -> part[0:N - t]
                    copy part[0:N - t] -> A[0:N - t] }
          }
        }""",
        """
        sdfg @f(A: f64[N]) symbols(N: size) {
          data tmp: f64[N] transient @heap lifetime persistent
          loop t = 0:3 {
            data part: f64[N - t] transient @heap lifetime persistent
            state { copy A[0:N] -> tmp[0:N]
                    copy tmp[t:N] -> part[0:N - t]
                    copy part[0:N - t] -> A[0:N - t] }
          }
        }""",
        N=[3, 5],
    )


def test_buffers_inside_maps_are_each_iterations_own():
    becomes(
        """
        sdfg @f(A: f64[N, N]) symbols(N: size) {
          state { map i = 0:N { data part: f64[i] transient
                                state { copy A[i, 0:i] -> part[0:i]  copy part[0:i] -> A[i, N - i:N] } } }
        }""",
        """
        sdfg @f(A: f64[N, N]) symbols(N: size) {
          state { map i = 0:N @parallel { data part: f64[i] transient @heap
                                state { copy A[i, 0:i] -> part[0:i]  copy part[0:i] -> A[i, N - i:N] } } }
        }""",
        N=[3],
    )


def test_a_scalar_that_is_used_next_becomes_part_of_the_expression():
    becomes(
        """
        sdfg @f(A: f64[4], B: f64[4]) {
          state { map i = 0:4 {
            data t: f64 transient
            tasklet (a <- A[i]) -> (o -> t) { o = a * f64(2) }
            tasklet (t <- t, a <- A[i]) -> (o -> B[i]) { o = t + a } } }
        }""",
        """
        sdfg @f(A: f64[4], B: f64[4]) {
          state { map i = 0:4 @vector { tasklet (a <- A[i]) -> (o -> B[i]) { o = a * f64(2) + a } } }
        }""",
    )


@pytest.mark.parametrize(
    ("nodes", "why"),
    [
        ("tasklet (a <- A[0]) -> (o -> t) { o = a }  tasklet () -> (o -> A[0]) { o = f64(3) }"
         " tasklet (a <- t) -> (o -> A[1]) { o = a }", "what it reads is written in between"),
        ("tasklet (a <- A[0]) -> (o -> t) { o = a }  tasklet (a <- t) -> (o -> A[1]) { o = a }"
         " tasklet (a <- t) -> (o -> A[2]) { o = a }", "it is used twice"),
        ("tasklet (a <- A[0]) -> (o -> t) { o = a }  tasklet (a <- A[1]) -> (o -> t) { o = a }"
         " tasklet (a <- t) -> (o -> A[2]) { o = a }", "it is written twice"),
    ],
)  # fmt: skip
def test_a_scalar_stays_where(nodes, why):
    before = f"sdfg @f(A: f64[4]) {{ data t: f64 transient state {{ {nodes} }} }}"
    becomes(before, before.replace("data t: f64 transient", "data t: f64 transient @register"))


def test_the_stack_is_not_for_everything():
    names = [f"t{i}" for i in range(40)]
    text = "\n".join(f"data {name}: f64[1000] transient" for name in names)
    nodes = " ".join(f"copy A[0:1000] -> {name}[0:1000] copy {name}[0:1000] -> A[0:1000]" for name in names)
    sdfg = parse_sdfg(f"sdfg @f(A: f64[1000]) {{ {text} state {{ {nodes} }} }}")
    AssignStorages().run(Rewriter(sdfg, "test"))
    assert [sdfg.desc(name).allocation.value for name in names] == ["stack"] * 5 + ["heap"] * 35  # 40 KiB


PARTS = """
    sdfg @f(A: f64[N], B: f64[N], k: i64[N], h: f64[8]) symbols(N: size) {{
      state {{ map i = 0:N {schedule} {{ {body} }} }}
    }}"""
STRAIGHT = "tasklet (a <- A[i]) -> (o -> B[i]) { o = a + 1 }"
REVERSED = "tasklet (a <- A[i]) -> (o -> B[N - i - 1]) { o = a + 1 }"
COUNTING = "let b = k[i] % 8 state { tasklet (a <- A[i]) -> (o -> h[b] (add)) { o = a } }"


@pytest.mark.parametrize(
    ("written", "body", "settled"),
    [
        ("", REVERSED, "@parallel{above = 60000, width = 0}"),
        ("@parallel{chunk = 16, above = 7, width = 4}", STRAIGHT, "@parallel{chunk = 16, above = 7, width = 4}"),
        ("@vector{width = 4}", REVERSED, "@vector{width = 4}"),
        ("@vector{width = 4}", STRAIGHT, "@vector{width = 4, streamed_above = 33554432}"),
        ("@vector{streamed_above = 64}", STRAIGHT, "@vector{streamed_above = 64}"),
        ("", f"state {{ {STRAIGHT} }} check A[i] > 0.0 else ValueError \"small\" ()", "@parallel{above = 42857}"),
        ("@vector", f"loop j = 0:3 {{ state {{ {STRAIGHT} }} }}", "@sequential"),
        ("@vector", COUNTING, "@sequential"),
    ],
)
def test_schedules_get_their_parameters(written, body, settled):
    sdfg = parse_sdfg(PARTS.format(schedule=written, body=body))
    lower_for_cpu(sdfg, check=True)
    (schedule,) = [str(node.schedule) for node in sdfg.body.walk_nodes() if isinstance(node, Map)]
    assert schedule == settled


CHAIN = "loop j = 1:N { state { tasklet (c <- C[i, j - 1], a <- A[j]) -> (o -> C[i, j]) { o = c * 0.5 + a } } }"
PLAIN = "loop j = 1:N { state { tasklet (c <- D[i, j - 1], a <- A[j]) -> (o -> C[i, j]) { o = c * 0.5 + a } } }"
ROWS = """
    sdfg @f(A: f64[N], C: f64[N, N], D: f64[N, N]) symbols(N: size) {{
      state {{ map i = 0:N @parallel {{ {body} }} }}
    }}"""


def above(body, costs=COSTS, typical=None):
    """From how many iterations on threads take a map."""
    sdfg = parse_sdfg(ROWS.format(body=body))
    sdfg.assumed["N"] = Assumption(typical=typical)
    run_pipeline(sdfg, cpu_pipeline(CpuOptions(), costs), check=True)
    (node,) = [node for node in sdfg.body.walk_nodes() if isinstance(node, Map) and node.params == ("i",)]
    assert isinstance(node.schedule, Parallel)
    return node.schedule.above


def test_threads_pay_sooner_for_what_waits_for_itself():
    """Without vectors the model of time says what an iteration takes: a chain is longer than its operations."""
    units = COSTS.threads_pay_above // above(CHAIN)
    latencies = COSTS.processor.latencies
    assert units == pytest.approx(63 * (latencies.add + latencies.mul) / 100, rel=0.1)  # of typical size
    assert above(PLAIN) > 1.5 * above(CHAIN)


def test_threads_pay_by_the_size_that_is_typical():
    assert above(CHAIN, typical=1024) == pytest.approx(above(CHAIN) / 16, rel=0.2)


def test_threads_pay_as_the_processor_says():
    slow = decided_by(replace(COSTS, processor=replace(COSTS.processor, wake=200_000_000)))
    assert slow.threads_pay_above == 10 * COSTS.threads_pay_above
    assert above(CHAIN, slow) == pytest.approx(10 * above(CHAIN), rel=0.1)
    assert decided_by(COSTS) == COSTS  # the table says what follows from the processor in it


GRID = """
    sdfg @f(A: f64[N, N], B: f64[N, N]) symbols(N: size) {{
      state {{ map i = 0:N, j = {start}:N {schedule} {{ {body} }} }}
    }}"""
POINT = "tasklet (a <- A[i, j]) -> (o -> B[i, j]) { o = a + 1 }"
CHECKED = f"state {{ {POINT} }} check A[i, j] > 0.0 else ValueError \"small\" ()"


@pytest.mark.parametrize(
    ("written", "start", "body", "settled", "pragmas"),
    [
        ("@parallel", "0", POINT, "width = 0, collapse = 1}", ("omp for nowait", "omp simd")),
        ("@parallel", "0", CHECKED, "collapse = 2}", ("omp for collapse(2) nowait",)),
        ("@parallel", "i", CHECKED, "collapse = 1}", ("omp for nowait",)),
        ("@parallel{collapse = 1}", "0", CHECKED, "collapse = 1}", ("omp for nowait",)),
        ("@parallel{collapse = 2}", "i", POINT, "width = 0, collapse = 1}", ("omp for nowait", "omp simd")),
    ],
)
def test_what_threads_divide_stands_in_the_schedule(written, start, body, settled, pragmas):
    text = GRID.format(schedule=written, start=start, body=body)
    sdfg = parse_sdfg(text)
    report = run_pipeline(sdfg, cpu_pipeline(CpuOptions()), explain=True)
    (schedule,) = [str(node.schedule) for node in sdfg.body.walk_nodes() if isinstance(node, Map)]
    assert schedule.endswith(settled)
    told = any("threads divide i only: the range of j depends on it" in str(remark) for remark in report.remarks)
    assert told is (start == "i")
    printed = (line.strip() for line in source_of(text).splitlines())
    assert tuple(line[8:] for line in printed if line.startswith(("#pragma omp for", "#pragma omp simd"))) == pragmas


@pytest.mark.parametrize(("written", "divided"), [("@parallel", 8), ("@parallel{collapse = 9}", 9)])
def test_threads_divide_eight_of_many_parameters_unless_the_schedule_says_more(written, divided):
    names = "abcdefghijkl"
    ranges, point = ", ".join(f"{name} = 0:N" for name in names), ", ".join(names)
    text = f"""
        sdfg @f(X: f64[{", ".join("N" * 12)}]) symbols(N: size) {{
          state {{ map {ranges} {written} {{ tasklet (v <- X[{point}]) -> (o -> X[{point}]) {{ o = v + 1 }} }} }}
        }}"""
    sdfg = parse_sdfg(text)
    run_pipeline(sdfg, cpu_pipeline(CpuOptions()))
    assert f"collapse = {divided}}}" in print_sdfg(sdfg)


def test_why_there_are_no_vectors_is_told():
    sdfg = parse_sdfg(PARTS.format(schedule="@vector", body=COUNTING))
    report = run_pipeline(sdfg, cpu_pipeline(CpuOptions()), explain=True)
    told = [str(remark) for remark in report.remarks if not remark.applied and "vectors" in remark.reason]
    assert told == [
        "no   assign-schedules: map i: no vectors: several iterations over 'i' may combine values in h[b] (add)"
    ]


def test_threads_take_turns_where_data_decide_how_long_iterations_take():
    text = """
        sdfg @f(A: f64[N], B: i64[N]) symbols(N: size) {{
          state {{
            map i = 0:N {{
              data s: f64 transient
              state {{ tasklet (a <- A[i]) -> (o -> s) {{ o = a }} }}
              loop t = 0:100000 {{
                {leave}
                state {{ tasklet (a <- s) -> (o -> s, n -> B[i]) {{ o = a * a + 0.25; n = t }} }}
              }}
            }}
          }}
        }}"""
    for leave, chunk in (("if s[] > 2.0 { break }", True), ("", False)):
        lowered = parse_sdfg(text.format(leave=leave))
        lower_for_cpu(lowered)
        assert ("chunk = 16" in print_sdfg(lowered)) == chunk
