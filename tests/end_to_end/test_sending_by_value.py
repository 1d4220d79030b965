"""Programs that no name finds go to other processes by value: cloudpickle, joblib's loky, and what spawns."""

import importlib
import pickle
import subprocess
import sys

import pytest

pytestmark = pytest.mark.cc

PROGRAMS = '''
import functools
import pickle

import numpy as np

import dcpy

FACTOR = 3.0


@dcpy.program
def scaled(a):
    return a * FACTOR


@dcpy.program(auto_optimize=True)
def shifted(a, by=1.0, *, twice=False):
    """With defaults, and a program that it calls."""
    return scaled(a) + by if not twice else scaled(a) + 2.0 * by


@dcpy.program
def factorial(n: int) -> int:
    return 1 if n < 2 else n * factorial(n - 1)


@dcpy.program
def named(a, **kwargs):
    return a * kwargs["by"]


def plain(a, by=2.0):
    return a - by


def inner():
    table = np.arange(3.0)

    @dcpy.program
    def moved(a):
        return a + table

    @dcpy.program
    def both(a):
        return 2.0 * moved(a)

    return both


class Grid:
    def __init__(self, k):
        self.k = k

    @dcpy.program
    def times(self, a):
        return a * self.k


less = dcpy.program(plain, simplify=False)
five = dcpy.program(lambda a: a * 5.0)
X = np.arange(3.0)
CASES = [
    (scaled, X * 3.0),
    (shifted, X * 3.0 + 1.0),
    (functools.partial(shifted, twice=True), X * 3.0 + 2.0),
    (functools.partial(named, by=3.0), X * 3.0),
    (less, X - 2.0),
    (inner(), X * 4.0),
    (five, X * 5.0),
    (Grid(2.0).times, X * 2.0),
    (functools.partial(Grid.times, Grid(2.0)), X * 2.0),
]
'''
ELSEWHERE = """
import pickle, sys
import numpy as np
for found, expected in pickle.load(sys.stdin.buffer):
    np.testing.assert_array_equal(found(np.arange(3.0)), expected)
"""
BY_CLOUDPICKLE = f"""
import subprocess, sys
import cloudpickle

sent = cloudpickle.dumps(CASES)
subprocess.run([sys.executable, "-c", {ELSEWHERE!r}], input=sent, check=True)
sent = cloudpickle.dumps(factorial)
code = "import pickle, sys; assert pickle.load(sys.stdin.buffer)(5) == 120"
subprocess.run([sys.executable, "-c", code], input=sent, check=True)
assert cloudpickle.loads(cloudpickle.dumps(shifted)).options == shifted.options
"""
BY_JOBLIB = """
import joblib

if __name__ == "__main__":
    tasks = (joblib.delayed(found)(X) for found, _ in CASES)
    for found, (_, expected) in zip(joblib.Parallel(n_jobs=2)(tasks), CASES):
        np.testing.assert_array_equal(found, expected)
"""
SPAWNED = """
import multiprocessing

if __name__ == "__main__":
    assert pickle.loads(pickle.dumps(scaled)) is scaled
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        np.testing.assert_array_equal(pool.map(scaled, [X, X]), [X * 3.0] * 2)
        np.testing.assert_array_equal(pool.map(shifted, [X]), [X * 3.0 + 1.0])
"""
CELLS = {
    "<cell 1>": "def called(a, k):\n    if a[0] < 0:\n        raise ValueError('negative')\n    return a[k] - 1.0\n",
    "<cell 2>": "@dcpy.program\ndef cell(a, k):\n    return a - called(a, k)\n",
}
AT_ONE = """
import pickle, sys, numpy
cell = pickle.load(sys.stdin.buffer)
assert cell(numpy.ones(2), 1).tolist() == [1.0, 1.0]
for argument, place in ((-numpy.ones(2), "<cell 1>:3:9"), (numpy.ones(1), "<cell 1>:4:12")):
    try:
        cell(argument, 1)
    except (ValueError, IndexError) as error:
        assert place in error.__notes__[0] and "|" in error.__notes__[0], error.__notes__
    else:
        raise AssertionError(place)
"""
NOTEBOOK = f"""
CODE = {AT_ONE!r}
CELLS = {CELLS!r}
import linecache, subprocess, sys
import cloudpickle, dcpy, numpy as np
for name, text in CELLS.items():
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec"))
for _ in "compiled", "found in the cache":
    subprocess.run([sys.executable, "-c", CODE], input=cloudpickle.dumps(cell), check=True)
"""


@pytest.mark.parametrize(
    ("package", "script"),
    [
        ("cloudpickle", PROGRAMS + BY_CLOUDPICKLE),
        ("joblib", PROGRAMS + BY_JOBLIB),
        ("multiprocessing", PROGRAMS + SPAWNED),
        ("cloudpickle", NOTEBOOK),
    ],
)
def test_w1_programs_of_main_lambdas_and_closures_reach_other_processes(tmp_path, package, script):
    pytest.importorskip(package)
    path = tmp_path / "script.py"
    path.write_text(script)
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr


CYCLES = """
import dcpy


@dcpy.program
def even(n: int, step: int = 1) -> int:
    return 1 if n == 0 else odd(n - step)


@dcpy.program
def odd(n: int, *, step: int = 1) -> int:
    return 0 if n == 0 else even(n - step)


class Grid:
    @dcpy.program
    def halved(self, a):
        return a / 2
"""


@pytest.fixture(name="cycles")
def module_sent_by_value(tmp_path, monkeypatch):
    cloudpickle = pytest.importorskip("cloudpickle")
    (tmp_path / "cycles_of_programs.py").write_text(CYCLES)
    monkeypatch.syspath_prepend(str(tmp_path))
    module = importlib.import_module("cycles_of_programs")
    cloudpickle.register_pickle_by_value(module)
    yield module
    cloudpickle.unregister_pickle_by_value(module)
    del sys.modules["cycles_of_programs"]


def test_w1_programs_that_call_each_other_are_sent_once(cycles):
    import cloudpickle

    even, again = pickle.loads(cloudpickle.dumps([cycles.even, cycles.even]))
    assert even is again
    assert even is not cycles.even
    odd = even.function.__globals__["odd"]
    assert odd.function.__globals__["even"] is even
    assert [even(4), even(3), odd(3), odd(2)] == [1, 0, 1, 0]


def test_w1_a_method_and_its_class_stay_together(cycles):
    import cloudpickle

    grid, halved = pickle.loads(cloudpickle.dumps((cycles.Grid, cycles.Grid.halved)))
    assert grid.halved is halved
    assert halved._specializer.owner is grid


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_w1_by_name_with_each_protocol(cycles, protocol):
    for found in (cycles.even, cycles.Grid.halved):
        assert pickle.loads(pickle.dumps(found, protocol)) is found


def test_w1_modules_that_are_there_come_by_name(cycles):
    import cloudpickle

    cloudpickle.unregister_pickle_by_value(cycles)
    try:
        assert cloudpickle.loads(cloudpickle.dumps(cycles.even)) is cycles.even
    finally:
        cloudpickle.register_pickle_by_value(cycles)
