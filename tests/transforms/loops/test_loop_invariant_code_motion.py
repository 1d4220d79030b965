"""Loop-invariant code motion, and the fission before it: shape, value, refusal."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import dcpy
from dcpy.ir.interp import run
from dcpy.transforms.loops.invariant_isolation import InvariantIsolation
from dcpy.transforms.loops.loop_invariant_code_motion import LoopInvariantCodeMotion
from tests.support.expect import expect, parse

HEAD = "sdfg @f(x: f64[N], u: f64[N], c: i64[]) symbols(N: size, T: size)"
SINE = "map i = 0:N { tasklet (a <- x[i]) -> (o -> s[i]) { o = sin(a) } }"
ADDED = "map j = 0:N { tasklet (a <- u[j], b <- s[j]) -> (o -> u[j]) { o = a + b } }"


def loop(body, declared="data s: f64[N] transient"):
    return parse(f"{HEAD} {{ loop t = 0:T {{ {declared} {body} }} }}")


def test_what_is_computed_again_goes_before_the_loop():
    expect(LoopInvariantCodeMotion(), on=loop(f"state {{ {SINE} {ADDED} }}")).becomes(f"""{HEAD} {{
        data s: f64[N] transient
        state {{ {SINE} }}
        loop t = 0:T {{ state {{ {ADDED} }} }} }}""").same_values(N=[0, 1, 7], T=[0, 1, 3])


def test_operands_go_along():
    halved = "map k = 0:N { tasklet (a <- x[k]) -> (o -> h[k]) { o = 0.5*a } }"
    sine = SINE.replace("x[i]", "h[i]")
    both = "data s: f64[N] transient data h: f64[N] transient"
    program = loop(f"state {{ {halved} }} state {{ {sine} {ADDED} }}", declared=both)
    expect(LoopInvariantCodeMotion(), on=program).becomes(f"""{HEAD} {{
        data h: f64[N] transient
        data s: f64[N] transient
        state {{ {halved} {sine} }}
        loop t = 0:T {{ state {{ {ADDED} }} }} }}""").same_values(N=[0, 7], T=[0, 3])


def test_a_sum_that_two_nodes_make_goes_with_both():
    parts = "tasklet () -> (o -> s) { o = 0.0 } map i = 0:N { tasklet (a <- x[i]) -> (o -> s (add)) { o = sin(a) } }"
    used = "map j = 0:N { tasklet (a <- u[j], b <- s) -> (o -> u[j]) { o = a + b } }"
    program = loop(f"state {{ {parts} {used} }}", declared="data s: f64 transient")
    expect(LoopInvariantCodeMotion(), on=program).becomes(f"""{HEAD} {{
        data s: f64 transient
        state {{ {parts} }}
        loop t = 0:T {{ state {{ {used} }} }} }}""").same_values(N=[0, 7], T=[0, 3])


CHANGES = "each node uses what an iteration changes"


@pytest.mark.parametrize(
    ("node", "reason"),
    [
        (SINE.replace("sin(a)", "a + 1.0"), "takes longer than a load"),
        (SINE.replace("x[i]", "u[i]"), CHANGES),
        (SINE.replace("sin(a)", "sin(a*f64(t))"), CHANGES),
        (SINE.replace("x[i]", "x[t]"), CHANGES),
        (SINE.replace("x[i]", "x[i + T - 1]").replace("0:N", "0:N - T + 1"), "may be computed nowhere else"),
    ],
)
def test_others_stay(node, reason):
    """The last one would read outside of its array where the loop has no iteration."""
    expect(LoopInvariantCodeMotion(), on=loop(f"state {{ {node} {ADDED} }}")).is_refused(reason)


def test_a_value_from_before_the_loop_stays():
    """The first iteration reads another `s` than the others."""
    program = parse(f"{HEAD} {{ data s: f64[N] transient state {{ copy x[0:N] -> s[0:N] }} "
                    f"loop t = 0:T {{ state {{ {ADDED} }} state {{ {SINE} }} }} }}")  # fmt: skip
    expect(LoopInvariantCodeMotion(), on=program).is_refused(CHANGES)


FUSED = """map i = 0:N { data h: f64 transient data s: f64 transient
    tasklet (a <- u[i]) -> (o -> h) { o = 0.5*a }
    tasklet (a <- x[i]) -> (o -> s) { o = sin(a) }
    tasklet (a <- h, b <- s) -> (o -> u[i]) { o = a + b } }"""


def test_the_part_of_a_map_that_is_the_same_becomes_a_map():
    expect(InvariantIsolation(), on=loop(f"state {{ {FUSED} }}", declared="")).becomes(f"""{HEAD} {{
        loop t = 0:T {{
          data s: f64[N] transient
          state {{
            map i = 0:N {{ tasklet (a <- x[i]) -> (o -> s[i]) {{ o = sin(a) }} }}
            map i_1 = 0:N {{ data h: f64 transient
              tasklet (a <- u[i_1]) -> (o -> h) {{ o = 0.5*a }}
              tasklet (a <- h, b <- s[i_1]) -> (o -> u[i_1]) {{ o = a + b }} }}
          }} }} }}""").same_values(N=[0, 1, 7], T=[0, 1, 3])


@pytest.mark.parametrize("changed", [("sin(a)", "2.0*a"), ("x[i]", "u[N - 1]"), ("sin(a)", "sin(a + f64(t))")])
def test_parts_that_change_or_are_cheap_stay(changed):
    program = loop(f"state {{ {FUSED.replace(*changed)} }}", declared="")
    expect(InvariantIsolation(), on=program).is_refused("longer than a load")


# -- programs --------------------------------------------------------------------------------------------------------


def waves(u, x, w, steps):
    for _ in range(steps):
        u[1:-1] += np.sin(x[1:-1]) * w.sum() - 0.1 * u[2:]
    return u


def products(a, b, v, steps):
    for _ in range(steps):
        v = (a @ b) @ v / np.linalg.norm(a)
    return v


def damped(u, v, x, y, steps):
    for _ in range(steps):
        damping = np.exp(-0.1 * (x[:, None] ** 2 + y[None, :] ** 2))
        u = u + 0.01 * v
        v = v * damping + 0.01 * u
    return u, v


def until(u, x, least):
    steps = 0
    while u.sum() > least and steps < 50:
        u *= np.exp(-np.abs(x)) * np.log1p(np.abs(x)).max()
        steps += 1
    return u, steps


def leaves_early(u, x, steps, k):
    total = 0.0
    for t in range(steps):
        if t == k:
            break
        scale = np.cos(x) ** 2
        scale[0] = t
        total += (u * scale).sum()
    return total


def changed_by_hand(u, x, steps):
    for t in range(steps):
        s = np.sin(x)
        u += s
        x[t % x.shape[0]] += 1.0
    return u


def raises_first(u, x, steps, k):
    for _ in range(steps):
        v = x[k]
        u += np.sqrt(np.exp(x)) * v
    return u


def views_of_the_loop(u, x, steps):
    for _ in range(steps):
        t = x.reshape(1, -1) * np.exp(u[:, np.newaxis])
    return t.sum() if steps else 0.0


def sizes_of_the_loop(u, x, steps):
    for _ in range(steps):
        u += np.exp(np.unique(np.floor(x))) + 1.0
    return u


def calls(rng):
    u, x = rng.random(9), rng.random(9) - 0.5
    yield waves, (u, x, rng.random(4), 3)
    yield waves, (u, x, rng.random(4), 0)
    yield products, (rng.random((4, 6)), rng.random((6, 4)), rng.random(4), 5)
    yield damped, (rng.random((5, 7)), rng.random((5, 7)), rng.random(5), rng.random(7), 4)
    yield until, (u, x, 0.5)
    yield leaves_early, (u, x, 6, 3)
    yield leaves_early, (u, x, 6, 0)
    yield changed_by_hand, (u, x, 5)
    yield raises_first, (u, x, 3, 2)
    yield views_of_the_loop, (u, x, 2)
    yield sizes_of_the_loop, (u[:2].copy(), x, 2)


def _copies(args):
    return [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]


def interpreted(function, *args):
    sdfg = dcpy.program(function, auto_optimize=True).to_sdfg(*args)
    return run(sdfg, dict(zip(inspect.signature(function).parameters, args, strict=True)), strict=True)


def compiled(function, *args):
    return dcpy.program(function, auto_optimize=True)(*args)


@pytest.mark.parametrize("called", [interpreted, pytest.param(compiled, marks=pytest.mark.cc)])
def test_programs_are_numpys(called):
    for function, args in calls(np.random.default_rng(7)):
        expected, found = function(*_copies(args)), called(function, *_copies(args))
        pairs = zip(expected, found, strict=True) if isinstance(expected, tuple) else [(expected, found)]
        for theirs, mine in pairs:
            np.testing.assert_allclose(mine, theirs, rtol=1e-12)


@pytest.mark.parametrize(("steps", "error"), [(3, IndexError), (0, None)])
def test_errors_come_where_they_come(steps, error):
    u, x = np.zeros(3), np.ones(3)
    if error is None:
        np.testing.assert_array_equal(interpreted(raises_first, u, x, steps, 7), u)
        return
    with pytest.raises(error):
        interpreted(raises_first, u, x, steps, 7)
