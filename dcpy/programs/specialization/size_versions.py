"""Size versions: the relations between sizes under which each version of a program is compiled.

Each call for which no version fits gets a new one, compiled under what holds in it: sizes that are equal, or a few
apart, share a symbol as long as that was so in all calls of this pattern (dtypes, ranks, memory order, sizes of 1), and
facts such as ``N >= 4`` are guards. A version stays as it is, and calls that fit an older one never reach a newer one.
After `SPECULATIVE` versions of a pattern the next one assumes nothing but what held in all calls: there is an end.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dcpy.frontend.specialize.argument_types import ArgType, ArrayType, ConstantType, GeneratorType, ScalarType
from dcpy.ir.symbolic import ONE, Expr, sym

SPECULATIVE = 4  # versions of one pattern with guards on sizes

Shapes = Mapping[str, tuple[int, ...]]
Pattern = tuple[tuple[str, ArgType], ...]


@dataclass(frozen=True)
class Version:
    """Version to compile next: the types, and whether facts about the sizes of this call may be assumed."""

    types: dict[str, ArgType]
    pattern: Pattern
    shapes: Shapes
    integers: tuple[int, ...]
    speculates: bool


@dataclass
class SizeVersions:
    """The calls that have had a version compiled, by pattern."""

    calls: dict[Pattern, list[Shapes]] = field(default_factory=dict)
    _seen: set[tuple[Pattern, object]] = field(default_factory=set)

    def next(
        self,
        bound: Mapping[str, Any],
        annotated: Mapping[str, ArgType],
        fields: Container[str],
        taken: Iterable[str] = (),
        *,
        again: bool = False,
    ) -> Version:
        """The version for a call that fits none so far; `fields` and `taken` as in `types_of`.

        With `again` the one that a call of these very sizes has had compiled, if there was one.
        """
        from dcpy.frontend.specialize.types_from_call import shapes_of

        pattern = _pattern(types_of(bound, annotated, fields=fields, taken=taken), annotated)
        earlier, shapes = self.calls.get(pattern, []), shapes_of(bound, annotated)
        if again and shapes in earlier:
            earlier = earlier[: earlier.index(shapes)]
        types = types_of(bound, annotated, earlier=earlier, fields=fields, taken=taken)
        integers = tuple(int(value) for value in bound.values() if isinstance(value, int | np.int64))
        return Version(types, pattern, shapes, integers, len(earlier) < SPECULATIVE)

    def add(self, version: Version) -> None:
        """Remember a version that has been compiled. One that was compiled before, for other globals, is the same."""
        call = (version.pattern, (tuple(version.shapes.items()), version.integers))
        if call not in self._seen:
            self._seen.add(call)
            self.calls.setdefault(version.pattern, []).append(version.shapes)


def _pattern(types: Mapping[str, ArgType], annotated: Container[str]) -> Pattern:
    """Types without the symbols of sizes, which name what is equal in one call."""
    return tuple((name, kind if name in annotated else _without_sizes(kind)) for name, kind in types.items())


def _without_sizes(kind: ArgType) -> ArgType:
    if not isinstance(kind, ArrayType):
        return kind
    return replace(kind, dims=tuple(dim if dim is ONE else sym("?") for dim in kind.dims), not_one=())


def types_of(
    bound: Mapping[str, Any],
    annotated: Mapping[str, ArgType],
    *,
    earlier: list[Shapes] | None = None,
    fields: Container[str] = (),
    taken: Iterable[str] = (),
) -> dict[str, ArgType]:
    """The types of a call's arguments: annotated where there are annotations, in the layout that is passed.

    Among the `fields` of objects there may be values that no program can take. No size gets a name that is `taken`.
    Where `earlier` calls are known, sizes that differ by a few in all of them are expressed by each other.
    """
    from dcpy.frontend.specialize.types_from_call import alias_groups, types_from_call

    ones = _sizes_that_are_one(bound, annotated)
    aliases = alias_groups(bound)
    known = {
        name: _as_passed(kind, bound[name], ones, aliases.get(name, ""))
        for name, kind in annotated.items()
        if name in bound
    }
    found = types_from_call(bound, known, earlier=earlier, fields=fields, taken=taken)
    return found | {name: ConstantType(1) for name in ones}


def _sizes_that_are_one(bound: Mapping[str, Any], annotated: Mapping[str, ArgType]) -> dict[str, Expr]:
    """Annotated sizes that are 1 in this call: constants, because they broadcast."""
    ones: dict[str, Expr] = {}
    for name, kind in annotated.items():
        value = bound.get(name)
        if isinstance(kind, ArrayType) and isinstance(value, np.ndarray) and value.ndim == len(kind.dims):
            for dim, size in zip(kind.dims, value.shape, strict=True):
                if dim.name is not None and size == 1:
                    ones[dim.name] = ONE
    return ones


def _as_passed(kind: ArgType, value: Any, ones: Mapping[str, Expr], alias: str) -> ArgType:
    """An annotated type with what only the call has: memory order, overlap, sizes of 1, Python's own numbers."""
    from dcpy.frontend.specialize.types_from_call import laid_out

    if isinstance(kind, ConstantType):  # dcpy.compiletime
        return ConstantType(value)
    if isinstance(kind, ScalarType):
        return replace(kind, weak=kind.weak or not isinstance(value, np.generic | np.ndarray))
    if isinstance(kind, GeneratorType):
        return replace(kind, alias=alias)
    if not isinstance(kind, ArrayType) or not isinstance(value, np.ndarray) or value.ndim != len(kind.dims):
        return kind
    dims = tuple(dim.subs(ones) for dim in kind.dims)
    symbols = tuple(dict.fromkeys(dim.name for dim in dims if dim.name))
    return laid_out(replace(kind, dims=dims, alias=alias, not_one=symbols), value)
