"""Transformations print and parse, and histories replay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest

from dcpy.base.errors import ParseError, TransformationRefused, UnknownName
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.region import State
from dcpy.ir.text import print_sdfg
from dcpy.transforms.api import LEGAL, Legal, Match, Rewriter, Transformation, capture, one
from dcpy.transforms.catalog import TRANSFORMATIONS
from dcpy.transforms.history import parse_transformation, replay
from dcpy.transforms.simplify.control_flow.state_fusion import StateFusion
from dcpy.transforms.simplify.pipeline import simplify
from tests.support.expect import parse


@dataclass(frozen=True)
class Tiling(Transformation[Legal]):
    """A transformation with parameters of every type."""

    name: ClassVar[str] = "test-tiling"
    state = capture(State)
    pattern = one(state)
    sizes: tuple[int, ...] = ()
    divides: bool = False
    factor: float = 1.0
    order: str = "C"
    limit: int | None = None

    def plan(self, m: Match) -> Legal:
        return LEGAL

    def apply(self, m: Match, plan: Legal, rw: Rewriter) -> None:
        rw.update(m[self.state], name="tiled")


@pytest.fixture(autouse=True)
def catalog():
    TRANSFORMATIONS.add("test-tiling", Tiling)
    yield
    del TRANSFORMATIONS._items["test-tiling"]


@pytest.mark.parametrize(
    "tiling",
    [Tiling(), Tiling((32, 32), True), Tiling(factor=2.5, order="F"), Tiling((8,), limit=3)],
    ids=str,
)
def test_specs_round_trip(tiling):
    assert parse_transformation(str(tiling)) == tiling


def test_defaults_are_not_printed():
    assert str(Tiling((32, 32), True)) == "test-tiling{sizes=32,32 divides=true}"
    assert str(StateFusion()) == "state-fusion"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("state-fusion{deep=true}", "state-fusion has no parameter 'deep'"),
        ("test-tiling{divides=yes}", "test-tiling{divides} is 'yes', but bool is needed"),
        ("state-fusion now", "unexpected 'now'"),
        ("{}", "does not begin with the name"),
    ],
)
def test_what_cannot_be_read_is_refused(text, message):
    with pytest.raises(ParseError) as error:
        parse_transformation(text)
    assert message in error.value.message


def test_unknown_names_get_a_suggestion():
    with pytest.raises(UnknownName, match="did you mean state-fusion"):
        parse_transformation("state-fusoin")


PROGRAM = """
    sdfg @f(A: f64[N], B: f64[N]) symbols(N: size) {
      data c: f64 transient
      data k: i64 transient
      state { tasklet () -> (o -> c) { o = f64(1) + f64(2) }
              tasklet () -> (o -> k) { o = N - 1 } }
      if k[] >= N { state { call @g (x = A[0:N], y = B[0:N]) with (n = N) } }
      else { state { call @g (x = B[0:N], y = A[0:N]) with (n = N)
                     call @g (x = A[0:N], y = B[0:N]) with (n = N) } }
      let j = k[]
      state { tasklet (c <- c) -> (o -> A[j]) { o = c } }
    }
    sdfg @g(x: f64[n], y: f64[n]) symbols(n: size) {
      data tmp: f64[n] transient
      state { map i = 0:n { tasklet (a <- x[i]) -> (o -> tmp[i]) { o = a + 1 } } }
      if n > 3 { return }
      state { copy tmp[0:n] -> y[0:n] }
    }"""


def test_a_simplification_replays_to_the_same_text():
    sdfg = parse(PROGRAM)
    original = copy_sdfg(sdfg)
    simplify(sdfg, check=True)
    assert len(sdfg.history) > 8
    assert print_sdfg(replay(original, sdfg.history, check=True)) == print_sdfg(sdfg)
    assert original.history == sdfg.history


def test_a_history_that_does_not_fit_is_refused():
    with pytest.raises(TransformationRefused, match="has nothing at /7"):
        replay(parse(PROGRAM), ["state-fusion first=/7 second=/8"])
    with pytest.raises(TransformationRefused, match="the state has nodes"):
        replay(parse(PROGRAM), ["empty-state-elimination block=/0"])
