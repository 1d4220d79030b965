"""What elements of arrays of indices are, read back from what fills them."""

import pytest

from dcpy.ir.analysis.dataflow.array_contents import ArrayContents
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.region import Loop
from dcpy.ir.symbolic import sym
from dcpy.ir.text import parse_sdfg

GRID = """
    state {{
      map i = 0:N {{ tasklet () -> (o -> r[i]) {{ o = i }} }}
      map i = 0:N, j = 0:M {{ tasklet (a <- r[i]) -> (o -> g[0, i, j]) {{ o = a }} }}
      map i = 0:N, j = 0:M {{ tasklet () -> (o -> g[1, i, j]) {{ o = 2 * j + 1 }} }}
      {more}
    }}"""


def contents(name, *index, more="", filled=GRID, after=""):
    sdfg = parse_sdfg(f"""
        sdfg @f(B: f64[N], q: i64[N]) symbols(N: size, M: size) {{
          data r: i64[N] transient
          data g: i64[2, N, M] transient
          data h: i64[N*M] transient
          data f: i64[N*M] transient
          view v: i64[N, M] of g[0, 0:N, 0:M]
          view w: i64[N*M] of v
          view u: i64[N, M] of g[1, 0:N, 0:M]
          view t: i64[M, N] of g[1, 0:N, 0:M] axes (2, 1)
          {filled.format(more=more)}
          loop i = 0:3 {{ state {{ copy h[0:N] -> q[0:N] {after} }} }}
        }}""")
    loop = sdfg.body.blocks[-1]
    assert isinstance(loop, Loop)
    found = ArrayContents(loop, Uses(sdfg))
    value = found.of(name, tuple(sym(part) for part in index))
    return None if value is None else (str(value), found.sizes)


COPIED = "copy w[0:N*M] -> h[0:N*M]"


def test_elements_are_what_their_places_say():
    assert contents("r", "p")[0] == "p"
    assert contents("u", "a", "b")[0] == "2*b + 1"
    assert contents("v", "a", "b")[0] == "a"
    assert contents("t", "a", "b")[0] == "2*a + 1"


def test_copies_and_reshapes_keep_them():
    value, sizes = contents("h", "p", more=COPIED)
    assert value == "p // M"
    assert {str(size) for at, found in sizes.items() for size in found if str(at) == "p // M"} == {"N"}


UNKNOWN = {
    "written twice": COPIED + " map k = 0:N { tasklet () -> (o -> h[k]) { o = 0 } }",
    "not written": "",
    "in part": "copy w[0:N] -> h[0:N]",
    "from an argument": "map k = 0:N*M { tasklet (a <- q[0]) -> (o -> h[k]) { o = a } }",
    "of what is computed": "map k = 0:N*M { tasklet (a <- B[0]) -> (o -> h[k]) { o = i64(a) } }",
    "in another range": "map k = 1:N*M { tasklet () -> (o -> h[k]) { o = k } }",
    "added up": "map k = 0:N*M { tasklet () -> (o -> h[k] (add)) { o = k } }",
}


@pytest.mark.parametrize("more", UNKNOWN.values(), ids=UNKNOWN)
def test_what_is_not_known(more):
    assert contents("h", "p", more=more) is None


def test_what_a_branch_or_a_loop_fills_is_not_known():
    for around in ("if N > 2 {{ state {{ {more} }} }}", "loop k = 0:N {{ state {{ {more} }} }}"):
        filled = GRID.format(more="").replace("{", "{{").replace("}", "}}") + around
        assert contents("h", "p", filled=filled, more=COPIED) is None


def test_what_changes_in_the_place_is_as_it_was_before():
    assert contents("h", "p", more=COPIED, after="copy f[0:N*M] -> h[0:N*M]")[0] == "p // M"
