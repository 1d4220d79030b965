"""JumpThreading: shape, value, refusal."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.transforms.simplify.control_flow.jump_threading import JumpThreading
from tests.support.expect import expect, parse

HEAD = "sdfg @f(A: f64[N], B: f64[N], a: i64, b: i64) symbols(N: size)"
ONES = "state { map i = 0:N { tasklet () -> (o -> B[i]) { o = 1.0 } } }"
TWOS = "state { map j = 0:N { tasklet (v <- A[j]) -> (o -> B[j]) { o = v + 2.0 } } }"
THREES = "state { map k = 0:N { tasklet (v <- B[k]) -> (o -> A[k]) { o = v + 3.0 } } }"
FOURS = "state { map l = 0:N { tasklet (v <- B[l]) -> (o -> A[l]) { o = v*4.0 } } }"


def test_each_side_goes_on_with_what_it_chooses():
    expect(
        JumpThreading(),
        on=parse(f"""{HEAD} {{
            if a[] > 0 {{ {ONES} let s = 1 }} else {{ {TWOS} let s = 2 }}
            if s == 2 {{ {THREES} }} elif s == 1 {{ {FOURS} }} else {{ {ONES.replace("i", "m")} }}
        }}"""),
    ).becomes(f"""{HEAD} {{
        if a[] > 0 {{ {ONES} let s = 1 {FOURS} }} else {{ {TWOS} let s = 2 {THREES} }}
    }}""").same_values(N=[0, 3], a=[1, -1])


def test_sides_that_leave_choose_nothing():
    expect(
        JumpThreading(),
        on=parse(f"""{HEAD} {{ loop t = 0:3 {{
            if a[] > t {{ {ONES} continue }} else {{ {TWOS} let s = 2 }}
            if s == 2 {{ {THREES} }} else {{ {FOURS} }}
        }} }}"""),
    ).becomes(f"""{HEAD} {{ loop t = 0:3 {{
        if a[] > t {{ {ONES} continue }} else {{ {TWOS} let s = 2 {THREES} }}
    }} }}""").same_values(N=[0, 3], a=[1, 7])


@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        (f"if a[] > 0 {{ {ONES} let s = 1 }} else {{ let s = 1 }}", f"if s == 1 {{ {THREES} }}", "choose the same"),
        (f"if a[] > 0 {{ {ONES} let s = 1 }}", f"if s == 1 {{ {THREES} }}", "no branch with an else"),
        ("if a[] > 0 { let s = 1 } else { let s = N }", f"if s == 1 {{ {THREES} }}", "does not say what holds"),
        ("if a[] > 0 { let s = 1 } else { let s = 2 if b[] > 0 { let s = 1 } }", f"if s == 1 {{ {THREES} }}",
         "does not say what holds"),
        ("if a[] > 0 { let s = 1 } else { let s = 2 }", f"if s == 1 and b[] > 0 {{ {THREES} }}", "does not decide"),
        ("if a[] > 0 { let s = 1 } else { let s = 2 } let t = 0", f"if s == 1 {{ {THREES} }}", "no branch with an"),
    ],
)  # fmt: skip
def test_what_is_not_known_stays(first, second, why):
    expect(JumpThreading(), on=parse(f"{HEAD} {{ let s = 0 {first} {second} }}")).is_refused(why)


@pytest.mark.cc
@pytest.mark.parametrize("steps", [0, 1, 2, 7])
def test_arrays_that_change_places_are_not_copied(steps):
    @dcpy.program(auto_optimize=True)
    def recurrence(x, steps):
        now, before = np.zeros_like(x), np.zeros_like(x)
        for k in range(steps):
            now, before = 2.0 * x * now - before + k, now
        return now, before

    x = np.linspace(-1, 1, 100)
    assert "copy" not in str(recurrence.to_sdfg(x, steps).lower())
    for one, expected in zip(recurrence(x, steps), recurrence.function(x, steps), strict=True):
        np.testing.assert_array_equal(one, expected)
