"""deep-halos: one update for several maps and iterations, the same to the bit; what is valid then; refusals."""

from __future__ import annotations

import functools
import random

import numpy as np
import pytest

from dcpy.base.errors import TransformationRefused
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.communication import HaloUpdate
from dcpy.ir.editing.rewriter import rewriting
from dcpy.ir.nodes import Map
from dcpy.ir.region import Loop
from dcpy.ir.text import parse_sdfg, print_sdfg
from dcpy.transforms.distributed.halos.deep_halos import DeepHalos, seconds_of_update
from dcpy.transforms.distributed.halos.halo_validity import Halo, Validity
from tests.support.ranks import check, distributed, localized
from tests.transforms.distributed.halos.test_infer_halos import HEAD, PLAN, shift
from tests.transforms.distributed.test_stencils import GRIDS, KERNELS, typed_program

JACOBI = f"loop t = 0:T {{ {shift('A', 'B')} {shift('B', 'A', 'j')} }}"


def made(body, steps, head=HEAD):
    return distributed(parse_sdfg(f"{head} {{ {body} }}"), PLAN, {"g": ["P"]}, steps)


def lines(whole):
    """Updates with their widths, maps with the iterations of neighbours, loops with their ranges."""
    found = []
    for line in map(str.strip, print_sdfg(whole).splitlines()):
        if line.startswith("comm.update"):
            names = [part.split("[")[0] for part in line.split(" -> ")[0].split("<- ")[1:]]
            found.append(f"update {' '.join(names)} {{{line.split('{')[-1]}")
        elif line.startswith("map"):
            found.append(f"map {line.split(' ')[1]}" + (" halo" + line.split("halo")[1][:-2] if "halo" in line else ""))
        elif line.startswith("loop"):
            found.append(line[:-2])
    return found


WITH_STEPS = HEAD.replace("symbols(N: size)", "symbols(N: size, T: size)")


def test_one_update_for_both_maps():
    whole = made(JACOBI, 1, WITH_STEPS)
    assert lines(whole) == [
        "loop t = 0:T", "update A_own {before = (2,), behind = (2,)}", "map i halo (1:1)", "map j",
    ]  # fmt: skip
    assert whole.desc("A_own").distribution.halo == ((2, 2),)
    assert whole.desc("B_own").distribution.halo == ((1, 1),)


def test_one_update_for_two_iterations():
    whole = made(JACOBI, 2, WITH_STEPS)
    assert [line.split("_")[0] if line.startswith("map") else line for line in lines(whole)] == [
        "loop t = 0:2*(T // 2):2", "update A_own {before = (4,), behind = (4,)}",
        "map i halo (3:3)", "map j halo (2:2)", "map i", "map j",
        "loop t_1 = 2*(T // 2):T", "update A_own {before = (1,), behind = (1,)}", "map i",
        "update B_own {before = (1,), behind = (1,)}", "map j",
    ]  # fmt: skip


@pytest.mark.parametrize("steps", [1, 2, 3, 5])
@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
def test_results_are_the_same_and_messages_fewer(steps, ranks):
    """As many messages as blocks have neighbours, each time; what is left over sends twice in each iteration.

    What B has at its ends, which no map writes, comes once.
    """
    whole = made(JACOBI, steps, WITH_STEPS)
    sdfg, local = parse_sdfg(f"{WITH_STEPS} {{ {JACOBI} }}"), localized(whole)
    for n, trips in ((60, 7), (60, 2 * steps), (7, 4), (3, 5), (2, 1)):
        draw = np.random.default_rng(n)
        arguments = {name: draw.uniform(size=n) for name in "ABC"}
        symbols = {"N": n, "T": trips, "P": ranks}
        traffic = check(sdfg, whole, arguments, symbols, ranks, local=local, strict=n == 7)
        if n == 60:
            groups, rest = divmod(trips, steps) if steps > 1 else (trips, 0)
            sides = 2 * (ranks - 1)
            assert traffic.messages == sides * (1 + groups + 2 * rest)
            assert traffic.bytes == 8 * sides * (2 * steps - 1 + groups * 2 * steps + 2 * rest)


@functools.cache
def kernel(name, steps):
    sdfg = typed_program(name)
    whole = distributed(sdfg, KERNELS[name][2], {"g": ("Px", "Py")}, steps)
    return sdfg, whole, localized(whole)


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize(("name", "steps"), [("jacobi_2d", 1), ("jacobi_2d", 2), ("heat_3d", 1), ("jacobi_1d", 0)])
def test_stencils_of_npbench(name, steps, grid):
    sdfg, whole, local = kernel(name, steps)
    assert sum(isinstance(node, HaloUpdate) for node in whole.body.walk_nodes()) < 2 * sum(
        isinstance(block, Loop) for block in whole.body.walk_blocks()
    )
    for n in (4, 9) if name != "heat_3d" else (5,):
        draw = np.random.default_rng(n)
        shape = (n,) * len(sdfg.desc("A").shape)
        arguments = {name: draw.uniform(size=shape) for name in "AB"} | {"TSTEPS": 3 if name == "heat_3d" else 6}
        symbols = {"N": n, "Px": grid[0], "Py": grid[1]}
        check(sdfg, whole, arguments, symbols, grid[0] * grid[1], local=local, constant=True)


# -- random programs -------------------------------------------------------------------------------------------------

ROWS = (
    "map i#=1:N-1, j#=0:M {{ tasklet (a <- {A}[i#-1, j#], b <- {A}[i#+1, j#]) -> (o -> {B}[i#, j#]) {{ o = a - b }} }}",
    "map i#=0:N-1, j#=1:M {{ tasklet (a <- {A}[i#+1, j#-1]) -> (o -> {B}[i#, j#]) {{ o = 0.5*a }} }}",
    "map i#=2:N, j#=0:M-1 {{ tasklet (a <- {A}[i#-2, j#], b <- {A}[i#, j#+1]) -> (o -> {B}[i#, j#]) {{ o = a + b }} }}",
    "map i#=0:N, j#=0:M {{ tasklet (a <- {A}[i#, j#], b <- x[i#]) -> (o -> {B}[i#, j#]) {{ o = a - b }} }}",
    "map i#=0:N, j#=0:M {{ tasklet (a <- {B}[i#, j#], b <- {A}[i#, j#]) -> (o -> {B}[i#, j#]) {{ o = 0.5*a + b }} }}",
    "map i#=0:N:2, j#=0:M {{ tasklet (a <- {A}[i#, j#]) -> (o -> {B}[i#, j#]) {{ o = a + 1.0 }} }}",
    "map i#=1:N, j#=0:M {{ if {A}[i#-1, j#] > 0.0 {{ tasklet () -> (o -> {B}[i#, j#]) {{ o = 2.0 }} }} }}",
    "map i#=1:N, j#=0:M {{ tasklet (a <- {A}[i#, j#]) -> (o -> {B}[i#-1, j#] (add)) {{ o = a }} }}",
    "map i#=0:N {{ tasklet (a <- {A}[i#, 0]) -> (o -> x[i#]) {{ o = 0.25*a }} }}",
    "map j#=0:M {{ tasklet (a <- {A}[N-1, j#]) -> (o -> {B}[0, j#]) {{ o = a }} }}",
    "tasklet () -> (o -> {B}[0, 0]) {{ o = 1.5 }}",
)
FIELDS = "sdfg @f(A: f64[N, M], B: f64[N, M], C: f64[N, M], x: f64[N]) symbols(N: size, M: size, T: size)"


@pytest.mark.parametrize("seed", range(60))
def test_random_loops(seed):
    draw = random.Random(seed)
    body = " ".join(
        draw.choice(ROWS[: len(ROWS) if draw.random() < 0.3 else 6]).format(A=a, B=b).replace("#", f"_{number}")
        for number in range(draw.randint(2, 4))
        for a, b in [draw.sample("ABC", 2)]
    )
    dims = draw.choice((1, 2))
    spread = "g(block 0, block 1)" if dims == 2 else draw.choice(("g(block 0, whole)", "g(whole, block 0)"))
    plan = {**dict.fromkeys("ABC", spread), "x": "g(block 0)" if "block 0" in spread[:9] else "g(whole)"}
    sdfg = parse_sdfg(f"{FIELDS} {{ loop t = 0:T {{ {body} }} }}")
    try:
        whole = distributed(sdfg, plan, {"g": ("Px", "Py")[:dims]}, draw.choice((0, 1, 2, 3)))
        local = localized(whole)
    except TransformationRefused:
        as_written = distributed(sdfg, plan, {"g": ("Px", "Py")[:dims]})
        with pytest.raises(TransformationRefused):
            localized(as_written)
        return
    for grid in draw.sample(((1, 1), (2, 1), (1, 3), (2, 2), (5, 1), (2, 3)), 2):
        ranks = grid[0] * grid[1]
        n, m, trips = draw.choice((1, 2, 5, 9)), draw.choice((1, 3, 6)), draw.randint(0, 5)
        numbers = np.random.default_rng(seed)
        arguments = {name: numbers.integers(-8, 8, (n, m)) / 2.0 for name in "ABC"} | {"x": numbers.uniform(size=n)}
        symbols = {"N": n, "M": m, "T": trips, **dict(zip(("Px", "Py"), grid if dims == 2 else (ranks,), strict=False))}
        check(sdfg, whole, arguments, symbols, ranks, local=local)


# -- when, and when not ----------------------------------------------------------------------------------------------


def remark(body, steps=0):
    whole = distributed(parse_sdfg(f"{HEAD} {{ {body} }}"), PLAN, {"g": ["P"]})
    with rewriting(whole, "deep-halos") as rw:
        rw.remarks = []
        DeepHalos(steps=steps).decide(rw)
    return [(each.applied, each.reason) for each in rw.remarks if "loop" in str(each) or "while" in str(each)]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (f"loop t = 0:9 {{ if t > 2 {{ {shift('A', 'B')} }} {shift('B', 'A', 'j')} }}", "there is control flow inside"),
        (
            f"loop t = 0:9 {{ {shift('A', 'B')} copy B[0:N] -> A[0:N] {shift('A', 'C', 'j')} {shift('C', 'B', 'k')} }}",
            "a copy writes 'A_own', of which neighbours",
        ),
        (
            f"loop t = 0:9 {{ {shift('A', 'B')} {shift('B', 'A', 'j')} "
            "map k = t:N { tasklet () -> (o -> A[k]) { o = 2.0 } } }",
            "would be read where it is not known to be valid",
        ),
    ],
)
def test_loops_that_stay(body, reason):
    (found,) = remark(body, 2)
    assert not found[0]
    assert reason in found[1]


def test_while_loops_have_one_update_for_each_iteration():
    body = f"""data n: i64 transient tasklet () -> (o -> n) {{ o = 0 }}
      while n < 5 {{ {shift('A', 'B')} {shift('B', 'A', 'j')} tasklet (v <- n) -> (o -> n) {{ o = v + 1 }} }}"""
    whole = made(body, 0)
    assert [line for line in lines(whole) if "update" in line] == ["update A_own {before = (2,), behind = (2,)}"]
    draw = np.random.default_rng(0)
    arguments = {name: draw.uniform(size=9) for name in "ABC"}
    check(parse_sdfg(f"{HEAD} {{ {body} }}"), whole, arguments, {"N": 9, "P": 3}, 3)


def test_arguments_that_are_read_beyond_get_room():
    """C is read where it is owned, until neighbours' iterations read it, too: a copy once, with a halo."""
    both = "map {i} = 1:N - 1 {{ tasklet (l <- {x}[{i} - 1], c <- C[{i}]) -> (o -> {y}[{i}]) {{ o = l * c }} }}"
    body = f"loop t = 0:6 {{ {both.format(x='A', y='B', i='i')} {both.format(x='B', y='A', i='j')} }}"
    whole = made(body, 1)
    assert whole.desc("C_own").distribution.halo == ((1, 0),)  # filled by the copy
    draw = np.random.default_rng(0)
    arguments = {name: draw.uniform(size=9) for name in "ABC"}
    check(parse_sdfg(f"{HEAD} {{ {body} }}"), whole, arguments, {"N": 9, "P": 4}, 4)


def test_the_model_prefers_few_messages_where_there_is_little_to_compute():
    """By the latency of messages, and by what is computed twice: small blocks take more iterations together."""

    def groups(n):
        sdfg = parse_sdfg(f"{WITH_STEPS.replace('N: size', f'N: size{{typical = {n}}}')} {{ {JACOBI} }}")
        whole = distributed(sdfg, PLAN, {"g": [4]}, 0)
        return sum(isinstance(node, Map) for node in whole.body.walk_nodes())

    assert groups(400) == 16 + 2
    assert groups(400_000_000) >= 2


def test_seconds_of_an_update_count_what_is_under_way_together():
    whole = parse_sdfg(
        "sdfg @f(A: f64[N, N] on g(block 0 by 100, block 1 by 100)) symbols(N: size) grids(g[4, 4]) { state { } }"
    )
    network, uses = DeepHalos().network, Uses(whole)
    faces, corners = (seconds_of_update({"A": Halo(((1, 1), (1, 1)), each)}, uses, network) for each in (False, True))
    more = (4 * network.message + 4 * 8 * network.byte) * 1e-12
    assert corners - faces == pytest.approx(more)


# -- what is valid behind a map --------------------------------------------------------------------------------------

NONE, ONE, TWO = (Halo(((width, width),)) for width in range(3))
BOX, OTHER = ((1,),), ((2,),)


def test_what_is_outside_of_a_box_stays_as_valid_as_it_was():
    start = Validity.of(TWO)
    shrunk = start.written(BOX, ONE, True).written(BOX, NONE, True)
    assert (shrunk.halo, shrunk.outside) == (NONE, TWO)
    assert shrunk.written(BOX, TWO, True).halo == TWO  # all elements of the box are written again
    assert shrunk.written(BOX, TWO, False).halo == NONE  # perhaps not all
    assert shrunk.written(OTHER, TWO, True).halo == NONE  # what the other map wrote is outside of this box


def test_paths_meet_in_what_both_have():
    start = Validity.of(TWO)
    one, other = start.written(BOX, ONE, True), start.written(OTHER, ONE, True)
    assert start.common(one).written(BOX, TWO, True).halo == TWO
    assert one.common(other).written(BOX, TWO, True).halo == ONE
    assert one.common(other).common(start) == one.common(other)


def test_iterations_of_neighbours_need_what_they_read():
    text = """
    sdfg @f(A: f64[N] on g(block 0), B: f64[N] on g(block 0)) symbols(N: size, P: size{least = 1}) grids(g[P]) {
      data H: f64[N] transient on g(block 0) halo (WIDE:1)
      data G: f64[N] transient on g(block 0) halo (1:0)
      copy A[0:N] -> H[0:N]
      map i = 1:N home g(block 0 by (-((-N) // P))) halo (1:0) { tasklet (v <- H[i - 1]) -> (o -> G[i]) { o = v } }
      map j = 2:N home g(block 0 by (-((-N) // P))) { tasklet (v <- G[j - 1]) -> (o -> B[j]) { o = v } } }"""
    with pytest.raises(TransformationRefused, match="reaches 2 elements beyond"):
        localized(parse_sdfg(text.replace("WIDE", "1")))
    localized(parse_sdfg(text.replace("WIDE", "2")))  # G[0], which no rank writes, is undefined
    with pytest.raises(TransformationRefused, match="reaches 1 elements beyond"):  # it is defined, and not sent
        localized(parse_sdfg(text.replace("WIDE", "2").replace("copy A", "copy A[0:N-1] -> G[0:N-1] copy A")))
    localized(parse_sdfg(text.replace("WIDE", "2").replace("copy A", "copy A[0:N] -> G[0:N] copy A")))
    with pytest.raises(TransformationRefused, match="reaches 1 elements beyond"):  # no room
        localized(parse_sdfg(text.replace("WIDE", "2").replace("halo (1:0)\n      copy", "copy")))


def test_what_other_ranks_own_is_not_written():
    text = """
    sdfg @f(A: f64[N] on g(block 0)) symbols(N: size, P: size{least = 1}) grids(g[P]) {
      data H: f64[N] transient on g(block 0) halo (1:1)
      copy A[0:N] -> H[0:N]
      map i = 1:N home g(block 0 by (-((-N) // P))) { tasklet () -> (o -> H[i - 1]) { o = 1.0 } }
      copy H[0:N] -> A[0:N] }"""
    with pytest.raises(TransformationRefused, match="writes elements that other ranks own"):
        localized(parse_sdfg(text))
