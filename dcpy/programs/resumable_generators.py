"""Generators: iterators that keep their state, and run machine code from one ``yield`` to the next.

What lives on at a ``yield`` comes out of the step as results, and goes into the next one as arguments: an array that
was yielded is the one that the generator changes later, as in Python.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FunctionType
from typing import Any

from dcpy.base.errors import FrontendError
from dcpy.base.tracebacks import own_frames_hidden
from dcpy.frontend.desugar.generator_splitting import EMPTY, END, OWN, START, Resuming, Shape
from dcpy.frontend.introspection.generator_steps import is_current, resuming, step_function

Step = Callable[..., tuple[int, Any, tuple[Any, ...]]]


class GeneratorPrograms:
    """The programs of one generator, by the place that they go on from and the shapes of tuples that they get."""

    def __init__(self, function: FunctionType, make: Callable[[FunctionType], Step]) -> None:
        self.steps: Resuming = resuming(function)
        self._function = function
        self._make = make
        self._programs: dict[tuple[int, tuple[Shape, ...]], Step] = {}

    def is_current(self) -> bool:
        """Return whether the generators that this one loops over are still the same."""
        return is_current(self._function, self.steps)

    def program(self, place: int, shapes: tuple[Shape, ...] = ()) -> Step:
        """The program of one step."""
        key = place, shapes
        if key not in self._programs:
            self._programs[key] = self._make(step_function(self.steps, place, shapes))
        return self._programs[key]

    def after(
        self, place: int, value: Any, state: tuple[Any, ...], given: Sequence[Any]
    ) -> Callable[[], tuple[int, Any, tuple[Any, ...]]]:
        """Return the step behind a place; `given` are the call's arguments, which others see, as they see `value`."""
        shapes = tuple(map(functools.partial(_shape, given), state))
        for name, one, shape in zip(self.steps.names[place], state, shapes, strict=True):
            others = [other for key, other in zip(self.steps.names[place], state, strict=True) if key != name]
            if _seen(one, shape, (value, *others)):
                raise FrontendError(
                    f"the generator yields the list {name!r}, or has it twice, and goes on with it",
                    span=self.steps.source.span(self.steps.places[place]),
                    notes=("a list that lives across a `yield` is stored as a separate list",),
                    help="yield a copy: `list(x)`, or keep the items in an array",
                )
        plain = [one for one, shape in zip(state, shapes, strict=True) if shape in (None, OWN)]
        leaves = [leaf for one, shape in zip(state, shapes, strict=True) if isinstance(shape, tuple)
                  for leaf in _leaves(one, shape)]  # fmt: skip
        program = self.program(place, shapes)
        return lambda: program(*plain, *leaves)


def _shape(given: Sequence[Any], value: Any) -> Shape:
    if type(value) is list and not any(value is one for one in given):
        return OWN if value else EMPTY
    return tuple(map(functools.partial(_shape, given), value)) if type(value) is tuple else None


def _seen(value: Any, shape: Shape, places: Sequence[Any]) -> bool:
    """Return whether a list that may change, in a value, is also in one of the others."""
    if isinstance(shape, tuple):
        return any(_seen(item, inner, places) for item, inner in zip(value, shape, strict=True))
    return isinstance(shape, str) and any(map(functools.partial(_holds, value), places))


def _holds(found: Any, value: Any) -> bool:
    if isinstance(value, tuple | list):
        return value is found or any(map(functools.partial(_holds, found), value))
    return isinstance(value, dict) and _holds(found, tuple(value.values()))


def _leaves(value: Any, shape: Shape) -> Iterator[Any]:
    if shape is None:
        yield value
        return
    for item, inner in zip(value, shape, strict=True) if isinstance(shape, tuple) else ():
        yield from _leaves(item, inner)


class GeneratorCall:
    """Generator that a call returns: Python's protocol, without sending or throwing into it."""

    def __init__(self, stepping: GeneratorPrograms, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> None:
        self._stepping = stepping
        self._next: Callable[[], tuple[int, Any, tuple[Any, ...]]] | None = lambda: stepping.program(START)(
            *args, **keywords
        )
        self._given = (*args, *keywords.values())
        self._started, self._running = False, False

    def __iter__(self) -> GeneratorCall:
        return self

    @own_frames_hidden
    def __next__(self) -> Any:
        """Runs to the next ``yield``."""
        if self._running:
            raise ValueError("generator already executing")
        go_on, self._next = self._next, None  # an exception ends it
        if go_on is None:
            raise StopIteration
        self._started = self._running = True
        try:
            place, value, state = go_on()
        except StopIteration as error:
            raise RuntimeError("generator raised StopIteration") from error
        finally:
            self._running = False
        if place == END:
            raise StopIteration(value) if value is not None else StopIteration
        self._next = self._stepping.after(place, value, state, self._given)
        return value

    def send(self, value: Any) -> Any:
        """Run on as ``next`` does: no ``yield`` of the generator looks at what is sent."""
        if value is not None and not self._started:
            raise TypeError("can't send non-None value to a just-started generator")
        return next(self)

    def throw(self, error: BaseException | type[BaseException]) -> Any:
        """Raise where the generator is, which ends it: no ``yield`` stands in a ``try``."""
        self._next = None
        raise error

    def close(self) -> None:
        """End the generator."""
        if self._running:
            raise ValueError("generator already executing")
        self._next = None
