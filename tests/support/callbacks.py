"""Callbacks that tests share, and the ways to run a program with them."""

import copy

import numpy as np

import dcpy
from tests.support.oracles import assert_equal

N = dcpy.symbol("N")
LOG = []


@dcpy.callback
def note(*values) -> None:
    """Remembers what it got: types, values, and whether it may write."""
    LOG.append([(type(v).__name__, copy.deepcopy(v), getattr(v, "flags", None) and v.flags.writeable) for v in values])


@dcpy.callback(returns=dcpy.float64[N])
def scaled(x: dcpy.float64[N], factor=2.0):
    return x * factor


@dcpy.callback
def norm(x) -> float:
    return float(np.sqrt((x * x).sum()))


@dcpy.callback
def fill(x, value):
    x[...] = value


@dcpy.callback
def bounds(x) -> tuple[dcpy.float64, int]:
    return x.max(), int(x.argmax())


def runs(function, **options):
    """The function as NumPy runs it, in the interpreter, and compiled in three ways."""
    program = dcpy.program(function, **options)
    yield "numpy", program.function
    for simplify in (False, True):
        yield "interpreter", lambda *args, s=simplify: program.to_sdfg(*args, simplify=s).interpret(*args)
    yield "compiled", program
    yield "as written", dcpy.program(function, simplify=False, **options)
    yield "optimized", dcpy.program(function, auto_optimize=True, **options)


def check(function, *arguments, **options):
    """All runs give the same results, arguments and calls of `note`; what NumPy raises, all raise."""
    reference = None
    for how, run in runs(function, **options):
        LOG.clear()
        mine = copy.deepcopy(arguments)
        try:
            outcome = run(*mine)
        except ArithmeticError as error:
            outcome = f"{type(error).__name__}: {error}"
        found = (outcome, tuple(mine), tuple(tuple(entry) for call in LOG for entry in call))
        if reference is None:
            reference = found
        assert_equal(found, reference)
    return reference[0]
