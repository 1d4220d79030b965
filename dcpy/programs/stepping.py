"""Generators that are called: iterators that keep their state, and run machine code from one ``yield`` to the next.

What lives on at a ``yield`` comes out of the step as results, and goes into the next one as arguments: an array that
was yielded is the one that the generator changes later, as in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import FunctionType
from typing import Any

from dcpy.base.errors import FrontendError
from dcpy.base.tracebacks import own_frames_hidden
from dcpy.frontend.desugar.resuming import END, START, Resuming, Shape
from dcpy.frontend.steps import resuming, step_function

Step = Callable[..., tuple[int, Any, tuple[Any, ...]]]


class Stepping:
    """The programs of one generator, by the place that they go on from and the shapes of tuples that they get."""

    def __init__(self, function: FunctionType, make: Callable[[FunctionType], Step]) -> None:
        self.steps: Resuming = resuming(function)
        self._make = make
        self._programs: dict[tuple[int, tuple[Shape, ...]], Step] = {}

    def program(self, place: int, shapes: tuple[Shape, ...] = ()) -> Step:
        """The program of one step."""
        key = place, shapes
        if key not in self._programs:
            self._programs[key] = self._make(step_function(self.steps, place, shapes))
        return self._programs[key]

    def after(self, place: int, state: tuple[Any, ...]) -> Callable[[], tuple[int, Any, tuple[Any, ...]]]:
        """What goes on behind a place."""
        names = self.steps.names[place]
        for name, value in zip(names, state, strict=True):
            if isinstance(value, list):
                raise FrontendError(
                    f"the generator keeps the list {name!r} from one item to the next",
                    span=self.steps.source.span(self.steps.places[place]),
                    notes=("what lives on at a `yield` are numbers, arrays, tuples of them, and objects",),
                    help="keep the items in an array of known size, or return a list of what it yields",
                )
        shapes = tuple(map(_shape, state))
        plain = [value for value, shape in zip(state, shapes, strict=True) if shape is None]
        leaves = [leaf for value, shape in zip(state, shapes, strict=True) if shape is not None
                  for leaf in _leaves(value, shape)]  # fmt: skip
        program = self.program(place, shapes)
        return lambda: program(*plain, *leaves)


def _shape(value: Any) -> Shape:
    return tuple(map(_shape, value)) if type(value) is tuple else None


def _leaves(value: Any, shape: Shape) -> Iterator[Any]:
    if shape is None:
        yield value
        return
    for item, inner in zip(value, shape, strict=True):
        yield from _leaves(item, inner)


class Steps:
    """What a call of a generator gives: Python's protocol of generators, but for what is sent or thrown in."""

    def __init__(self, stepping: Stepping, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> None:
        self._stepping = stepping
        self._next: Callable[[], tuple[int, Any, tuple[Any, ...]]] | None = lambda: stepping.program(START)(
            *args, **keywords
        )
        self._started, self._running = False, False

    def __iter__(self) -> Steps:
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
        self._next = self._stepping.after(place, state)
        return value

    def send(self, value: Any) -> Any:
        """As ``next``: no ``yield`` of the generator looks at what is sent."""
        if value is not None and not self._started:
            raise TypeError("can't send non-None value to a just-started generator")
        return next(self)

    def throw(self, error: BaseException | type[BaseException]) -> Any:
        """Raises where the generator is, which ends it: no ``yield`` stands in a ``try``."""
        self._next = None
        raise error

    def close(self) -> None:
        """Ends the generator."""
        if self._running:
            raise ValueError("generator already executing")
        self._next = None
