"""Arrays that get more room while they live: text, verification, meaning, what passes leave alone, compiled code."""

import numpy as np
import pytest

from dcpy.base.errors import DcpyError
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dependence.loop_dependences import loop_dependences
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.files.json import from_json, to_json
from dcpy.ir.interp import run
from dcpy.ir.region import Loop, Resize
from dcpy.ir.text import parse_sdfg, print_sdfg
from dcpy.ir.verify import verify
from tests.support.compiled import compile_sdfg, source_of

GROWS = """
sdfg @grow(x: f64[N], out: f64[1]) symbols(N: size) {
  data list: f64[room, 2] transient
  data n: i64 transient
  let room = 2
  tasklet () -> (o -> n) { o = 0 }
  loop i = 0:N {
    let k = n[]
    if k >= room {
      resize list: room = 2*room keep k
    }
    tasklet (a <- x[i]) -> (o -> list[k, 0], p -> list[k, 1]) { o = a; p = a + a }
    tasklet (m <- n) -> (o -> n) { o = m + 1 }
  }
  let k = n[]
  loop j = 0:k {
    tasklet (a <- list[j, 0], b <- list[j, 1], c <- out[0]) -> (o -> out[0]) { o = a + b + c }
  }
}
"""


def test_text_and_files_hold_it():
    sdfg = parse_sdfg(GROWS)
    assert "resize list: room = 2*room keep k" in print_sdfg(sdfg)
    assert print_sdfg(parse_sdfg(print_sdfg(sdfg))) == print_sdfg(sdfg)
    assert print_sdfg(from_json(to_json(sdfg))) == print_sdfg(copy_sdfg(sdfg)) == print_sdfg(sdfg)
    verify(sdfg)


@pytest.mark.parametrize("size", [0, 2, 3, 70])
def test_the_first_items_stay(size):
    x, out = np.arange(float(size)), np.zeros(1)
    run(parse_sdfg(GROWS), {"x": x, "out": out})
    assert out[0] == 3 * x.sum()


@pytest.mark.cc
def test_compiled_code_moves_the_items():
    function = compile_sdfg(GROWS)
    for size in (0, 1, 3, 5000):
        x, out = np.arange(float(size)), np.zeros(1)
        function(x, out)
        assert out[0] == 3 * x.sum()
    assert "dcpy_growing_buffer<double>" in source_of(GROWS)


def test_its_reads_and_writes_are_seen():
    sdfg = parse_sdfg(GROWS)
    block = next(block for block in sdfg.body.walk_blocks() if isinstance(block, Resize))
    accessed = Uses(sdfg).accesses(block)
    assert "list" in accessed.reads
    assert "list" in accessed.writes
    assert {"room", "k"} <= set(accessed.symbols)
    loop = next(block for block in sdfg.body.blocks if isinstance(block, Loop))
    assert not loop_dependences(loop, Uses(sdfg)).answer.is_no


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("f64[room, 2]", "f64[2, room]", "not the first size"),
        ("list: f64[room, 2] transient", "list: f64[room, 2]", "packed array of the program's own"),
        ("resize list:", "resize x:", "packed array of the program's own"),
    ],
)
def test_verification_refuses(old, new, reason):
    with pytest.raises(DcpyError, match=reason):
        verify(parse_sdfg(GROWS.replace(old, new, 1)))
