"""How a framework's function is called: what is made ready before the clock starts, what a caller sees afterwards."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.peers.adapt_dace import symbols_of
from benchmarks.peers.adapt_jax import changed
from benchmarks.peers.subject import Subject

Arguments = dict[str, Any]
Seen = list[tuple[str, Any]]  # results, and array arguments afterwards


class PlainCall:
    """NumPy's own way: all arguments in order, arrays are changed in place."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject

    def prepare(self, arguments: Arguments) -> Arguments:
        """Fresh arguments for one call."""
        return copy.deepcopy(arguments)

    def run(self, function: Callable[..., Any], arguments: Arguments) -> Any:
        """The call; this is what is timed."""
        return function(*arguments.values())

    def seen(self, value: Any, arguments: Arguments) -> Seen:
        """Everything a caller can see of a call."""
        values = value if isinstance(value, tuple | list) else [] if value is None else [value]
        results = [(f"result {i}", v) for i, v in enumerate(values)]
        return results + [(name, arguments[name]) for name in self._arrays()]

    def _arrays(self) -> list[str]:
        return [name for name, value in self.subject.arguments.items() if isinstance(value, np.ndarray)]


class DaceCall(PlainCall):
    """By keyword: sizes are no parameters any more. DaCe finds out those of arrays by itself."""

    def run(self, function: Callable[..., Any], arguments: Arguments) -> Any:
        """The call."""
        return function(**arguments)

    def prepare(self, arguments: Arguments) -> Arguments:
        """Without the sizes that only shapes mention."""
        needed = {*symbols_of(self.subject), *self.subject.arguments}
        return {name: value for name, value in copy.deepcopy(arguments).items() if name in needed}


class JaxCall(PlainCall):
    """Arrays are on the device before the clock starts, and it stops when results are there."""

    def prepare(self, arguments: Arguments) -> Arguments:
        """Arrays of JAX."""
        import jax.numpy as jnp

        return {name: jnp.array(v) if isinstance(v, np.ndarray) else v for name, v in arguments.items()}

    def run(self, function: Callable[..., Any], arguments: Arguments) -> Any:
        """The call, and the wait for what it computes."""
        import jax

        return jax.block_until_ready(function(*arguments.values()))

    def seen(self, value: Any, arguments: Arguments) -> Seen:
        """Results, and what the function returned in place of what NumPy changes."""
        names = changed(self.subject.source).get(self.subject.name, ())
        result, news = value if names else (value, ())
        return super().seen(result, arguments | dict(zip(names, news, strict=True)))
