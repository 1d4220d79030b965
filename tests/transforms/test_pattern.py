"""The four forms of patterns, and the order of their matches."""

from __future__ import annotations

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.nodes import Copy, Map, Node, Tasklet
from dcpy.ir.region import Block, Loop, State
from dcpy.transforms.pattern import Access, capture, consecutive, one, path, whole
from tests.support.expect import parse

SDFG = """
    sdfg @f(A: f64[N], B: f64[N]) symbols(N: size) {
      data t: f64[N] transient
      data u: f64[N] transient
      state s {
        map i = 0:N { tasklet scale (a <- A[i]) -> (o -> t[i]) { o = a * 2 } }
        map j = 0:N { tasklet (a <- t[j]) -> (o -> u[j]) { o = a + 1 } }
        copy t[0:N] -> B[0:N]
        copy B[0:N] -> t[0:N]
        map k = 0:N { tasklet (a <- t[k], b <- u[k]) -> (o -> B[k]) { o = a + b } }
      }
      loop x = 0:3 { state { } state { } }
    }"""


def found(pattern, *names):
    for number, part in enumerate(pattern.captures):
        part.name = names[number]
    uses = Uses(parse(SDFG))
    return [str(m) for anchor in pattern.anchors(uses.sdfg) for m in pattern.matches_at(anchor, uses)]


def test_one_finds_elements_anywhere():
    assert found(one(capture(Tasklet)), "t")[0] == "map i: scale"
    assert len(found(one(capture(Tasklet)), "t")) == 3
    assert found(one(capture(Loop)), "loop") == ["loop x"]
    assert len(found(one(capture(Block)), "block")) == 7


def test_consecutive_finds_neighbours_in_one_region():
    assert found(consecutive(capture(State), capture(State)), "a", "b") == ["loop x: state 0 -> state 1"]
    assert found(consecutive(capture(State), capture(Loop)), "a", "b") == ["s -> loop x"]


def test_path_follows_the_last_write():
    assert found(path(capture(Map), capture(Access), capture(Map)), "first", "tmp", "second") == [
        "s: map i -> t -> map j",
        "s: map j -> u -> map k",
    ]
    assert found(path(capture(Copy), capture(Access), capture(Node)), "first", "tmp", "second") == [
        "s: copy to B -> B -> copy to t",
        "s: copy to t -> t -> map k",
    ]


def test_longer_paths():
    parts = [capture(kind) for kind in (Map, Access, Map, Access, Map)]
    assert found(path(*parts), "a", "x", "b", "y", "c") == ["s: map i -> t -> map j -> u -> map k"]


def test_whole_matches_once():
    assert found(whole()) == ["f"]
