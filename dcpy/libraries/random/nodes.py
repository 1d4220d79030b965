"""The library nodes that draw random numbers. How to compute them: `libraries.random.expand`.

A generator is a container of words (uint64), its *state*, which each node reads and writes as a whole: the order of
draws is the order of the program, by dataflow alone. `meaning` is NumPy's ``Generator`` over that state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dcpy.base.bit_generators import OWN_WORDS, WORDS, generator_over
from dcpy.ir.nodes import LibraryNode

Arrays = Mapping[str, np.ndarray[Any, Any]]

#: the methods that `Draw` knows, by the number of their parameters
DRAWN = {
    "random standard_normal standard_exponential standard_cauchy": 0,
    "standard_gamma exponential chisquare standard_t pareto weibull power rayleigh poisson geometric logseries zipf": 1,
    "uniform normal gamma beta f noncentral_chisquare laplace gumbel logistic lognormal wald vonmises binomial": 2,
    "negative_binomial integers": 2,
    "noncentral_f triangular hypergeometric": 3,
}
PARAMETERS = {method: count for methods, count in DRAWN.items() for method in methods.split()}
HOW = {"standard_exponential": ("", "inv"), "integers": ("", "old"), "uniform": ("", "old")}
VECTORS = {"dirichlet": 1, "multinomial": 2, "multivariate_hypergeometric": 2}
MARGINALS = ("marginals", "count")  # how the last one draws
WITH_DTYPE = ("random", "standard_normal", "standard_exponential", "standard_gamma", "integers")


@dataclass(eq=False)
class RandomNode(LibraryNode):
    """Common base of random nodes: the connector ``state`` among inputs and outputs.

    It holds NumPy's struct bitgen (5 words), or with `own` a PCG64 that the program has made (10 words).
    """

    own: bool = False

    def meaning(self, inputs: Arrays, outputs: Arrays) -> None:
        """Draws with NumPy, and stores the state that is left."""
        state = inputs["state"]
        generator = own_generator(state) if self.own else generator_over(state)
        self.draw(generator, inputs, outputs)
        outputs["state"][...] = words_of_own(generator) if self.own else state

    def draw(self, generator: Any, inputs: Arrays, outputs: Arrays) -> None:
        """Fill the outputs by methods of NumPy's ``Generator``."""
        raise NotImplementedError

    def handles(self) -> tuple[str, ...]:
        """NumPy's struct is a pointer to a state, and pointers to functions."""
        return () if self.own else ("state",)

    def problems(self) -> Iterator[str]:
        """A state that is not read and written, or a part of one only."""
        if "state" not in self.inputs or "state" not in self.outputs:
            yield "reads and writes a state"
            return
        if self.inputs["state"] != self.outputs["state"]:
            yield "writes another state than it reads"
        size = self.inputs["state"].volume.constant
        if size != (OWN_WORDS if self.own else WORDS):
            yield f"has a state of {size} words"

    def lacking(self, inputs: Sequence[str], output: str) -> Iterator[str]:
        """Yield errors in the connectors beside the state: these `inputs` and one `output` are needed."""
        given = [name for name in self.inputs if name != "state"]
        if missing := [name for name in inputs if name not in given]:
            yield f"lacks the input {', '.join(missing)}"
        if sorted(self.outputs) != sorted(("state", output)):
            yield f"has the outputs state and {output}, not {', '.join(self.outputs)}"

    def drawn(self, method: str, known: Mapping[str, int], how: str, ways: Sequence[str]) -> Iterator[str]:
        """Yield errors in a method: it is not `known`, takes another number of parameters, or no such way."""
        given = len(self.inputs) - ("state" in self.inputs)
        if method not in known:
            yield f"draws by {method!r}, and knows {', '.join(known)}"
        elif given != known[method]:
            yield f"draws by {method}, which takes {known[method]} parameter(s), not {given}"
        elif how not in ways:
            yield f"draws by {method} in the way {how!r}, and knows {', '.join(map(repr, ways))}"


@dataclass(eq=False)
class Seed(LibraryNode):
    """``state`` is that of ``np.random.default_rng(entropy)``: a PCG64, see `OWN_WORDS`. ``entropy`` is uint64."""

    kind = "random.seed"

    def problems(self) -> Iterator[str]:
        """Connectors that it does not have."""
        if tuple(self.inputs) != ("entropy",) or tuple(self.outputs) != ("state",):
            yield "takes entropy, and gives a state"

    def meaning(self, inputs: Arrays, outputs: Arrays) -> None:
        """NumPy's."""
        outputs["state"][...] = words_of_own(np.random.default_rng(inputs["entropy"].tolist()))


@dataclass(eq=False)
class Draw(RandomNode):
    """``out = generator.method(*inputs, size=out.shape)``, in the dtype of ``out``.

    Inputs are scalars, or of the shape of ``out``, in the order of the method's parameters. ``integers`` has ``low``
    and ``last``, which is drawn too, in the dtype of ``out``. `how` is the method of ``standard_exponential``, or
    ``old``: as ``RandomState`` draws ``integers`` and ``uniform``, the latter between limits in any order.
    """

    kind = "random.draw"
    method: str = ""
    how: str = ""

    def problems(self) -> Iterator[str]:
        """An unknown method, or connectors that it does not have."""
        yield from super().problems()
        yield from self.drawn(self.method, PARAMETERS, self.how, HOW.get(self.method, ("",)))
        yield from self.lacking(("low", "last") if self.method == "integers" else (), "out")

    def draw(self, generator: Any, inputs: Arrays, outputs: Arrays) -> None:
        parameters = [value for name, value in inputs.items() if name != "state"]
        out, options = outputs["out"], {}
        if self.how == "old":
            out[...] = self._as_before(np.random.RandomState(generator.bit_generator), parameters, out)
            return
        if self.method in WITH_DTYPE:
            options["dtype"] = out.dtype
        if self.method == "integers":
            options["endpoint"] = True
        if self.how:
            options["method"] = self.how
        out[...] = getattr(generator, self.method)(*parameters, size=out.shape, **options)

    def _as_before(self, state: Any, parameters: list[Any], out: Any) -> Any:
        if self.method == "uniform":
            return state.uniform(*parameters, size=out.shape)
        low, last = (np.asarray(value).astype(object) for value in parameters)
        return state.randint(low, last + 1, out.shape, out.dtype)


@dataclass(eq=False)
class Vectors(RandomNode):
    """Each row of ``out`` is a draw of ``generator.method(*inputs)``, in the order of the method's parameters.

    The last input is the vector of probabilities (or the like) of all rows, or has a row for each; one before it is a
    number, or has one for each row. `how` is the method of ``multivariate_hypergeometric``.
    """

    kind = "random.vectors"
    method: str = ""
    how: str = ""

    def problems(self) -> Iterator[str]:
        """An unknown method, or connectors that it does not have."""
        yield from super().problems()
        ways = MARGINALS if self.method == "multivariate_hypergeometric" else ("",)
        yield from self.drawn(self.method, VECTORS, self.how, ways)
        yield from self.lacking((), "out")

    def draw(self, generator: Any, inputs: Arrays, outputs: Arrays) -> None:
        parameters, out = [value for name, value in inputs.items() if name != "state"], outputs["out"]
        if self.method == "dirichlet":
            out[...] = generator.dirichlet(*parameters, size=len(out))
        elif self.method == "multinomial":
            out[...] = generator.multinomial(*parameters, size=len(out))
        else:
            colors, sample = parameters
            out[...] = generator.multivariate_hypergeometric(colors, int(sample), size=len(out), method=self.how)


@dataclass(eq=False)
class Permutation(RandomNode):
    """Each row of ``order`` (int64; without rows, all of it) is a permutation of the numbers from 0."""

    kind = "random.permutation"

    def problems(self) -> Iterator[str]:
        """Connectors that it does not have."""
        yield from super().problems()
        yield from self.lacking((), "order")

    def draw(self, generator: Any, inputs: Arrays, outputs: Arrays) -> None:
        order = outputs["order"]
        for row in order.reshape(-1, order.shape[-1]) if order.size else ():
            row[:] = generator.permutation(len(row))


@dataclass(eq=False)
class Sample(RandomNode):
    """``order`` (int64) is a choice without repetition among the numbers below ``population``, with weights ``p``.

    `shuffle`: in random order.
    """

    kind = "random.sample"
    shuffle: bool = True

    def problems(self) -> Iterator[str]:
        """Connectors that it does not have."""
        yield from super().problems()
        yield from self.lacking(("population",), "order")

    def draw(self, generator: Any, inputs: Arrays, outputs: Arrays) -> None:
        order, population, p = outputs["order"], int(inputs["population"]), inputs.get("p")
        order[...] = generator.choice(population, order.shape, replace=False, p=p, shuffle=self.shuffle)


def own_generator(words: np.ndarray[Any, Any]) -> Any:
    """A generator with the state that words of a program's own PCG64 hold."""
    low, high, inc_low, inc_high, rest = words[WORDS:].tolist()
    bits = np.random.PCG64(0)
    bits.state = {
        "bit_generator": "PCG64",
        "state": {"state": high << 64 | low, "inc": inc_high << 64 | inc_low},
        "has_uint32": rest >> 32,
        "uinteger": rest & 0xFFFFFFFF,
    }
    return np.random.Generator(bits)


def words_of_own(generator: Any) -> np.ndarray[Any, Any]:
    """The inverse of `own_generator`."""
    found = generator.bit_generator.state
    state, inc = found["state"]["state"], found["state"]["inc"]
    rest = found["has_uint32"] << 32 | found["uinteger"]
    low = (1 << 64) - 1
    return np.array([0] * WORDS + [state & low, state >> 64, inc & low, inc >> 64, rest], np.uint64)
