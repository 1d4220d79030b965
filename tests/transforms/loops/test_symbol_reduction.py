"""SymbolReduction: shape, value, refusal."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.transforms.loops.symbol_reduction import SymbolReduction
from tests.support.expect import expect, parse

HEAD = "sdfg @f(a: f64[N], m: i32[N], p: i64[]) symbols(N: size)"
KEEP = "state { tasklet () -> (o -> p) { o = k } }"


def program(body):
    return parse(f"{HEAD} {{ {body} }}")


def test_a_symbol_that_is_counted_up_is_a_sum():
    before = f"let k = 5 loop i = 0:N {{ if a[i] > 0.5 {{ let k = k + i }} else {{ let k = k - 2 }} }} {KEEP}"
    expect(SymbolReduction(), on=program(before)).becomes(f"""{HEAD} {{
        data count: i64 transient
        let k = 5
        state {{ tasklet () -> (out -> count) {{ out = 0 }} }}
        loop i = 0:N {{
          if a[i] > 0.5 {{ state {{ tasklet () -> (out -> count (add)) {{ out = i }} }} }}
          else {{ state {{ tasklet () -> (out -> count (add)) {{ out = index(-2) }} }} }} }}
        let k = k + count[]
        {KEEP} }}""").same_values(N=[0, 1, 6])


REFUSALS = {
    "it assigns no symbol": f"let k = 0 loop i = 0:N {{ {KEEP} }}",
    "symbol 'k' is not only added to": f"let k = 0 loop i = 0:N {{ let k = i }} {KEEP}",
    "symbol 'k' is used in it": f"let k = 0 loop i = 0:N {{ let k = k + 1 {KEEP} }}",
    "symbol 'k' is not only added to ": f"let k = 1 loop i = 0:N {{ let k = k + k }} {KEEP}",
}


@pytest.mark.parametrize("reason", REFUSALS)
def test_refuses(reason):
    expect(SymbolReduction(), on=program(REFUSALS[reason])).is_refused(reason.strip())


@pytest.mark.cc
def test_compiled_code_counts_as_python_does():
    def count(a):
        k = 0
        for i in range(len(a)):
            if a[i] > 0.5:
                k += 1
        return k

    a = np.random.default_rng(0).random(200_001)
    assert dcpy.program(count, auto_optimize=True)(a) == count(a)
