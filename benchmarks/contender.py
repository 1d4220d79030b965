"""``python benchmarks/contender.py TOOL FOLDER``: one tool in a process of its own, which calls what it is told to.

Requests and answers are lines of JSON. ``{"corpus", "name", "size", "results"}`` makes a program ready: the answer has
the seconds of its first call, and its results lie in the file `results`; or it says why not. ``{"seconds"}`` calls the
program as often as fits, and answers the fastest call and the mean of all. dcpy is imported from FOLDER, all else from
where this file is.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import inspect
import json
import math
import sys
import textwrap
import time
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from benchmarks.corpora import Case

LEAST = 2e-4  # seconds that a clock needs to tell two versions apart: short calls are repeated
MOST_CALLS = 2000


def for_numpy(case: Case) -> Callable[..., Any]:
    """The best NumPy form."""
    if case.program is not None and case.program.numpy is None:
        raise LookupError("there is no NumPy form")
    return case.program.numpy if case.program is not None and case.program.numpy is not None else case.function


def for_dcpy(case: Case, **options: Any) -> Callable[..., Any]:
    """The program as it stands."""
    import dcpy

    made: Callable[..., Any] = dcpy.program(case.function, **options)
    return made


def for_numba(case: Case, parallel: bool = False) -> Callable[..., Any]:
    """The form that suits Numba, compiled; with `parallel`, its loops over certain names are ``prange``."""
    import numba

    form = case.function if case.program is None else case.program.numba
    if form is None:
        raise LookupError("there is no form for Numba")
    names = case.program.parallel if case.program is not None else ()
    around = {
        name: numba.njit(value) if inspect.isfunction(value) and name.startswith("_") else value
        for name, value in form.__globals__.items()
    }
    if parallel and names:
        return numba.njit(_with_prange(form, names, around | {"prange": numba.prange}), parallel=True)
    return numba.njit(types.FunctionType(form.__code__, around, form.__name__), parallel=parallel)


def _with_prange(form: Callable[..., Any], names: tuple[str, ...], around: dict[str, Any]) -> Callable[..., Any]:
    tree = ast.parse(textwrap.dedent(inspect.getsource(form)))
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    function.decorator_list = []
    for node in ast.walk(function):
        match node:
            case ast.For(ast.Name(name), ast.Call(ast.Name("range") as called)) if name in names:
                called.id = "prange"
    exec(compile(tree, f"<prange of {form.__name__}>", "exec"), around)
    made: Callable[..., Any] = around[form.__name__]
    return made


def for_jax(case: Case) -> Callable[..., Any]:
    """The same source with ``jax.numpy``; a call ends when its results are there."""
    import jax
    import jax.numpy

    if case.program is None or not case.program.jax:
        raise LookupError("JAX does not run it as it stands")
    jax.config.update("jax_enable_x64", True)
    around = case.function.__globals__ | {"np": jax.numpy}
    made = jax.jit(types.FunctionType(case.function.__code__, around, case.function.__name__))
    return lambda *arguments: jax.block_until_ready(made(*arguments))


TOOLS: dict[str, Callable[[Case], Callable[..., Any]]] = {
    "numpy": for_numpy,
    "dcpy": lambda case: for_dcpy(case, auto_optimize=True),
    "dcpy-plain": for_dcpy,
    "numba": for_numba,
    "numba-parallel": lambda case: for_numba(case, parallel=True),
    "jax": for_jax,
}


class Ready:
    """A program with its arguments; those that a call changes are copied before each, outside of the clock."""

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self._function, self._arguments = function, arguments
        start = time.perf_counter()
        mine = copy.deepcopy(arguments)
        self.result = function(*mine)
        self.first = time.perf_counter() - start
        self.changes = not all(_same_bits(one, other) for one, other in zip(mine, arguments, strict=True))
        self.seen = (*_flat(self.result), *(_flat(mine) if self.changes else ()))
        self._calls = max(1, min(MOST_CALLS, int(LEAST / max(self._once(), 1e-8))))

    def timed(self, seconds: float) -> dict[str, float]:
        """Seconds of the fastest call among those that fit, and of all in the mean."""
        end, each = time.perf_counter() + seconds, list[float]()
        while not each or time.perf_counter() < end:
            each.append(self._once() if self.changes else self._several())
        moved = [found for found in each if found > 0]  # a clock of processor time may stand still during a short call
        return {"best": min(moved, default=math.inf), "mean": sum(each) / len(each)}

    def _once(self) -> float:
        mine = copy.deepcopy(self._arguments) if self.changes else self._arguments
        start = CLOCK()
        self._function(*mine)
        return CLOCK() - start

    def _several(self) -> float:
        function, mine, calls = self._function, self._arguments, range(self._calls)
        start = CLOCK()
        for _ in calls:
            function(*mine)
        return (CLOCK() - start) / len(calls)


def _same_bits(one: Any, other: Any) -> bool:
    if not isinstance(one, np.ndarray):
        return True
    return bool(np.array_equal(one, other, equal_nan=one.dtype.kind in "fc"))


def _flat(value: Any) -> tuple[np.ndarray, ...]:
    if isinstance(value, tuple | list):
        return tuple(each for item in value for each in _flat(item))
    return () if value is None else (np.asarray(value),)


def main(tool: str, folder: str) -> None:
    from benchmarks.corpora import CORPORA

    answers, sys.stdout = sys.stdout, sys.stderr  # programs may print
    ready: Ready | None = None
    for line in sys.stdin:
        asked = json.loads(line)
        if "name" in asked:
            ready, said = None, {}
            try:
                case = CORPORA[asked["corpus"]]()[asked["name"]]
                ready = Ready(TOOLS[tool](case), case.arguments[asked["size"]]())
                np.savez(asked["results"], *ready.seen)
                said = {"first": ready.first}
            except Exception as error:
                said = {"refused": f"{type(error).__name__}: {error}".splitlines()[0][:200]}
        else:
            assert ready is not None
            said = ready.timed(asked["seconds"])
        print(json.dumps(said), file=answers, flush=True)


#: Of the processor where there is one thread, which other work disturbs less; else, or if asked, of the wall. So is
#: JAX's: it works in a thread of its own, whose time the processor's clock may tell too late.
CLOCK = time.perf_counter

if __name__ == "__main__":
    import os

    here = str(Path(__file__).parent.parent)
    sys.path[:] = [each for each in sys.path if each not in (str(Path(__file__).parent), here)]
    if sys.argv[1].startswith("dcpy"):
        sys.path.insert(0, sys.argv[2])
        import dcpy  # noqa: F401

        sys.path.remove(sys.argv[2])
        for name in [name for name in sys.modules if name.partition(".")[0] == "benchmarks"]:
            del sys.modules[name]
    sys.path.insert(0, here)
    if os.environ.get("OMP_NUM_THREADS") == "1" and sys.argv[1] != "jax" and not os.environ.get("CONTENDER_WALL"):
        CLOCK = time.process_time
    warnings.simplefilter("ignore")
    with np.errstate(all="ignore"), contextlib.suppress(KeyboardInterrupt):
        main(*sys.argv[1:])
