"""Legacy random generators: ``np.random.rand``, Python's `random`, and objects of their kind.

NumPy's `RandomState` is a bit generator and a normal number kept for the next draw. Draws from the bit generator alone
are nodes over it, as those of `np.random.Generator` are (`frontend.numpy.random.legacy`); for the others NumPy is
called back, with the bit generator as an argument, so that all draws keep their order. Python's `random` is called
back always.
"""

from __future__ import annotations

import functools
import inspect
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    Scalar,
    Static,
    TupleValue,
    Value,
    integer,
    is_number,
    kind_of,
    shape_of,
)
from dcpy.frontend.callback_decorator import Callback
from dcpy.frontend.implements import call_entry, find
from dcpy.frontend.lower.arithmetic.broadcasting import broadcast_shapes
from dcpy.frontend.lower.functions.callback_calls import call_back
from dcpy.frontend.lower.objects.random_generators import global_generator, require_order
from dcpy.frontend.lower.sequences import items as sequences
from dcpy.frontend.lower.sequences.list_types import choose
from dcpy.ir import types
from dcpy.ir.types import DType

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

NONE = Static(None)
_FUNCTIONS = {"seed": "seed", "ranf": "random_sample", "sample": "random_sample"}  # of np.random, and no methods
_OVER: dict[int, tuple[Any, Any]] = {}  # id of a bit generator -> it, and the generator over it


def call_method_of_shared(
    frame: Frame, found: Any, args: Sequence[Value], kwargs: Mapping[str, Value], unused: bool
) -> Value | None:
    """``np.random.rand(...)``, ``random.random()``; None for what is no method of such a generator."""
    owner, name = getattr(found, "__self__", None), getattr(found, "__name__", "")
    if isinstance(owner, random.Random):
        return _of_python(frame, owner, name, args, kwargs, unused)
    if "numpy.random" not in sys.modules:
        return None
    if owner is None and name in _FUNCTIONS and found is getattr(np.random, name):
        owner, name = np.random.mtrand._rand, _FUNCTIONS[name]
    return _of_numpy(frame, owner, name, args, kwargs) if type(owner) is np.random.RandomState else None


# -- NumPy's ---------------------------------------------------------------------------------------------------------

_FLOATS = """
    standard_normal: normal:loc=0.0,scale=1.0 standard_exponential: exponential:scale=1.0 gamma:shape,scale=1.0
    standard_gamma:shape beta:a,b chisquare:df noncentral_chisquare:df,nonc f:dfnum,dfden
    noncentral_f:dfnum,dfden,nonc standard_t:df standard_cauchy: pareto:a weibull:a power:a laplace:loc=0.0,scale=1.0
    gumbel:loc=0.0,scale=1.0 logistic:loc=0.0,scale=1.0 lognormal:mean=0.0,sigma=1.0 rayleigh:scale=1.0
    wald:mean,scale vonmises:mu,kappa triangular:left,mode,right
"""
_INTEGERS = """
    poisson:lam=1.0 binomial:n,p negative_binomial:n,p geometric:p hypergeometric:ngood,nbad,nsample logseries:p zipf:a
"""


@dataclass(frozen=True)
class DistributionMethod:
    """A method that draws numbers one by one: its parameters (with ``size`` at last), and what it draws."""

    signature: inspect.Signature
    dtype: DType


def _distributions() -> dict[str, DistributionMethod]:
    found = {}
    for table, dtype in ((_FLOATS, types.float64), (_INTEGERS, types.int64)):
        for name, _, texts in (entry.partition(":") for entry in table.split()):
            parameters = [text.partition("=") for text in texts.split(",") if text] + [("size", "=", "")]
            found[name] = DistributionMethod(inspect.Signature([_parameter(*text) for text in parameters]), dtype)
    return found


def _parameter(name: str, sign: str, default: str) -> inspect.Parameter:
    known: Any = inspect.Parameter.empty if not sign else float(default) if default else None
    return inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=known)


DISTRIBUTIONS = _distributions()


def _of_numpy(
    frame: Frame, state: Any, name: str, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> Value:  # fmt: skip
    frame.closure.attribute(state, "_bit_generator")  # another one, and the program is compiled again
    bits = state._bit_generator
    generator = _OVER.setdefault(id(bits), (bits, np.random.Generator(bits)))[1]
    rng = global_generator(frame, generator, None)
    entry = find(getattr(np.random.RandomState, name))
    if entry is not None:
        require_order(frame, rng)
        return call_entry(frame.b, entry, [rng, *args], kwargs)
    words = ArrayValue.whole(rng.container, frame.b.desc(rng.container))
    if name == "seed":
        seed = Callback(_made(_SeedMethod, state), None, writes=("words",))
        return call_back(frame, seed, [words, *args], kwargs, unused=True)
    if name == "randn":
        size = TupleValue(tuple(args)) if args else NONE
        return _drawn(frame, state, words, "standard_normal", (), size, types.float64)
    if name not in DISTRIBUTIONS:
        raise FrontendError(
            f"np.random.{name} is not compiled",
            notes=("programs support only the common functions of NumPy's legacy generator",),
            help="draw from rng = np.random.default_rng(seed), or outside of the program",
        )
    distribution = DISTRIBUTIONS[name]
    try:
        bound = distribution.signature.bind(*args, **kwargs)
    except TypeError as error:
        raise FrontendError(f"{name}() {error}", notes=("Python raises TypeError here",)) from None
    given = [bound.arguments.get(p.name, Static(p.default)) for p in distribution.signature.parameters.values()]
    return _drawn(frame, state, words, name, given[:-1], given[-1], distribution.dtype)


def _drawn(
    frame: Frame, state: Any, words: ArrayValue, name: str, given: Sequence[Value], size: Value, dtype: DType
) -> Value:
    """Numbers that NumPy draws: one, or an array that it fills."""
    b = frame.b
    parameters = [value if is_number(value) else b.array(value) for value in given]
    if size == NONE and not any(shape_of(value) for value in parameters):
        kind = int if dtype.is_integer else float
        single = Callback(_made(_DrawMethod, state, name), kind, writes=("words",))
        return call_back(frame, single, [words, *map(_number, parameters)], {}, unused=False)
    shapes = [shape_of(value) for value in parameters]
    shape = tuple(broadcast_shapes(b, shapes)) if size == NONE else b.shape_argument(size)
    out = b.empty([b.exact(extent) for extent in shape], dtype)
    fill = Callback(_made(_RandomArray, state, name), None, writes=("words", "out"))
    call_back(frame, fill, [words, out, *parameters], {}, unused=True)
    return out


def _number(value: Value) -> Value:
    """A 0-d array as the number in it."""
    return Scalar(value.load(())) if isinstance(value, ArrayValue) else value


@dataclass(frozen=True)
class _StateMethod:
    """A Python function that a program calls: a method of a state, whose words only keep draws in order."""

    state: Any
    name: str = ""

    @property
    def __name__(self) -> str:
        return self.name or "seed"


@functools.cache
def _made(kind: Callable[..., Any], *parts: Any) -> Any:
    """One object for each method: a program calls it by one name."""
    return kind(*parts)


class _DrawMethod(_StateMethod):
    """One number."""

    returns_a_number = True

    def __call__(self, words: Any, *parameters: Any) -> Any:
        """Draws."""
        return getattr(self.state, self.name)(*parameters)


class _RandomArray(_StateMethod):
    """An array of numbers."""

    def __call__(self, words: Any, out: Any, *parameters: Any) -> None:
        """Fill the array."""
        out[...] = getattr(self.state, self.name)(*parameters, size=out.shape)


class _SeedMethod(_StateMethod):
    """A new start."""

    def __call__(self, words: Any, *seed: Any, **keywords: Any) -> None:
        """Seeds."""
        self.state.seed(*seed, **keywords)


# -- Python's --------------------------------------------------------------------------------------------------------

_RETURNS: dict[str, Any] = {
    **dict.fromkeys(
        ("random", "uniform", "triangular", "betavariate", "expovariate", "gammavariate", "gauss", "lognormvariate",
         "normalvariate", "vonmisesvariate", "paretovariate", "weibullvariate"), float,
    ),
    **dict.fromkeys(("randint", "randrange", "getrandbits", "binomialvariate"), int),
    "seed": None,
}  # fmt: skip


def _of_python(
    frame: Frame, owner: Any, name: str, args: Sequence[Value], kwargs: Mapping[str, Value], unused: bool
) -> Value:
    if name in _RETURNS:
        draws = getattr(owner, name) if name == "seed" else _made(_NumberMethod, owner, name)
        method = Callback(draws, _RETURNS[name], writes=())
        return call_back(frame, method, args, kwargs, unused=unused)
    special = _SPECIAL.get(name)
    if special is None or len(args) != 1 or kwargs:
        raise FrontendError(
            f"random.{name} is not compiled",
            notes=("of the module random, dcpy supports functions that draw numbers, choice, and shuffle of arrays",),
            help="draw positions: random.randrange(n); or use a generator of NumPy's, np.random.default_rng(seed)",
        )
    return special(frame, owner, args[0])


def _choice(frame: Frame, owner: Any, items: Value) -> Value:
    """An item of a sequence, by its position."""
    draw = Callback(_made(_RandomPosition, owner), int, writes=())
    position = call_back(frame, draw, [integer(sequences.length(frame.b, items))], {}, unused=False)
    if isinstance(items, TupleValue):
        return choose(frame.b, items, position)
    if isinstance(items, ArrayValue):
        return frame.b.subscript(items, [position])
    return sequences.at(frame.b, items, frame.b.integer(position, "the position"))


def _shuffle(frame: Frame, owner: Any, items: Value) -> Value:
    """A vector in a new order."""
    if not isinstance(items, ArrayValue) or items.rank != 1:
        raise FrontendError(
            f"random.shuffle of {kind_of(items)} is not compiled",
            notes=("Python's swaps of rows through views duplicate rows",) * isinstance(items, ArrayValue),
            help="shuffle a vector, or take rng.permutation(x) of rng = np.random.default_rng(seed)",
        )
    call_back(frame, Callback(owner.shuffle, None, writes=("x",)), [items], {}, unused=True)
    return NONE


@dataclass(frozen=True)
class _NumberMethod:
    """A method of Python's generator that gives a number."""

    owner: Any
    name: str
    returns_a_number = True

    @property
    def __name__(self) -> str:
        return self.name

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Draws."""
        return getattr(self.owner, self.name)(*args, **keywords)


@dataclass(frozen=True)
class _RandomPosition:
    """``choice`` among the numbers below `count`."""

    owner: Any
    __name__ = "choice"
    returns_a_number = True

    def __call__(self, count: int) -> int:
        """Draws."""
        return int(self.owner.choice(range(count)))


_SPECIAL: dict[str, Callable[[Frame, Any, Value], Value]] = {"choice": _choice, "shuffle": _shuffle}
