"""What is new, used together: generators in objects, transforms in loops, callbacks in methods, results of callees."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import threading
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pytest

import dcpy
from tests.support.callbacks import LOG, fill, norm, note
from tests.support.oracles import assert_equal
from tests.support.streams import state_of


@dataclass
class Walk:
    """A field with noise: fields of all kinds, methods that draw, transform and assign."""

    u: np.ndarray
    rng: np.random.Generator
    t: float = 0.0

    def kick(self, size):
        self.u += self.rng.normal(size=self.u.shape) * size
        return self.u.max()

    def jump(self):
        if self.rng.random() < 0.5:
            return 0.0
        self.t += self.rng.exponential()
        return self.t

    def smooth(self):
        k = np.fft.fftfreq(self.u.shape[0])
        self.u[:] = np.fft.ifft(np.fft.fft(self.u) * np.exp(-k * k)).real


@dataclass(frozen=True)
class State:
    u: np.ndarray
    rng: np.random.Generator
    t: float = 0.0


class Pair(NamedTuple):
    low: np.ndarray
    high: np.ndarray


@dataclass
class Clock:
    u: np.ndarray
    t: float = 1.0


def walk(seed=3, n=8):
    return Walk(np.arange(float(n)), np.random.default_rng(seed))


def plain(value):
    """Objects and generators as tuples, for `assert_equal`."""
    if isinstance(value, np.random.Generator):
        return state_of(value)
    if hasattr(value, "__dataclass_fields__"):
        return (type(value).__name__, *(plain(getattr(value, name)) for name in value.__dataclass_fields__))
    return tuple(map(plain, value)) if isinstance(value, tuple) else value


def check(function, *arguments, how="interpreted", rtol=1e-12):
    """Results, objects and generators afterwards, and calls of `note`, are those of Python."""
    program = dcpy.program(function, auto_optimize=how == "optimized")
    run = program if how != "interpreted" else lambda *a: program.to_sdfg(*a).interpret(*a)
    outcomes = []
    for each in (function, run):
        LOG.clear()
        mine = copy.deepcopy(arguments)
        outcomes.append((plain(each(*mine)), plain(mine), tuple(entry for call in LOG for entry in call)))
    assert_equal(outcomes[1], outcomes[0], rtol)


# -- generators, transforms and objects ------------------------------------------------------------------------------


def kicked(s, n):
    best = -np.inf
    for _ in range(n):
        best = max(best, s.kick(0.1))
        if s.jump() > 2.0:
            break
        s.smooth()
    else:
        s.u[0] = 0.0
    return best, s.t, s.rng.random()


def draw_until(rng, x):
    for k in range(100):
        y = rng.random()
        if y > x:
            return k, y
    return -1, 0.0


def early_ends(s, n):
    total = 0
    for _ in range(n):
        k, y = draw_until(s.rng, 0.8)
        if k > 7:
            break
        total += k
        s.t += y
    return total, s.rng.integers(10)


def one_generator_twice(s, t):
    s.kick(1.0)
    t.kick(1.0)
    return s.u - t.u


def rows(s, a):
    for i in range(a.shape[0]):
        a[i] = np.fft.fft(a[i]).real
        a[i] += s.rng.random()
    return a


def replaced(s, n):
    for _ in range(n):
        s = replace(s, u=s.u + s.rng.random(3), t=s.t + 1)
    return s


def swapped_generators(s, t):
    s.rng, t.rng = t.rng, s.rng
    return s.rng.random(), t.rng


def shared():
    s = walk()
    return s, Walk(np.ones(8), s.rng)


def turned_around(s):
    s.u = s.u[::-1]
    s.t /= 3


MIXED = (
    (kicked, (walk(), 5)),
    (kicked, (walk(7), 30)),
    (early_ends, (walk(), 9)),
    (one_generator_twice, shared()),
    (one_generator_twice, (walk(), walk(9))),
    (rows, (walk(), np.arange(12.0).reshape(3, 4))),
    (rows, (walk(), np.asfortranarray(np.arange(12.0).reshape(3, 4)))),
    (rows, (walk(), np.zeros((0, 4)))),
    (replaced, (State(np.ones(3), np.random.default_rng(1)), 3)),
    (swapped_generators, (walk(), walk(9))),
    (turned_around, (walk(),)),
)


@pytest.mark.parametrize(("function", "arguments"), MIXED, ids=lambda found: getattr(found, "__name__", ""))
def test_generators_and_transforms_in_objects(function, arguments):
    check(function, *arguments)


@pytest.mark.cc
@pytest.mark.parametrize(
    ("function", "arguments"), [MIXED[k] for k in (0, 3, 10)], ids=lambda found: getattr(found, "__name__", "")
)
def test_generators_and_transforms_in_objects_compiled(function, arguments):
    check(function, *arguments, how="optimized")


def test_a_generator_that_is_returned_is_the_caller_s():
    def f(rng, a):
        return Walk(a, rng, rng.random())

    rng = np.random.default_rng(1)
    assert dcpy.program(f).to_sdfg(rng, np.ones(2)).interpret(rng, np.ones(2)).rng is rng

    def which(rng, other, a):
        if a[0] > 0:
            return rng
        return other

    other = np.random.default_rng(2)
    sdfg = dcpy.program(which).to_sdfg(rng, other, np.ones(2))
    assert sdfg.interpret(rng, other, np.ones(2)) is rng
    assert sdfg.interpret(rng, other, -np.ones(2)) is other


# -- results of callees ----------------------------------------------------------------------------------------------


def pair_of(u):
    return Pair(u * 2, u)


def clock_of(u):
    return Clock(u * 2, 3.0)


def own_generator(u, seed=5):
    return np.random.default_rng(seed)


def several(u):
    return [u, u * 2]


def by_name(u):
    return {"x": u, "y": u * 3}


def tail(u):
    return slice(1, None)


def adder(u):
    return lambda x: x + u


def transform(u):
    return np.fft.fft


def objects_of_callees(a):
    pair, clock, rng = pair_of(a), clock_of(a), own_generator(a)
    clock.t += 1
    total = pair.low + pair.high * clock.t + clock.u
    return total, rng.random() + rng.random(), pair._replace(low=a + 1), clock


def values_of_callees(a):
    for k, (x, y) in enumerate(zip(several(a), several(a * 3), strict=True)):
        a[k] += x[0] + y[1]
    return several(a)[1] + by_name(a)["y"], a[tail(a)], adder(a)(a), transform(a)(a)


def test_what_functions_return_to_functions():
    check(objects_of_callees, np.arange(3.0))
    check(values_of_callees, np.arange(3.0))


# -- assignments side by side ----------------------------------------------------------------------------------------


def turned(p, q, a, n):
    x = 2.0
    for i in range(n):
        p.t, q.t = q.t, p.t + i
        q.t, x = x, q.t + i
        p.t, a[i] = a[i], p.t + i
    return x


def nested_targets(p, q, n):
    a, b, c = p.t, q.t, 3.0
    for i in range(n):
        (a, b), c = (b + 1, c), a + i
        (p.t, q.u[0]), q.t = (q.t, p.t), p.t + q.u[0]
    return a, b, c


@pytest.mark.parametrize("how", ["interpreted", pytest.param("compiled", marks=pytest.mark.cc)])
def test_all_is_read_before_the_first_field_is_assigned(how):
    p, q = Clock(np.ones(3)), Clock(np.ones(3), 3.0)
    check(turned, p, q, np.arange(5.0), 5, how=how)
    check(nested_targets, p, q, 4, how=how)


# -- callbacks -------------------------------------------------------------------------------------------------------


@dataclass
class Box:
    a: np.ndarray
    b: np.ndarray

    def go(self, i):
        fill(self.a[i, ::-1], i)
        self.b[i] = norm(self.a)
        note(i, self.b[::2], self.a.T)
        stop_at(i, 3)


@dcpy.callback
def stop_at(i, limit) -> None:
    if i >= limit:
        raise KeyError("enough")


def in_methods(box, n):
    for i in range(n):
        box.go(i)
    return box


def looks_parallel(a, n):
    t = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            t[i, j] = a[i] * a[j]
        note(i, t[i])
    for i in range(n):
        fill(t[i, i:], i)
    return t


def transformed(a):
    f = np.fft.fft(a)
    note(f, f[::2].real)
    fill(f[1:2], 0.5j)
    return np.fft.ifft(f).real


@pytest.mark.cc
def test_callbacks_in_methods_and_in_loops_that_look_parallel():
    check(in_methods, Box(np.arange(8.0).reshape(4, 2), np.zeros(4)), 3, how="optimized")
    check(looks_parallel, np.arange(4.0), 4, how="optimized")
    check(transformed, np.arange(6.0), how="optimized")
    box = Box(np.arange(8.0).reshape(4, 2), np.zeros(4))
    with pytest.raises(KeyError, match="enough"):
        dcpy.program(in_methods, auto_optimize=True)(box, 4)
    assert_equal(box.a[:, 0], np.arange(4.0))


# -- processes, threads and files ------------------------------------------------------------------------------------


def stochastic(s, n):
    for _ in range(n):
        s.kick(0.1)
    s.smooth()
    x = s.u
    while x.size > 2:
        x = x[x >= x.mean()][1:]
    return s.u, x


@pytest.mark.cc
def test_threads_run_one_program():
    program = dcpy.program(stochastic, auto_optimize=True)
    expected = stochastic(walk(n=64), 4)
    wrong = []

    def work():
        for _ in range(20):
            try:
                assert_equal(program(walk(n=64), 4), expected, 1e-9)
            except Exception as error:
                wrong.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_files_and_texts_hold_everything(tmp_path):
    def f(rng, a):
        b = np.fft.rfft(a, n=3, axis=0, norm="ortho") + np.fft.fft2(a, norm="forward")[:2]
        for i in range(a.shape[0]):
            a[i] = rng.random()
        return b, np.linalg.norm(a)

    a = np.arange(12.0).reshape(3, 4)
    sdfg = dcpy.program(f).to_sdfg(np.random.default_rng(1), a)
    sdfg.save(tmp_path / "f.sdfg")
    expected = f(np.random.default_rng(1), a.copy())
    for again in (dcpy.load(tmp_path / "f.sdfg"), dcpy.parse(str(sdfg))):
        assert str(again) == str(sdfg)
        assert_equal(again.interpret(np.random.default_rng(1), a.copy()), expected, 1e-12)


@dcpy.program
def doubled(a):
    return a * 2


def test_programs_are_copied_and_sent_by_name():
    assert copy.deepcopy(doubled) is doubled
    assert pickle.loads(pickle.dumps((doubled, Walk.kick)))[0] is doubled


PRINT = """
import numpy as np
import dcpy
from tests.end_to_end import test_together as t
for function, arguments in (*t.MIXED, (t.objects_of_callees, (np.ones(3),)), (t.looks_parallel, (np.ones(3), 3))):
    print(dcpy.program(function).to_sdfg(*arguments).auto_optimize())
"""


@pytest.mark.heavy
def test_two_processes_print_the_same_programs():
    first, second = (
        subprocess.run(
            [sys.executable, "-c", PRINT], env={**os.environ, "PYTHONHASHSEED": seed}, check=True, capture_output=True
        ).stdout
        for seed in ("1", "77")
    )
    assert len(first) > 1000
    assert first == second
