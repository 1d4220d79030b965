"""Programs that draw random numbers, compared with NumPy bit by bit: results, arguments, and the state that is left."""

import copy
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import dcpy

SEEDS = (0, 42, 2**80, [1, 2, 3])
BITS = (np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64)


def interpreted(function: Callable[..., Any], *, simplify: bool = True) -> Callable[..., Any]:
    """The function through the frontend and the interpreter."""
    program = dcpy.program(function)

    def run(*arguments: Any) -> Any:
        sdfg = program.to_sdfg(*arguments, simplify=simplify)
        values = dict(zip(inspect.signature(function).parameters, arguments, strict=True))
        return sdfg.interpret(**{name: values[name] for name in sdfg.arguments})

    return run


def compare(
    function: Callable[..., Any],
    run: Callable[..., Any],
    *arguments: Any,
    seeds: Sequence[Any] = SEEDS,
    bits: Sequence[Any] = BITS[:1],
) -> None:
    """`run` does to a generator (the first argument) and to the others what `function` does under NumPy."""
    for bit_generator in bits:
        for seed in seeds:
            mine, theirs = ((np.random.Generator(bit_generator(seed)), *copy.deepcopy(arguments)) for _ in range(2))
            expected, got = function(*theirs), run(*mine)
            case = f"{bit_generator.__name__}({seed})"
            assert_same(got, expected, case)
            assert_same(mine[1:], theirs[1:], f"{case}, arguments")
            assert state_of(mine[0]) == state_of(theirs[0]), f"{case}: the generator is left in another state"


def state_of(generator: np.random.Generator) -> str:
    """All of a generator's state, as a text that can be compared."""
    with np.printoptions(threshold=10**6):
        return str(generator.bit_generator.state)


def assert_same(got: Any, expected: Any, case: str) -> None:
    """The same class, dtype, shape and bits."""
    assert type(got) is type(expected), f"{case}: {got!r} instead of {expected!r}"
    if isinstance(expected, tuple):
        assert len(got) == len(expected), case
        for position, (mine, theirs) in enumerate(zip(got, expected, strict=True)):
            assert_same(mine, theirs, f"{case}, item {position}")
        return
    if isinstance(expected, np.ndarray | np.generic):
        assert got.dtype == expected.dtype, f"{case}: {got.dtype} instead of {expected.dtype}"
    np.testing.assert_array_equal(got, expected, err_msg=case, strict=True)
