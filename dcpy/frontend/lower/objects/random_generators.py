"""Random generators as values: arguments, global ones, and where a program may draw from them.

A generator is a container of words that draws read and write. So its draws stay in order, whatever is optimized.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

import numpy as np

from dcpy.base.bit_generators import is_generator
from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.values import GeneratorValue, Value
from dcpy.frontend.implements import call_entry, find, implemented
from dcpy.frontend.lower.frame import ExtraArgument
from dcpy.frontend.specialize.argument_types import GeneratorType

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcpy.frontend.introspection.closure import NameRead
    from dcpy.frontend.lower.frame import Frame

METHODS = "numpy.random.Generator."  # what their names in the registry begin with


def global_generator(frame: Frame, generator: Any, dependence: NameRead | None) -> GeneratorValue:
    """A global generator: one more argument of the program."""
    emit, extra = frame.emit, frame.program.extra_arguments
    if id(generator) not in extra:
        name = emit.fresh_for_good(dependence.name if dependence is not None else "generator")
        kind = GeneratorType(frame.program.aliases.get(id(generator), ""))
        desc = emit.sdfg.body.containers[name] = kind.descriptor(name)
        emit.descs[name], emit.regions[name] = desc, emit.sdfg.body
        extra[id(generator)] = ExtraArgument(name, kind, generator, dependence)
    return GeneratorValue(extra[id(generator)].name)


def call_method(
    frame: Frame, generator: GeneratorValue, name: str, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> Value:
    """``generator.name(*args, **kwargs)``."""
    entry = find(getattr(np.random.Generator, name, None))
    if entry is None:
        methods = [found.removeprefix(METHODS) for found in implemented() if found.startswith(METHODS)]
        near = difflib.get_close_matches(name, methods, n=1, cutoff=0.75)
        raise FrontendError(
            f"a random generator has no method {name!r} that dcpy compiles",
            help=f"did you mean .{near[0]}()?" if near else "draw outside of the program, and pass the result",
        )
    require_order(frame, generator)
    return call_entry(frame.b, entry, [generator, *args], kwargs)


def require_order(frame: Frame, generator: GeneratorValue) -> None:
    """Refuse to draw in a parallel map from a generator that its iterations share."""
    open_regions = frame.emit.open_regions
    declared_in = frame.emit.regions[generator.container]
    depth = next(depth for depth, region in enumerate(open_regions) if region is declared_in)
    for scope in frame.map_scopes():
        if any(region is scope.region for region in open_regions[depth + 1 :]):
            raise FrontendError(
                "the iterations of a parallel map cannot draw from one generator: results would depend on their order",
                help="write a plain for loop, or give each iteration its own: np.random.default_rng([seed, i])",
            )


def require_supported(found: Any) -> None:
    """Refuse what draws from a global state of NumPy's, and what is a random generator of another kind."""
    module = str(getattr(found, "__module__", None) or "")
    owner = getattr(found, "__self__", None)
    if module.startswith("numpy.random.mtrand"):
        raise FrontendError(
            f"np.random.{getattr(found, '__name__', type(found).__name__)} uses NumPy's legacy generator, "
            "which cannot be made in a program",
            help="make it outside of the program, or use rng = np.random.default_rng(seed)",
        )
    if is_generator(owner):
        raise FrontendError(
            f"a method of a generator that was looked up outside ({found.__name__})", help="call it as rng.method()"
        )
