"""Programs that are called in another way: ``*args`` and ``**kwargs``, generators, checks for races, several ranks."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from types import FunctionType
from typing import TYPE_CHECKING, Any

from dcpy.base.errors import ArgumentError, ArgumentShapeError
from dcpy.base.options import Options
from dcpy.frontend.introspection.generator_steps import is_generator
from dcpy.frontend.introspection.synthesized_functions import takes_keywords, with_keywords
from dcpy.programs.program import Program
from dcpy.programs.resumable_generators import GeneratorCall, GeneratorPrograms
from dcpy.programs.sdfgs import SDFG

if TYPE_CHECKING:
    from dcpy.ir.sdfg import Sdfg
    from dcpy.programs.ranks.collective_calls import RankCalls
    from dcpy.programs.signatures import Convention


def program_of(function: FunctionType, options: Options, use_annotations: bool) -> Program[..., Any]:
    """The program of a function, of the kind that its parameters and the options ask for."""
    variadic = any(p.kind is p.VAR_POSITIONAL for p in inspect.signature(function).parameters.values())
    if takes_keywords(function):
        return KeywordProgram(function, options, use_annotations=use_annotations)
    if is_generator(function):
        return GeneratorProgram(function, options, use_annotations=use_annotations)
    kind: type[Program[..., Any]]
    kind = CheckedProgram if options.check_races else VariadicProgram if variadic else Program
    if options.distributed and kind is Program:
        kind = DistributedProgram
    return kind(function, options, use_annotations=use_annotations)


class VariadicProgram(Program[..., Any]):
    """A program with ``*args``: it is compiled for each number of arguments, which are passed as a tuple."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call machine code, compiled for arguments like these."""
        values = self._bound(args, kwargs)
        keywords = {name: values.pop(name) for name in self._keyword_only}
        return super().__call__(*values.values(), **keywords)

    @functools.cached_property
    def _keyword_only(self) -> tuple[str, ...]:
        return tuple(p.name for p in self._python_signature.parameters.values() if p.kind is p.KEYWORD_ONLY)


class KeywordProgram(Program[..., Any]):
    """A program with ``**kwargs``: it is compiled for the names that are given, each an argument of its own."""

    def __init__(self, function: FunctionType, options: Options, *, use_annotations: bool = True) -> None:
        super().__init__(with_keywords(function, ()), options, use_annotations=use_annotations)
        self.__wrapped__ = function  # what programs call that call this one
        self._by_names: dict[tuple[str, ...], Program[..., Any]] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the program for these keywords."""
        return self._given(kwargs)(*args, **kwargs)

    def to_sdfg(self, *arguments: Any, simplify: bool | None = None, as_called: bool = False, **named: Any) -> SDFG:
        """The SDFG for these keywords."""
        return self._given(named).to_sdfg(*arguments, simplify=simplify, as_called=as_called, **named)

    def _given(self, kwargs: Mapping[str, Any]) -> Program[..., Any]:
        known = {p.name for p in self._python_signature.parameters.values() if p.kind is not p.POSITIONAL_ONLY}
        names = tuple(name for name in kwargs if name not in known and name not in self._specializer.symbols)
        if names not in self._by_names:
            made = program_of(with_keywords(self.__wrapped__, names), self.options, self.uses_annotations)
            made.belong_to(self._specializer.owner)
            self._by_names[names] = made
        return self._by_names[names]


class GeneratorProgram(Program[..., Any]):
    """A generator: a call gives an iterator that keeps its state (`dcpy.programs.resumable_generators`)."""

    def __call__(self, *args: Any, **kwargs: Any) -> GeneratorCall:
        """The iterator. Nothing runs before its first item is asked for."""
        self._bound(args, kwargs)
        if not self._stepping.is_current():
            del self.__dict__["_stepping"]
        return GeneratorCall(self._stepping, args, kwargs)

    @functools.cached_property
    def _stepping(self) -> GeneratorPrograms:
        return GeneratorPrograms(self.function, self._step)

    def _step(self, function: FunctionType) -> Program[..., Any]:
        made = program_of(function, self.options, self._specializer.use_annotations)
        made.belong_to(self._specializer.owner)
        return made


class CheckedProgram(Program[..., Any]):
    """A program that looks for races between the iterations of `dcpy.map`: the interpreter runs it as it is written."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Interpret; raise `DataRace` where two iterations depend on each other."""
        values = self._bound(args, kwargs)
        made, *others = self._specializer.as_written(values)
        try:
            return self._interpreted(*made, values)
        except (ArgumentError, ArgumentShapeError):  # sizes that the first one relates differ
            if not others:
                raise
        return self._interpreted(*others[0], values)

    def _interpreted(
        self, sdfg: Sdfg, convention: Convention, arrays: Mapping[str, Any], values: Mapping[str, Any]
    ) -> Any:
        """Return what the program gives; strings and the like are part of it, and no arguments."""
        called, given = SDFG.of(sdfg).called_as(convention), {**values, **arrays}
        names = called.arguments if called.convention is None else called.convention.parameters
        return called.interpret(**{name: given[name] for name in names})


class DistributedProgram(Program[..., Any]):
    """A program that all ranks of a job call together, each with its parts of distributed arrays."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call machine code on every rank; raise on all of them where they do not call the same."""
        return self._ranks(args, kwargs, self.profile)

    @functools.cached_property
    def _ranks(self) -> RankCalls:
        from dcpy.programs.ranks.collective_calls import RankCalls  # late: for several ranks only

        return RankCalls(self.function, self.options, self._bound, self.to_sdfg)
