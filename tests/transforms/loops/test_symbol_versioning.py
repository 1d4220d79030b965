"""SymbolVersioning: shape, value, refusal; and what other transformations make of the version."""

from __future__ import annotations

import pytest

from dcpy.ir.nodes import Map
from dcpy.ir.region import Loop
from dcpy.ir.text import print_sdfg
from dcpy.transforms.api import apply_once, apply_repeated
from dcpy.transforms.history import parse_transformation
from dcpy.transforms.loops.loop_to_map import LoopToMap
from dcpy.transforms.loops.loop_unroll import LoopUnroll
from dcpy.transforms.loops.loop_versioning import LoopVersioning
from dcpy.transforms.loops.symbol_versioning import SymbolVersioning
from dcpy.transforms.maps.map_tiling import MapTiling
from dcpy.transforms.simplify.control_flow.dead_branch_elimination import DeadBranchElimination
from tests.support.expect import assert_same_values, expect, parse

EIGHTS = SymbolVersioning("N", multiple_of=8)


def program(body, head="sdfg @f(B: f64[N], k) symbols(N: size, k: i64)"):
    return f"{head} {{ {body} }}"


MAP = "map i = 0:N { tasklet (b <- B[i]) -> (o -> B[i]) { o = b + 1.0 } }"
LOOP = "loop i = 0:N { state { tasklet (b <- B[i]) -> (o -> B[i]) { o = b + 1.0 } } }"


def test_a_map_has_two_versions():
    expect(EIGHTS, on=parse(program(MAP))).becomes(
        program(f"if N % 8 == 0 {{ state {{ {MAP.replace('[i]', '[i_1]').replace('i =', 'i_1 =')} }} }}"
                f" else {{ state {{ {MAP} }} }}")
    ).same_values(N=[0, 1, 8, 9], k=[0])  # fmt: skip


def test_a_loop_has_two_versions():
    expect(SymbolVersioning("N", least=1, most=9), on=parse(program(LOOP))).becomes(
        program(f"if N >= 1 and N <= 9 {{ {LOOP.replace('[i]', '[i_1]').replace('i =', 'i_1 =')} }} else {{ {LOOP} }}")
    ).same_values(N=[0, 1, 9, 10], k=[0])


def test_what_stands_beside_the_map_stays_there():
    beside = "tasklet () -> (o -> B[0]) { o = 3.0 }"
    sdfg = parse(program(f"state {{ {beside} {MAP} {beside} }}"))
    expect(EIGHTS, on=sdfg).becomes(
        program(f"state {{ {beside} }} if N % 8 == 0 {{ state {{"
                f" {MAP.replace('[i]', '[i_1]').replace('i =', 'i_1 =')} }} }}"
                f" else {{ state {{ {MAP} }} }} state {{ {beside} }}")
    ).same_values(N=[1, 8], k=[0])  # fmt: skip


def versions(sdfg, kind):
    """Both maps or loops, the one for nice sizes first."""
    parts = (*sdfg.body.walk_nodes(), *sdfg.body.walk_blocks())
    found = [part for part in parts if isinstance(part, kind)]
    return sorted(found, key=lambda part: "_1" not in str(part.iteration_space()))


def test_tiles_of_the_version_have_no_remainder():
    sdfg = parse(program(MAP))
    apply_once(sdfg, EIGHTS, check=True)
    fast, rest = versions(sdfg, Map)
    apply_once(sdfg, MapTiling((8,)), check=True, map=fast)
    apply_once(sdfg, MapTiling((8,)), check=True, map=rest)
    assert print_sdfg(sdfg).count("min(") == 1
    assert_same_values(parse(program(MAP)), sdfg, {"N": [0, 3, 8, 16, 20], "k": [0]})


def test_loops_of_the_version_unroll_without_a_rest():
    sdfg = parse(program(LOOP))
    apply_once(sdfg, EIGHTS, check=True)
    fast, _ = versions(sdfg, Loop)
    apply_once(sdfg, LoopUnroll(factor=4), check=True, loop=fast)
    assert print_sdfg(sdfg).count("loop ") == 2
    assert_same_values(parse(program(LOOP)), sdfg, {"N": [0, 3, 8, 16, 20], "k": [0]})


def test_dependences_of_the_version_are_fewer():
    shifted = "loop i = 0:8 { state { tasklet (b <- B[i]) -> (o -> B[i + k]) { o = b } } }"
    sdfg = parse(program(shifted))
    expect(LoopToMap(), on=sdfg).is_refused("B")
    apply_once(sdfg, SymbolVersioning("k", least=8), check=True)
    apply_once(sdfg, LoopToMap(), check=True)
    assert "if k >= 8" in print_sdfg(sdfg)
    assert print_sdfg(sdfg).count("map ") == print_sdfg(sdfg).count("loop ") == 1
    assert_same_values(parse(program(shifted)), sdfg, {"N": [100], "k": [0, 1, 8, 50]})


@pytest.mark.parametrize(
    ("transformation", "body", "reason"),
    [
        (SymbolVersioning(), MAP, "it mentions no symbol ''"),
        (SymbolVersioning("k", least=1), MAP, "it mentions no symbol 'k'"),
        (SymbolVersioning("i", least=1), MAP, "'i' has more than one value while it runs"),
        (SymbolVersioning("N", least=0), MAP, "of 'N' that is known already"),
        (SymbolVersioning("N"), MAP, "of 'N' that is known already"),
        (SymbolVersioning("N", least=5, most=4), MAP, "no value is at least 5 and at most 4"),
        (SymbolVersioning("N", multiple_of=0), MAP, "values cannot be multiples of 0"),
        (
            SymbolVersioning("n", least=1),
            "loop i = 0:N { let n = i state { tasklet () -> (o -> B[n]) { o = 1.0 } } }",
            "'n' has more than one value while it runs",
        ),
    ],
)
def test_refusals(transformation, body, reason):
    expect(transformation, on=parse(program(body))).is_refused(reason)


def test_what_is_assumed_needs_no_version():
    head = "sdfg @f(B: f64[N], k) symbols(N: size{least = 1, multiple_of = 16}, k: i64)"
    expect(EIGHTS, on=parse(program(MAP, head))).is_refused("of 'N' that is known already")


def test_it_prints_and_parses():
    step = SymbolVersioning("N", 8, least=1)
    assert str(step) == "symbol-versioning{symbol=N multiple_of=8 least=1}"
    assert parse_transformation(str(step)) == step


def test_versions_without_checks_know_what_was_tested():
    """What loop versioning tests before a loop is known in the version that has no checks."""
    text = """sdfg @f(A: f64[N], n) symbols(N: size, n: i64) {
      loop i = 0:n {
        check N - i - 1 >= 0 else IndexError "out"
        if n <= N { state { tasklet () -> (o -> A[i]) { o = 1.0 } } }
        else { state { tasklet () -> (o -> A[i]) { o = 2.0 } } }
      } }"""
    sdfg = parse(text)
    apply_once(sdfg, LoopVersioning(), check=True)
    assert apply_repeated(sdfg, DeadBranchElimination(), check=True) == 1
    fast, _, rest = print_sdfg(sdfg).partition("else")
    assert "2.0" not in fast
    assert "2.0" in rest
    assert_same_values(parse(text), sdfg, {"N": [3, 8], "n": [0, 1, 3]})
