"""Plans: the cheapest choice of distributions, what messages cost, and the plans of the paper's kernels."""

from __future__ import annotations

import inspect
import itertools
import math

import numpy as np
import pytest

import dcpy
from benchmarks.npbench import kernels
from dcpy.base.errors import PerformanceWarning, TransformationRefused
from dcpy.ir.analysis.distributed.communication_cost import traffic_of_copy
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.machine_model import NETWORK
from dcpy.ir.text import parse_sdfg, print_sdfg
from dcpy.ir.text.distribution_parser import parse_distribution
from dcpy.transforms.distributed.pipeline import DISTRIBUTE, TEMPORARIES
from dcpy.transforms.distributed.planning.bucket_elimination import CostTable, cheapest
from dcpy.transforms.distributed.planning.choose_distributions import ChooseDistributions
from dcpy.transforms.distributed.planning.user_plans import expect_sizes
from dcpy.transforms.pass_manager import run_pipeline
from dcpy.transforms.pipeline import Pipeline
from tests.support.ranks import check, localized

RNG = np.random.default_rng(11)

# -- elimination -------------------------------------------------------------------------------------------------------


def _random_problem(draw):
    names = [f"v{k}" for k in range(draw.integers(1, 7))]
    counts = {name: int(draw.integers(1, 4)) for name in names}
    factors = []
    for _ in range(draw.integers(1, 9)):
        some = tuple(draw.permutation(names)[: draw.integers(0, min(3, len(names)) + 1)])
        factors.append(CostTable(some, draw.random(tuple(counts[name] for name in some))))
    return counts, factors


@pytest.mark.parametrize("seed", range(60))
def test_nothing_is_cheaper_than_what_elimination_finds(seed):
    counts, factors = _random_problem(np.random.default_rng(seed))
    found = cheapest(counts, factors)
    costs = {}
    for values in itertools.product(*map(range, counts.values())):
        chosen = dict(zip(counts, values, strict=True))
        costs[values] = sum(each.table[tuple(chosen[name] for name in each.variables)] for each in factors)
    assert found.is_exact
    assert found.cost == pytest.approx(min(costs.values()))
    assert costs[tuple(found.values.values())] == pytest.approx(found.cost)


def test_large_tables_are_not_built():
    names = [f"v{k}" for k in range(8)]
    counts = dict.fromkeys(names, 5)
    pairs = [CostTable(pair, RNG.random((5, 5))) for pair in itertools.combinations(names, 2)]
    found = cheapest(counts, pairs, most=500)
    assert not found.is_exact
    assert found.cost == pytest.approx(
        sum(each.table[tuple(found.values[name] for name in each.variables)] for each in pairs)
    )
    assert found.cost < np.median([sum(each.table[tuple(RNG.integers(0, 5, 2))] for each in pairs) for _ in range(50)])


# -- what messages cost ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "target", "kind", "messages", "sent"),
    [
        ("g(block 0, whole)", None, "allgather", 3, 8 * 64 * 7 // 8),
        (None, "g(block 0, whole)", "local", 0, 0),
        ("g(block 0, whole)", "g(whole, block 0)", "alltoall", 7, 8 * 64 // 8),
        ("g(block 0 by 1, whole)", "g(block 0 by 1, whole) halo (1:1, 0:0)", "halo", 2, 2 * 8 * 8),
        ("g(block 0 by 1, whole)", "g(block 0 by 1 offset 1, whole)", "halo", 1, 8 * 8),
        ("g(whole, whole) partial 0 add", None, "allreduce", 6, 2 * 8 * 64 * 7 // 8),
        ("g(whole, whole) partial 0 add", "g(block 0, whole)", "reduce-scatter", 3, 8 * 64 * 7 // 8),
        ("g(whole, whole) root 0", None, "scatter", 3, 8 * 64 * 7 // 8),
        ("g(block 0, whole)", "g(whole, whole) root 0", "gather", 3, 8 * 64 * 7 // 8),
        ("g(block 0, whole)", "g(block 0, whole)", "nothing", 0, 0),
    ],
)
def test_what_a_copy_sends(source, target, kind, messages, sent):
    places = [None if where is None else parse_distribution(where) for where in (source, target)]
    found = traffic_of_copy(*places, (8, 8), 8, {"g": (8,)}, NETWORK)
    assert (found.kind, found.messages, found.bytes) == (kind, messages, sent)
    assert found.seconds == 0 or found.kind != "nothing"


# -- plans -------------------------------------------------------------------------------------------------------------

PLANS = {  # on 16 ranks, all sizes 4000
    "atax": "on 16 ranks as 16: tmp g(block 0), __return g(block 0)",
    "bicg": "on 16 ranks as 16: __return g(block 0), __return_1 g(block 0)",
    "doitgen": "on 16 ranks as 16: tmp g(block 0, whole, whole, whole)",
    "gemm": "on 16 ranks as 4 x 4: A g(block 0, block 1)",
    "gemver": "on 16 ranks as 16: w g(block 0), tmp_4 g(block 0)",
    "gesummv": "on 16 ranks as 16: tmp_1 g(block 0), tmp_3 g(block 0), __return g(block 0)",
    "jacobi_1d": "on 16 ranks each rank does all, as no distribution pays for its messages",
    "jacobi_2d": "on 16 ranks as 4 x 4: A g(block 0, block 1), B g(block 0, block 1)",
    "k2mm": "on 16 ranks as 4 x 4: tmp_1 g(block 0, block 1)",
    "k3mm": "on 16 ranks as 4 x 4: tmp g(block 0, block 1), tmp_1 g(block 0, block 1)",
    "mvt": "on 16 ranks as 16: x1 g(block 0), x2 g(block 0)",
}


def planned(sdfg, ranks, size, **options):
    """A copy with the cheapest plan, and what the pass said of it."""
    made = copy_sdfg(sdfg)
    expect_sizes(made, dict.fromkeys(made.sizes, size))
    step = Pipeline("plan", ChooseDistributions(ranks=ranks, **options))
    (said,) = run_pipeline(made, step, check=True, explain=True).remarks
    return made, said.reason


def program_of(name):
    kernel = kernels()[name]
    sizes = (3, 9) if "jacobi" in name else (9, 7, 8, 6, 11)
    arguments = kernel.module.initialize(*sizes[: len(inspect.signature(kernel.module.initialize).parameters)])
    return dcpy.program(kernel.function).to_sdfg(**arguments).simplify().auto_optimize(), arguments


@pytest.mark.parametrize("name", PLANS)
def test_plans_of_kernels(name):
    sdfg, _ = program_of(name)
    assert planned(sdfg, 16, 4000)[1].split(";")[0] == PLANS[name]


@pytest.mark.parametrize("ranks", [4, 6])
@pytest.mark.parametrize("name", PLANS)
def test_programs_with_a_plan_compute_the_same(name, ranks):
    """The plan is that of a large run; it serves this one, in which blocks are short."""
    sdfg, arguments = program_of(name)
    made, _ = planned(sdfg, ranks, 4000)
    run_pipeline(made, TEMPORARIES, check=True)
    run_pipeline(made, DISTRIBUTE, check=True)
    symbols = {
        size.name: count
        for name, desc in sdfg.containers.items()
        for size, count in zip(desc.shape, np.shape(arguments.get(name)), strict=False)
        if size.name is not None
    }
    for result in sdfg.results:
        shape = [size.evaluate(symbols) for size in sdfg.desc(result.container).shape] if result.container else ()
        arguments = {**arguments, result.container: np.zeros(shape)} if result.container else arguments
    grid = made.grids.get("g")
    rows = math.isqrt(ranks)
    extents = (ranks,) if grid is None or len(grid.sizes) == 1 else (rows, ranks // rows)
    symbols |= {size.name: count for size, count in zip(grid.sizes if grid else (), extents, strict=False)}
    check(sdfg, made, arguments, symbols, ranks, local=localized(made), exact=False)


SMOOTH = """sdfg @f(A: f64[N, M], B: f64[N, M]) symbols(N: size, M: size) {
  loop t = 0:10 {
    map i = 1:N - 1, j = 0:M { tasklet (l <- A[i - 1, j], r <- A[i + 1, j]) -> (o -> B[i, j]) { o = 0.5 * (l + r) } }
    map i_1 = 1:N - 1, j_1 = 0:M { tasklet (v <- B[i_1, j_1]) -> (o -> A[i_1, j_1]) { o = v } }
  }
}"""


def test_arguments_are_taken_apart_and_put_together():
    made, said = planned(parse_sdfg(SMOOTH), 8, 3000)
    assert said.startswith("on 8 ranks as 8: A g(whole, block 0), B g(whole, block 0)")
    text = print_sdfg(made)
    assert "data A_own: f64[N, M] transient on g(whole, block 0)" in text
    assert "copy A[0:N, 0:M] -> A_own[0:N, 0:M]" in text
    assert "copy A_own[0:N, 0:M] -> A[0:N, 0:M]" in text


def test_what_does_not_pay_is_not_distributed():
    made, said = planned(parse_sdfg(SMOOTH), 8, 40)
    assert "each rank does all" in said
    assert not made.grids


def test_what_has_a_place_keeps_it():
    text = SMOOTH.replace("A: f64[N, M]", "A: f64[N, M] on g(block 0, whole)").replace("{", "grids(g[g_p0]) {", 1)
    made, said = planned(parse_sdfg(text), 8, 3000)
    assert str(made.desc("A").distribution) == "g(block 0, whole)"
    assert "B g(block 0, whole)" in said


def test_memory_is_a_limit():
    sdfg, _ = program_of("gemm")
    whole = 3 * 4000 * 4000 * 8
    made, said = planned(sdfg, 16, 4000, memory=whole // 4)
    number, unit = said.split(", ")[-1].split()[:2]
    assert unit == "MB"
    assert float(number) * 1e6 <= whole // 4
    assert len(made.grids) == 1
    with pytest.raises(TransformationRefused, match="no plan fits: on 16 ranks the arrays of one take 24 MB"):
        planned(sdfg, 16, 4000, memory=whole // 17)


def test_an_early_end_keeps_written_arguments_whole():
    text = SMOOTH.replace("loop t", "if N > 5 { return } loop t")
    sdfg = dcpy.SDFG.of(parse_sdfg(text))
    with pytest.warns(PerformanceWarning, match=r"f\(\): on 8 ranks each rank does all, as it may end early"):
        sdfg.distribute(ranks=8, sizes={"N": 3000, "M": 3000})


def test_a_plan_that_does_not_pay_says_so():
    sdfg = dcpy.SDFG.of(parse_sdfg(SMOOTH))
    message = r"f\(\): on 8 ranks each rank does all, as no distribution pays for its messages"
    with pytest.warns(PerformanceWarning, match=message):
        sdfg.distribute(ranks=8, sizes={"N": 3, "M": 3})
    assert "home g(" not in str(sdfg)


def test_sizes_are_those_of_symbols():
    sdfg = dcpy.parse(SMOOTH)
    with pytest.raises(TransformationRefused, match="'K' is no symbol of 'f'"):
        sdfg.distribute(ranks=4, sizes={"K": 3})
    with pytest.raises(TransformationRefused, match="'N' cannot be -3"):
        sdfg.distribute(ranks=4, sizes={"N": -3})
    assert "home g(" in str(sdfg.distribute(ranks=8, sizes={"N": 3000, "M": 3000}))


def test_a_plan_is_explained_with_what_it_costs():
    sdfg = dcpy.SDFG.of(parse_sdfg(SMOOTH))
    before = print_sdfg(sdfg)
    said = sdfg.explain("choose-distributions", sizes={"N": 3000, "M": 3000})
    assert said.startswith("choose-distributions:")
    assert "on 16 ranks as 16: A g(whole, block 0), B g(whole, block 0)" in said
    assert "s a call are expected" in said
    assert "on 8 ranks as 8" in sdfg.explain(ChooseDistributions(ranks=8), sizes={"N": 3000, "M": 3000})
    assert print_sdfg(sdfg) == before
