"""The picture of each transformation of loop nests in the reference: what it makes of a small program.

The golden files are what `docs.generate` prints. Interpreted and compiled, both programs compute the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import dcpy
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.text import parse_sdfg, print_sdfg
from dcpy.transforms.api import Transformation, apply_once
from dcpy.transforms.fusion.horizontal_fusion import HorizontalFusion
from dcpy.transforms.history import replay
from dcpy.transforms.loops.loop_distribution import LoopDistribution
from dcpy.transforms.loops.loop_fusion import LoopFusion
from dcpy.transforms.loops.loop_interchange import LoopInterchange
from dcpy.transforms.loops.loop_peeling import LoopPeeling
from dcpy.transforms.loops.loop_reversal import LoopReversal
from dcpy.transforms.loops.loop_skewing import LoopSkewing
from dcpy.transforms.loops.loop_unroll import LoopUnroll
from dcpy.transforms.loops.scalar_expansion import ScalarExpansion
from dcpy.transforms.loops.strip_mining import StripMining
from dcpy.transforms.loops.time_tiling import TimeTiling
from dcpy.transforms.loops.unroll_and_jam import UnrollAndJam
from dcpy.transforms.maps.map_expansion import MapExpansion
from dcpy.transforms.maps.map_fission import MapFission
from dcpy.transforms.maps.map_interchange import MapInterchange
from dcpy.transforms.maps.map_tiling import MapTiling
from dcpy.transforms.maps.map_to_for_loop import MapToForLoop
from dcpy.transforms.maps.move_loop_into_map import MoveLoopIntoMap
from dcpy.transforms.maps.move_map_into_loop import MoveMapIntoLoop
from dcpy.transforms.maps.parallelization import Parallelization
from dcpy.transforms.maps.vectorization import Vectorization
from tests.support.expect import assert_same_text, assert_same_values, random_arguments

TWO = "A: f64[N, M], B: f64[N, M]"
ONE = "A: f64[N], B: f64[N], C: f64[N]"
PLUS_ONE = "tasklet (a <- A[i, j]) -> (o -> B[i, j]) { o = a + 1.0 }"
FACTORS = "A: f64[N, M], B: f64[M, N], C: f64[N]"
RECURRENCE = "state { tasklet (a <- A[i - 1], b <- A[i]) -> (o -> A[i]) { o = 0.5*a + b } }"
PRODUCT = "tasklet (c <- C[i], a <- A[i, k], b <- B[k, 0]) -> (o -> C[i]) { o = c + a*b }"


@dataclass(frozen=True)
class Picture:
    """A transformation, the program that it is shown on, where it is applied, and sizes to run both with."""

    transformation: Transformation[Any]
    arguments: str
    body: str
    pins: dict[str, str] = field(default_factory=dict)
    sizes: tuple[int, ...] = (0, 1, 5, 8)

    @property
    def program(self) -> str:
        symbols = ", ".join(
            f"{name}: size" for name in "NMT" if f"{name}," in self.arguments or f"{name}]" in self.arguments
        )
        return f"sdfg @example({self.arguments}) symbols({symbols}) {{ {self.body} }}"


PICTURES = [
    Picture(MapExpansion(), TWO, f"state {{ map i = 0:N, j = 0:M {{ {PLUS_ONE} }} }}"),
    Picture(MapInterchange(), TWO, f"state {{ map i = 0:N {{ map j = 0:M {{ {PLUS_ONE} }} }} }}", {"map": "i"}),
    Picture(MapTiling(sizes=(32, 64)), TWO, f"state {{ map i = 0:N, j = 0:M {{ {PLUS_ONE} }} }}"),
    Picture(MapToForLoop(), TWO, f"state {{ map i = 0:N, j = 0:M {{ {PLUS_ONE} }} }}"),
    Picture(Vectorization(width=4), TWO, f"state {{ map i = 0:N, j = 0:M {{ {PLUS_ONE} }} }}"),
    Picture(Parallelization(), TWO, f"state {{ map i = 0:N {{ map j = 0:M {{ {PLUS_ONE} }} }} }}", {"map": "i"}),
    Picture(StripMining(size=16), ONE, f"loop i = 1:N {{ {RECURRENCE} }}"),
    Picture(LoopUnroll(factor=2), ONE, f"loop i = 1:N {{ {RECURRENCE} }}"),
    Picture(LoopPeeling(), ONE, f"loop i = 1:N {{ {RECURRENCE} }}"),
    Picture(
        LoopInterchange(),
        TWO,
        "loop i = 0:N { loop j = 1:M { state {"
        " tasklet (a <- A[i, j - 1]) -> (o -> A[i, j]) { o = 0.5*a } } } }",
        {"loop": "i"},
    ),
    Picture(LoopReversal(), ONE, "loop i = 0:N { state { tasklet (a <- A[i]) -> (o -> B[i]) { o = a*a } } }"),
    Picture(
        LoopSkewing(),
        "A: f64[N], B: f64[T]",
        "loop t = 0:T { loop i = 1:N - 1 { state {"
        " tasklet (a <- A[i - 1], b <- A[i], c <- A[i + 1]) -> (o -> A[i]) { o = 0.25*(a + 2.0*b + c) } } } }",
        {"loop": "i"},
    ),
    Picture(
        TimeTiling(steps=8, sizes=(64,)),
        "A: f64[N], B: f64[N], C: f64[T]",
        "loop t = 0:T { state { map i = 1:N - 1 {"
        " tasklet (l <- A[i - 1], r <- A[i + 1]) -> (o -> B[i]) { o = 0.5*(l + r) } }"
        " map j = 1:N - 1 { tasklet (b <- B[j]) -> (o -> A[j]) { o = b } } } }",
        {"loop": "t"},
        (0, 1, 5, 8, 70),
    ),
    Picture(
        LoopFusion(shift=1),
        ONE,
        "loop i = 0:N { state { tasklet (a <- A[i]) -> (o -> B[i]) { o = a*a } } }"
        " loop j = 0:N - 1 { state { tasklet (b <- B[j + 1]) -> (o -> C[j]) { o = b + 1.0 } } }",
    ),
    Picture(
        LoopDistribution(),
        ONE,
        "loop i = 1:N { state { tasklet (a <- A[i - 1]) -> (o -> A[i]) { o = 0.5*a }"
        " tasklet (a <- A[i]) -> (o -> B[i]) { o = a*a } } }",
    ),
    Picture(
        MapFission(),
        ONE,
        "state { map i = 0:N { tasklet (a <- A[i]) -> (o -> B[i]) { o = a*a }"
        " tasklet (a <- B[i]) -> (o -> C[i]) { o = a + 1.0 } } }",
    ),
    Picture(
        ScalarExpansion(),
        ONE,
        "state { map i = 0:N { data t: f64 transient tasklet (a <- A[i]) -> (o -> t) { o = a*a }"
        " tasklet (a <- t) -> (o -> C[i]) { o = a + 1.0 } } }",
    ),
    Picture(
        MoveLoopIntoMap(),
        TWO,
        "loop j = 1:M { state { map i = 0:N { tasklet (a <- A[i, j - 1]) -> (o -> A[i, j]) { o = 0.5*a } } } }",
    ),
    Picture(MoveMapIntoLoop(), FACTORS, f"state {{ map i = 0:N {{ loop k = 0:M {{ state {{ {PRODUCT} }} }} }} }}"),
    Picture(UnrollAndJam(), FACTORS, f"loop i = 0:N {{ loop k = 0:M {{ state {{ {PRODUCT} }} }} }}", {"loop": "i"}),
    Picture(
        HorizontalFusion(),
        ONE,
        "state { map i = 0:N { tasklet (a <- A[i]) -> (o -> B[i]) { o = a*a } }"
        " map j = 0:N { tasklet (a <- A[j]) -> (o -> C[j]) { o = a + 1.0 } } }",
    ),
]  # fmt: skip
NAMES = [picture.transformation.name for picture in PICTURES]


@pytest.mark.parametrize("picture", PICTURES, ids=NAMES)
def test_picture(picture, golden):
    before = parse_sdfg(picture.program)
    after = copy_sdfg(before)
    apply_once(after, picture.transformation, check=True, **picture.pins)
    golden(f"{print_sdfg(before)}\n{print_sdfg(after)}\n", picture.transformation.name)
    assert_same_text(print_sdfg(replay(copy_sdfg(before), after.history, check=True)), print_sdfg(after))
    values = {name: list(picture.sizes) for name in before.symbols}
    if "B[k, 0]" in picture.body:
        values = {name: [size for size in sizes if size] for name, sizes in values.items()}
    assert_same_values(before, after, values)


@pytest.mark.cc
@pytest.mark.parametrize("picture", PICTURES, ids=NAMES)
def test_picture_compiled(picture):
    before = dcpy.parse(picture.program)
    after = dcpy.parse(picture.program).apply(picture.transformation, **picture.pins)
    for size in (1, 7):
        given = random_arguments(before, dict.fromkeys(before.symbols, size), seed=size)
        expected, found = ({name: value.copy() for name, value in given.items()} for _ in range(2))
        before.interpret(**expected)
        after.compile()(**found)
        for name, value in expected.items():
            np.testing.assert_allclose(found[name], value, rtol=1e-12)
