"""The picture of each transformation of loop nests in the reference: what it makes of a small program.

The golden files are what `docs.generate` prints. Interpreted and compiled, both programs compute the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import dcpy
from dcpy import plugins
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.text import parse_sdfg, print_sdfg
from dcpy.transforms.api import Transformation, apply_once
from dcpy.transforms.expand import ExpandLibraryNode
from dcpy.transforms.fusion.horizontal_fusion import HorizontalFusion
from dcpy.transforms.fusion.recompute_fusion import RecomputeFusion
from dcpy.transforms.fusion.stencil_tiling import StencilTiling
from dcpy.transforms.fusion.subgraph_fusion import SubgraphFusion
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
from dcpy.transforms.memory.accumulate_transient import AccumulateTransient
from dcpy.transforms.memory.buffer_tiling import BufferTiling
from dcpy.transforms.memory.double_buffering import DoubleBuffering
from dcpy.transforms.memory.in_local_storage import InLocalStorage
from dcpy.transforms.memory.out_local_storage import OutLocalStorage
from dcpy.transforms.memory.transient_reuse import TransientReuse
from dcpy.transforms.simplify.dataflow.common_subexpression_elimination import CommonSubexpressionElimination
from tests.support.expect import assert_same_text, assert_same_values, random_arguments

plugins.load()

TWO = "A: f64[N, M], B: f64[N, M]"
ONE = "A: f64[N], B: f64[N], C: f64[N]"
PLUS_ONE = "tasklet (a <- A[i, j]) -> (o -> B[i, j]) { o = a + 1.0 }"
FACTORS = "A: f64[N, M], B: f64[M, N], C: f64[N]"
ROWS = "A: f64[N, 8], B: f64[N, 8]"
SQUARES = "map i = 0:N { tasklet (a <- A[i]) -> (o -> t[i]) { o = a*a } }"
AGAIN = "map k = 0:N { tasklet (a <- A[k]) -> (o -> u[k]) { o = a*a } }"
USE = "map j = 0:N { tasklet (a <- t[j]) -> (o -> B[j]) { o = a + 1.0 } }"
NEIGHBOURS = "map j = 1:N - 1 { tasklet (l <- t[j - 1], r <- t[j + 1]) -> (o -> B[j]) { o = l - r } }"
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
    Picture(
        InLocalStorage(array="A"),
        ROWS,
        "state { map i = 0:N { map j = 0:8, k = 0:8 { tasklet (a <- A[i, j], b <- A[i, k]) -> (o -> B[i, j] (add)) {"
        " o = a*b } } } }",
        {"scope": "i"},
    ),
    Picture(OutLocalStorage(), ROWS, f"state {{ map i = 0:N {{ map j = 0:8 {{ {PLUS_ONE} }} }} }}", {"scope": "i"}),
    Picture(
        AccumulateTransient(),
        ROWS,
        "state { map i = 0:N { map k = 0:8, j = 0:8 { tasklet (a <- A[i, k]) -> (o -> B[i, j] (add)) { o = a*a } } } }",
        {"map": "k"},
    ),
    Picture(
        DoubleBuffering(),
        ROWS,
        "loop i = 0:N { data b: f64[8] transient state { copy A[i, 0:8] -> b[0:8]"
        " map j = 0:8 { tasklet (a <- b[j], r <- b[7 - j]) -> (o -> B[i, j]) { o = a*r } } } }",
    ),
    Picture(BufferTiling(size=32), ONE, f"data t: f64[N] transient state {{ {SQUARES} {USE} }}"),
    Picture(StencilTiling(size=32), ONE, f"data t: f64[N] transient state {{ {SQUARES} {NEIGHBOURS} }}"),
    Picture(RecomputeFusion(), ONE, f"data t: f64[N] transient state {{ {SQUARES} {NEIGHBOURS} }}"),
    Picture(
        SubgraphFusion(),
        FACTORS,
        "data s: f64[N] transient data t: f64[N, M] transient state {"
        " map i = 0:N { tasklet () -> (o -> s[i]) { o = 0.0 } }"
        " map i1 = 0:N, j1 = 0:M { tasklet (a <- A[i1, j1]) -> (o -> s[i1] (add)) { o = a } }"
        " map i2 = 0:N, j2 = 0:M { tasklet (a <- A[i2, j2], b <- s[i2]) -> (o -> t[i2, j2]) { o = a - b } }"
        " map i3 = 0:N, j3 = 0:M { tasklet (a <- t[i3, M - 1 - j3]) -> (o -> B[j3, i3]) { o = a*a } } }",
    ),
    Picture(
        CommonSubexpressionElimination(),
        ONE,
        f"data t: f64[N] transient data u: f64[N] transient state {{ {SQUARES} {AGAIN}"
        " map j = 0:N { tasklet (a <- t[j], b <- u[j]) -> (o -> B[j]) { o = a + b } } }",
    ),
    Picture(
        TransientReuse(),
        ONE,
        f"data t: f64[N] transient data u: f64[N] transient state {{ {SQUARES} {USE}"
        " map k = 0:N { tasklet (b <- B[k]) -> (o -> u[k]) { o = 2.0*b } }"
        " map l = 0:N { tasklet (a <- u[l]) -> (o -> C[l]) { o = a + 1.0 } } }",
    ),
    Picture(
        ExpandLibraryNode(prefer=("maps",)),
        FACTORS,
        "state { reduce (x <- A[0:N, 0:M]) -> (out -> C[0:N]) {axes = (1,)} }",
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
