"""infer-halos: what neighbours have comes in place; validity decides where; a refusal for each reason."""

from __future__ import annotations

import numpy as np
import pytest

from dcpy.base.errors import InvalidSdfg, TransformationRefused
from dcpy.ir.communication import HaloUpdate
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.editing.distribution_erasure import erased
from dcpy.ir.files.json import from_json, to_json
from dcpy.ir.text import parse_sdfg, print_sdfg
from dcpy.ir.verify import verify
from tests.support.ranks import check, distributed, localized

PLAN = {"A": "g(block 0)", "B": "g(block 0)", "C": "g(block 0)"}
HEAD = "sdfg @f(A: f64[N], B: f64[N], C: f64[N]) symbols(N: size)"
SHIFT = "map {i} = 1:N - 1 {{ tasklet (l <- {x}[{i} - 1], r <- {x}[{i} + 1]) -> (o -> {y}[{i}]) {{ o = l + 2*r }} }}"
POINT = "map {i} = 0:N {{ tasklet (l <- {x}[{i}]) -> (o -> {y}[{i}]) {{ o = 0.5 * l }} }}"


def shift(x, y, i="i"):
    return SHIFT.format(x=x, y=y, i=i)


def point(x, y, i="k"):
    return POINT.format(x=x, y=y, i=i)


def made(body, ranks=(1, 2, 3, 5), sizes=(2, 3, 7)):
    """The distributed form of a program, after it did the same on virtual ranks."""
    sdfg = parse_sdfg(f"{HEAD} {{ {body} }}")
    whole = distributed(sdfg, PLAN, {"g": ["P"]})
    local = localized(whole)
    for count in ranks:
        for n in sizes:
            draw = np.random.default_rng(n)
            arguments = {name: draw.uniform(size=n) for name in "ABC"}
            check(sdfg, whole, arguments, {"N": n, "P": count}, count, local=local, strict=n == 3)
    return whole


def lines(whole):
    """What matters of a program: updates, maps, loops, copies."""
    found = []
    for line in print_sdfg(whole).splitlines():
        word = line.strip().split(" ")[0]
        if word == "comm.update":
            arrays, widths = line.strip().split(" -> ")[0], line.strip().split("{")[-1]
            names = [part.split("[")[0] for part in arrays.split("<- ")[1:]]
            found.append(f"update {' '.join(names)} {{{widths}")
        elif word in ("map", "loop", "copy", "if", "else"):
            found.append(" ".join(line.strip().split(" ")[:2]))
    return found


BOTH = "{before = (1,), behind = (1,)}"


def test_halos_are_updated_in_place():
    whole = made(f"loop t = 0:3 {{ {shift('A', 'B')} {shift('B', 'A', 'j')} }}")
    assert lines(whole) == [
        "copy B[0:N]", "copy A[0:N]", "loop t",
        f"update A_own {BOTH}", "map i", f"update B_own {BOTH}", "map j",
        "copy A_own[0:N]", "copy B_own[0:N]",
    ]  # fmt: skip
    assert whole.desc("A_own").distribution.halo == ((1, 1),)


def test_arguments_that_are_copied_once_stay():
    assert lines(made(shift("A", "B"))) == ["copy A[0:N]", "map i"]


def test_one_update_of_what_all_readers_need():
    body = """loop t = 0:3 {
      map i = 1:N { tasklet (l <- A[i - 1], r <- A[i]) -> (o -> B[i]) { o = l - 0.5 * r } }
      map j = 0:N - 1 { tasklet (l <- A[j + 1], r <- A[j]) -> (o -> C[j]) { o = l + 0.5 * r } }
      map k = 0:N { tasklet (l <- B[k], r <- C[k]) -> (o -> A[k]) { o = l * r } } }"""
    assert lines(made(body))[1:] == ["loop t", f"update A_own {BOTH}", "map i", "map j", "map k", "copy A_own[0:N]"]


def test_updates_of_several_arrays_are_one():
    body = f"""loop t = 0:3 {{ {point("C", "A")} {point("C", "B", "k1")}
      map j = 1:N {{ tasklet (l <- A[j - 1], r <- B[j - 1]) -> (o -> C[j]) {{ o = l - r }} }} }}"""
    kept = [line for line in lines(made(body)) if line.startswith(("update", "map"))]
    assert kept == ["map k", "map k1", "update A_own B_own {before = (1, 1), behind = (0, 0)}", "map j"]


def test_what_a_loop_does_not_write_is_updated_once():
    """A is written in the outer loop, and read in the inner one."""
    body = f"loop t = 0:2 {{ loop s = 0:3 {{ {shift('A', 'B')} }} {point('B', 'A')} }}"
    assert lines(made(body))[1:] == [
        "loop t", f"update A_own {BOTH}", "loop s", "map i", "map k", "copy A_own[0:N]",
    ]  # fmt: skip


def test_arms_that_begin_with_the_same_update():
    body = f"""loop t = 0:3 {{
      if t > 1 {{ {shift("A", "B")} }} else {{ {shift("A", "C", "j")} }}
      map k = 0:N {{ tasklet (l <- B[k], r <- C[k]) -> (o -> A[k]) {{ o = l + r }} }} }}"""
    assert [line for line in lines(made(body)) if line.startswith(("update", "if"))] == [f"update A_own {BOTH}", "if t"]


def test_an_update_in_one_arm_stays_there():
    body = f"loop t = 0:3 {{ if t > 1 {{ {shift('A', 'B')} }} {point('B', 'A')} }}"
    assert [line for line in lines(made(body)) if line.startswith(("update", "if"))] == ["if t", f"update A_own {BOTH}"]


def test_a_write_in_an_arm_ends_it():
    """Behind the branch A may be another one: it is updated again."""
    body = f"""loop t = 0:3 {{ {shift("A", "B")} if t > 1 {{ {point("B", "A")} }}
      {shift("A", "C", "j")} {point("C", "A", "m")} }}"""
    assert sum(line.startswith("update") for line in lines(made(body))) == 2


def test_a_while_loop_and_what_leaves_it():
    body = f"""data n: i64 transient tasklet () -> (o -> n) {{ o = 0 }}
      while n < 3 {{ {shift("A", "B")} {shift("A", "C", "j")} {point("B", "A")}
        tasklet (v <- n) -> (o -> n) {{ o = v + 1 }}
        if n > 1 {{ break }} {shift("A", "C", "m")} }}"""
    assert sum(line.startswith("update") for line in lines(made(body))) == 2


def test_halos_wider_than_blocks():
    body = f"""loop t = 0:3 {{
      map i = 3:N - 2 {{ tasklet (l <- A[i - 3], r <- A[i + 2]) -> (o -> B[i]) {{ o = l - r }} }}
      {point("B", "A")} }}"""
    whole = made(body, ranks=(2, 5, 7), sizes=(6, 7, 8))
    assert whole.desc("A_own").distribution.halo == ((3, 2),)


@pytest.mark.parametrize(("read", "corners"), [("A[i - 1, j + 1]", True), ("A[i - 1, j], m <- A[i, j + 1]", False)])
def test_corners_are_sent_where_they_are_read(read, corners):
    use = "v" if corners else "v + m"
    sdfg = parse_sdfg(f"""sdfg @f(A: f64[N, M], B: f64[N, M]) {{ loop t = 0:2 {{
      map i = 1:N, j = 0:M - 1 {{ tasklet (v <- {read}) -> (o -> B[i, j]) {{ o = {use} }} }}
      map k = 0:N, l = 0:M {{ tasklet (v <- B[k, l]) -> (o -> A[k, l]) {{ o = 0.5 * v }} }} }} }}""")
    whole = distributed(sdfg, dict.fromkeys("AB", "g(block 0, block 1)"), {"g": ["Px", "Py"]})
    (update,) = (node for node in whole.body.walk_nodes() if isinstance(node, HaloUpdate))
    assert update.corners == corners
    draw = np.random.default_rng(1)
    arguments = {"A": draw.uniform(size=(7, 5)), "B": draw.uniform(size=(7, 5))}
    local, symbols = localized(whole), {"N": 7, "M": 5, "Px": 2, "Py": 3}
    traffic = check(sdfg, whole, arguments, symbols, 6, local=local, strict=True)
    assert traffic.messages == 2 * (3 + 4 + 2 * corners)  # faces along each dimension; B is read where it is owned


# -- what stays a copy -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        f"loop t = 0:2 {{ {shift('A', 'B')} {point('B', 'A')} if t > 0 {{ return }} }}",
        f"view V: f64[1, N] of A loop t = 0:2 {{ {shift('A', 'B')} {point('B', 'A')} }}",
    ],
)
def test_arguments_that_get_no_halo(body):
    assert not any(line.startswith("update") for line in lines(made(body, ranks=(3,), sizes=(7,))))


# -- the node --------------------------------------------------------------------------------------------------------

WITH_HALO = """sdfg @f(A: f64[N] on g(block 0)) symbols(N: size, P: size{{least = 1}}) grids(g[P]) {{
  data H: f64[N] transient on g(block 0) halo (1:1)
  copy A[0:N] -> H[0:N]
  comm.update (x0 <- H[{subset}]) -> ({out} -> H[{subset}]) {{before = ({before},), behind = (1,)}}
  copy H[0:N] -> A[0:N]
}}"""


def test_updates_are_read_printed_and_saved():
    sdfg = parse_sdfg(WITH_HALO.format(subset="0:N", out="x0", before=1))
    assert print_sdfg(parse_sdfg(print_sdfg(sdfg))) == print_sdfg(sdfg)
    assert print_sdfg(from_json(to_json(sdfg))) == print_sdfg(sdfg)
    assert "update" not in print_sdfg(erased(copy_sdfg(sdfg)))
    local = localized(sdfg)
    assert print_sdfg(from_json(to_json(local))) == print_sdfg(parse_sdfg(print_sdfg(local))) == print_sdfg(local)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"subset": "0:N", "out": "y", "before": 1}, "updates arrays in place"),
        ({"subset": "0:N", "out": "x0", "before": 2}, "has room for 1"),
        ({"subset": "1:N", "out": "x0", "before": 1}, "a part of 'H'"),
    ],
)
def test_updates_that_are_refused(fields, reason):
    with pytest.raises(InvalidSdfg, match=reason):
        verify(parse_sdfg(WITH_HALO.format(**fields)))


def test_a_halo_that_is_not_valid_is_not_read():
    text = """
    sdfg @f(A: f64[N] on g(block 0), B: f64[N] on g(block 0)) symbols(N: size, P: size{least = 1}) grids(g[P]) {
      data H: f64[N] transient on g(block 0) halo (1:1)
      map k = 0:N home g(block 0 by (-((-N) // P))) { tasklet (v <- A[k]) -> (o -> H[k]) { o = v } }
      UPDATE
      map i = 1:N home g(block 0 by (-((-N) // P))) { tasklet (v <- H[i - 1]) -> (o -> B[i]) { o = v } } }"""
    with pytest.raises(TransformationRefused, match="reaches 1 elements beyond"):
        localized(parse_sdfg(text.replace("UPDATE", "")))
    narrow = "comm.update (x0 <- H[0:N]) -> (x0 -> H[0:N]) {before = (0,), behind = (1,)}"
    with pytest.raises(TransformationRefused, match="reaches 1 elements beyond"):
        localized(parse_sdfg(text.replace("UPDATE", narrow)))
    localized(parse_sdfg(text.replace("UPDATE", narrow.replace("(0,)", "(1,)"))))
