"""Specialization: the types that a program is compiled for at a call, its warm start, and its guards.

`Specializer` holds everything about one decorated function that is not the native dispatcher's.
"""

from __future__ import annotations

import functools
import inspect
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import FunctionType
from typing import TYPE_CHECKING, Any

from dcpy import driver, plugins
from dcpy.base.assumptions import Assumption, refusal
from dcpy.base.errors import ArgumentError, CompilerFault, DcpyError, FrontendError, ReadOnlyArgument
from dcpy.base.garbage_collection import collector_paused
from dcpy.base.internal_errors import faults_reported
from dcpy.base.options import Options
from dcpy.base.source import SrcSpan, definition_span
from dcpy.frontend.introspection.fingerprint import fingerprint
from dcpy.frontend.introspection.function_source import parameter_span
from dcpy.frontend.lower.lowering_signals import ResultUnknown
from dcpy.frontend.specialize import list_arguments
from dcpy.frontend.specialize.argument_types import (
    ArgType,
    ArrayType,
    ConstantType,
    GeneratorType,
    OpaqueType,
    ScalarType,
)
from dcpy.frontend.specialize.record_arguments import Parts, Record, take_apart
from dcpy.ir.sdfg import Sdfg
from dcpy.programs.ranks import compilation
from dcpy.programs.signatures import Convention
from dcpy.programs.specialization.compiled_calls import (
    CallRequest,
    Compiled,
    ProgramKeys,
    call_of,
    compiler_identity,
    recalled,
    tuned_versions,
)
from dcpy.programs.specialization.first_calls import run_in_python
from dcpy.programs.specialization.guards import alias_groups_with, guards_on
from dcpy.programs.specialization.lists_as_arrays import lists_as_arrays
from dcpy.programs.specialization.size_versions import SizeVersions
from dcpy.runtime.calls.argument_conversion import prepare
from dcpy.runtime.calls.argument_errors import describe_all, explain_mismatch, with_parts
from dcpy.runtime.calls.array_borrowing import borrowed
from dcpy.runtime.dispatch import Dispatcher
from dcpy.runtime.loading.devices import runtime_of

if TYPE_CHECKING:
    from dcpy.frontend.lower.lowering_result import Lowered


class Specializer:
    """Types, SDFGs and machine code of one function."""

    def __init__(self, function: FunctionType, options: Options, *, use_annotations: bool) -> None:
        self.function = function
        self.options = options
        self.use_annotations = use_annotations
        self.owner: type | None = None  # the class of which the function is a method
        self.compiled_for: dict[str, float] = {}  # signatures, and the seconds that each took
        self.devices: list[Any] = []  # that kernels of this function run on, one for each version
        self._compiling = threading.RLock()
        self._versions = SizeVersions()
        self._tuned = 0  # versions that serve some sizes only
        self._recalled: set[str] = set()  # the patterns of calls that were looked up in the cache
        self._by_value = 0  # for how many sizes and integers of a call a function that calls itself was compiled

    def annotated(self) -> dict[str, ArgType]:
        """The types of annotated parameters. Whether a field is a Python number is known at each call."""
        return {path: kind for path, kind in self._annotated()[0].items() if path.isidentifier() or not _is_weak(kind)}

    def _annotated(self) -> tuple[dict[str, ArgType], dict[str, Record]]:
        from dcpy.frontend.annotations import parts_from_annotations
        from dcpy.frontend.specialize.argument_sizes import with_own_sizes

        if not self.use_annotations:
            return {}, {}
        types, records = parts_from_annotations(self.function, self.owner)
        return {path: with_own_sizes(path, kind) for path, kind in types.items()}, records

    @functools.cached_property
    def symbols(self) -> tuple[str, ...]:
        """The symbols that a call may give by keyword."""
        from dcpy.frontend.specialize.free_symbols import free_symbols

        return free_symbols(self.function)

    @functools.cached_property
    def assumed(self) -> dict[str, Assumption]:
        """Assumptions about symbols."""
        from dcpy.frontend.specialize.free_symbols import assumed_by

        return assumed_by(self.function)

    def _require_assumed(self, bound: Mapping[str, Any]) -> None:
        """`ArgumentShapeError` where an argument of a call breaks what is assumed of a symbol."""
        from dcpy.frontend.specialize.argument_sizes import told_by_arguments

        for name, assumed in self.assumed.items():
            for value, told_by, argument in told_by_arguments(name, self.annotated(), bound):
                error = refusal(name, value, assumed, told_by, argument)
                if error is not None:
                    raise error

    def undetermined(self, arguments: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, int]:
        """The given symbols that no argument determines; `ArgumentError` where an argument contradicts."""
        from dcpy.frontend.specialize.free_symbols import undetermined

        shapes = {name: kind.dims for name, kind in self.annotated().items() if isinstance(kind, ArrayType)}
        return undetermined(self.function.__name__, shapes, arguments, given)

    def _require_no_free(self, lowered: Lowered) -> None:
        if lowered.free_symbols:
            name, shown = lowered.free_symbols[0], ", ".join(f"{symbol}=..." for symbol in lowered.free_symbols)
            raise ArgumentError(
                f"{self.function.__name__}() needs the symbol {name!r}",
                notes=("no argument has a size that determines it",),
                help=f"pass it by keyword: {self.function.__name__}(..., {shown})",
            )

    @faults_reported
    def to_sdfg(
        self, bound: Mapping[str, Any] | None, *, simplify: bool, symbols: tuple[str, ...] = ()
    ) -> list[tuple[Sdfg, Convention]]:
        """The SDFG for the types of `bound` values, or (None) for the annotations alone; and how it is called.

        `symbols`: those among the bound values. Where that relates sizes that may differ, a second one does not.
        """
        parameters = inspect.signature(self.function).parameters
        return [(lowered.sdfg, Convention.of(lowered, [*parameters, *symbols, *lowered.free_symbols]))
                for lowered in self._lowered_for(bound, simplify)]  # fmt: skip

    def as_written(self, bound: Mapping[str, Any]) -> list[tuple[Sdfg, Convention, dict[str, Any]]]:
        """The SDFGs for these values, not simplified, how they are called, and the global arrays as they are now."""
        return [(lowered.sdfg, Convention.of(lowered, bound), {one.name: one.array for one in lowered.extra_arguments})
                for lowered in self._lowered_for(bound, simplify=False)]  # fmt: skip

    @faults_reported
    def _lowered_for(self, bound: Mapping[str, Any] | None, simplify: bool) -> list[Lowered]:
        """The function for the types of values, or for the annotations; in general, too, where sizes are related."""
        if bound is None:
            types, records = self._annotated()
            parts = Parts(records=records)
            known = {path for path, kind in types.items() if not isinstance(kind, ConstantType)}
            self._require_all_annotated({*known, *records})
            types |= _unknown_fields(types, records)
            found = [self._lower(types, parts, {})]
            there: tuple[str, ...] = ()
        else:
            from dcpy.programs.specialization.sample_arguments import lowered_for_samples

            parts, there = self._taken_apart(bound)
            self._require_assumed(parts.leaves)
            made = lowered_for_samples(
                parts.leaves,
                self.annotated(),
                lambda types: self._lower(self._with_annotated(types, parts, bound), parts, {}, sample=parts.leaves),
                fields=parts.fields,
                taken=self.symbols,
            )
            found = [made.lowered] if made.general is None else [made.lowered, made.general]
        for lowered in found:
            if simplify:
                self.simplify(lowered, self.options)
            _place(lowered, there)
        return found

    @faults_reported
    def as_called(
        self, bound: Mapping[str, Any], *, simplify: bool, symbols: tuple[str, ...] = ()
    ) -> tuple[Sdfg, Convention]:
        """The SDFG of the version that runs in a call with these values, and how it is called.

        Sizes are related as in this call and those before it, and facts about them are assumed
        (`programs.specialization.size_versions`).
        """
        parts, there = self._taken_apart(bound)
        self._require_assumed(parts.leaves)
        version = self._versions.next(parts.leaves, self.annotated(), parts.fields, self.symbols, again=True)
        examples = parts.leaves if version.speculates else None
        lowered = self._lower(version.types, parts, {}, examples=examples)
        if simplify:
            self.simplify(lowered, self.options)
        _place(lowered, there)
        parameters = inspect.signature(self.function).parameters
        return lowered.sdfg, Convention.of(lowered, [*parameters, *symbols, *lowered.free_symbols])

    def run(
        self, dispatcher: Dispatcher, values: tuple[Any, ...], profile: driver.Profile, symbols: tuple[str, ...] = ()
    ) -> Any:
        """Compile a specialization for a call that the dispatcher cannot serve, and call it.

        Behind the values of the parameters are those of `symbols`.
        """
        try:
            mine = borrowed(values, lambda: self.names(symbols), convert=self.options.convert)
            if mine is not None:
                return mine.call(lambda values: self._run(dispatcher, values, profile, symbols))
            return self._run(dispatcher, values, profile, symbols)
        except CompilerFault as fault:
            raise fault.at(definition_span(self.function.__code__)) from fault.__cause__
        except ResultUnknown as unknown:
            return run_in_python(self.function, values, self.symbols, unknown)
        except DcpyError as error:
            if error.argument and error.span is None:
                error.at(parameter_span(self.function, error.argument))
            raise

    def _run(
        self, dispatcher: Dispatcher, values: tuple[Any, ...], profile: driver.Profile, symbols: tuple[str, ...]
    ) -> Any:
        given, lists = values, ()
        if any(type(value) is list for value in values):
            names = self.names(symbols)
            values = lists_as_arrays(names, values, self.annotated())
            lists = tuple(list_arguments.passed(dict(zip(names, values, strict=True)), self._takes_array).values())
        prepared = prepare(values, lists=lists)
        native = values if prepared is None else prepared.values
        with self._compiling:
            result = dispatcher.dispatch(native)  # another thread may have compiled it meanwhile
            if result is NotImplemented:
                profile.clear()
                with driver.timed(profile, "frontend"):
                    request = self.requested(native, symbols)
                    keys = self.keys(request)
                if self._recall_tuned(dispatcher, keys):
                    result = dispatcher.dispatch(native)
            if result is NotImplemented:
                with collector_paused():
                    compiled = self._compile(native, request, keys, profile)
                dispatcher.add(compiled.encoded())
                if compiled.loaded.device is not None:
                    self.devices.append(compiled.loaded.device)
                self.compiled_for[describe_all(compiled.described)] = sum(profile.values())
        if result is NotImplemented:
            result = dispatcher.dispatch(native)
        if result is NotImplemented:
            for told in (native, given):
                shown = self._as_numpy_sees(with_parts(told, compiled.closure))
                error = explain_mismatch(compiled.described, (*shown, *compiled.arrays), guarded=True)
                if values is given or not isinstance(error, ReadOnlyArgument):
                    break  # else it is a list that the program writes to, perhaps
            raise error
        return result if prepared is None else prepared.finish(result)

    @faults_reported
    def _compile(
        self, values: tuple[Any, ...], request: CallRequest, keys: ProgramKeys, profile: driver.Profile
    ) -> Compiled:
        key = keys.exact
        with driver.timed(profile, "frontend"):
            shown = self._as_numpy_sees(values)
            loaded, key = recalled(key, request.version, shown, self.options, keys.codes) if key else (None, "")
        if loaded is not None:
            self._versions.add(request.version)
            return Compiled(loaded, guards_on(keys.fingerprint))
        if self._by_value:
            from dcpy.frontend.lower.functions.recursion import require_few_versions

            require_few_versions(self.function.__name__, self._by_value)
        lowered = self.lowered(request, profile)
        if self.options.simplify:
            self.simplify(lowered, self.options, profile)
        self._require_no_free(lowered)
        if lowered.by_value:  # a later process has calls with other values
            key, self._by_value = "", self._by_value + 1
        communicates = compilation.expand_local_view(lowered.sdfg)
        if communicates:  # what is compiled depends on whether there are other ranks
            key = ""
        _place(lowered, request.device_arguments)
        call = call_of(lowered, request.names)
        if call.callbacks or call.arrays:  # a later process has other ones of these names: it looks them up again
            key = ""
        loaded = driver.compile_sdfg(
            lowered.sdfg, call.signature, self.options, profile=profile, program_key=key, codes=keys.codes
        )
        if communicates:
            compilation.attach(loaded.library, options=self.options)
        self._versions.add(request.version)
        return call.compiled(loaded)

    @faults_reported
    def requested(self, values: tuple[Any, ...], symbols: tuple[str, ...], *, again: bool = False) -> CallRequest:
        """Return the request of a call with these values; with `again` the version that it compiled, if there is one.

        Behind the values of the parameters are those of `symbols`.
        """
        names = self.names(symbols)
        parts, there = self._taken_apart(dict(zip(names, values, strict=False)))
        self._require_assumed(parts.leaves)
        version = self._versions.next(parts.leaves, self.annotated(), parts.fields, self.symbols, again=again)
        return CallRequest(names, parts, there, version)

    def lowered(self, request: CallRequest, profile: driver.Profile) -> Lowered:
        """The SDFG of the version that a call asks for, as the frontend makes it."""
        examples = request.parts.leaves if request.version.speculates or self._by_value else None
        return self._lower(request.version.types, request.parts, profile, examples=examples)

    @faults_reported
    def keys(self, request: CallRequest) -> ProgramKeys:
        """Under what the cache remembers the versions for calls like this."""
        if request.parts.records:
            return ProgramKeys(codes=(self.function.__code__,))
        found = fingerprint(self.function)
        codes = found.codes or (self.function.__code__,)
        options = self.options
        if not found.key or options.dump:
            return ProgramKeys(fingerprint=found, codes=codes)
        passes = f"simplify={options.simplify} auto_optimize={options.auto_optimize} {options.int_overflow}"
        passes += f" {' '.join(options.overrides)}" if options.overrides else ""
        passes += f" {self.assumed}" if self.assumed else ""
        where = f" on the device: {request.device_arguments}" if request.device_arguments else ""
        way = f"{compiler_identity()} {passes} {found.key}"
        exact, pattern = (
            f"{way} ({', '.join(f'{name}: {kind!r}' for name, kind in types)}){where}"
            for types in (request.version.types.items(), request.version.pattern)
        )
        return ProgramKeys(exact, f"tuned: {pattern}", found, codes)

    def adopt(self, dispatcher: Dispatcher, tuned: Compiled) -> None:
        """Let a tuned version serve the calls that it was made for, before all others."""
        with self._compiling:
            self._tuned += 1
            dispatcher.add(replace(tuned, precedence=self._tuned).encoded())

    def _recall_tuned(self, dispatcher: Dispatcher, keys: ProgramKeys) -> bool:
        """Return whether the cache has tuned versions for sizes of calls like this: they are adopted once."""
        if not keys.tuned or keys.tuned in self._recalled or not runtime_of(self.options).is_tunable:
            return False
        self._recalled.add(keys.tuned)
        found = tuned_versions(keys.tuned, self.options, keys.codes)
        for loaded in found:
            self.adopt(dispatcher, Compiled(loaded, guards_on(keys.fingerprint)))
        return bool(found)

    def _taken_apart(self, bound: Mapping[str, Any]) -> tuple[Parts, tuple[str, ...]]:
        """The parts of arguments, with arrays of NumPy's for those of the device, and the paths of these."""
        mine = borrowed([*bound.values()], lambda: [*bound], convert=self.options.convert)
        bound = bound if mine is None else dict(zip(bound, mine.values, strict=True))
        bound = list_arguments.passed(bound, self._takes_array)
        if not (device := runtime_of(self.options)).device_arrays:
            return take_apart(bound), ()
        parts = take_apart(bound, device.arrays.is_array)
        paths, leaves = list(parts.leaves), tuple(parts.leaves.values())
        shown = self._as_numpy_sees(leaves, paths)
        parts.leaves = dict(zip(paths, shown, strict=True))
        return parts, tuple(path for path, new, old in zip(paths, shown, leaves, strict=True) if new is not old)

    def names(self, symbols: tuple[str, ...]) -> tuple[str, ...]:
        """The names of the values of a call."""
        return (*inspect.signature(self.function).parameters, *symbols)

    def _takes_array(self, name: str) -> bool:
        """Return whether a parameter is annotated to be an array: lists become arrays then."""
        return isinstance(self.annotated().get(name), ArrayType)

    def _as_numpy_sees(self, values: tuple[Any, ...], paths: Sequence[str] = ()) -> tuple[Any, ...]:
        """Values with arrays of NumPy's for those of the device; `paths` name them in errors."""
        device = runtime_of(self.options)
        return device.arrays.seen_by_numpy(values, self.options, paths) if device.device_arrays else values

    def _lower(
        self,
        types: Mapping[str, ArgType],
        parts: Parts,
        profile: driver.Profile,
        *,
        examples: Mapping[str, Any] | None = None,
        sample: Mapping[str, Any] | None = None,
    ) -> Lowered:
        """The SDFG for arguments of these types and values, with what its meaning depends on."""
        from dcpy.frontend.lower.function_to_sdfg import lower_function

        plugins.load()
        with driver.timed(profile, "frontend"):
            lowered = lower_function(
                self.function, types, self.options, records=parts.records, examples=examples, sample=sample
            )
            groups = alias_groups_with(parts.leaves, lowered.extra_arguments)
            if groups:  # known only now: which global arrays the program uses
                aliases = {id(extra.array): groups.get(extra.name, "") for extra in lowered.extra_arguments}
                lowered = lower_function(
                    self.function, _in_groups(types, groups), self.options, aliases=aliases, records=parts.records,
                    examples=examples, sample=sample,
                )  # fmt: skip
        _require_passed_only(lowered, parts)
        return lowered

    def simplify(self, lowered: Lowered, options: Options, profile: driver.Profile | None = None) -> None:
        """The simple form, reshaped if the program is to be."""
        seconds = {} if profile is None else profile
        with driver.timed(seconds, "simplify"):
            driver.simplify(lowered.sdfg, options, keeps_functions=runtime_of(options).keeps_functions)
        if options.auto_optimize:
            with driver.timed(seconds, "optimize"):
                driver.auto_optimize(lowered.sdfg, options)

    def _with_annotated(self, types: dict[str, ArgType], parts: Parts, bound: Mapping[str, Any]) -> dict[str, ArgType]:
        """The types with those of parameters without a sample, which are annotated, in the order of parameters."""
        order = list(inspect.signature(self.function).parameters)
        missing = [name for name in order if name not in bound]
        if not missing:
            return types
        annotated, records = self._annotated()
        own = {path: kind for path, kind in annotated.items() if _parameter(path) in missing}
        passed = {path for path, kind in own.items() if not isinstance(kind, ConstantType)}
        self._require_all_annotated({*bound, *records, *passed})
        more = {path: record for path, record in records.items() if _parameter(path) in missing}
        parts.records |= more
        found = types | own | _unknown_fields(own, more)
        rank = {name: k for k, name in enumerate(order)}
        return dict(sorted(found.items(), key=lambda item: rank.get(_parameter(item[0]), len(rank))))

    def _require_all_annotated(self, known: set[str]) -> None:
        missing = [name for name in inspect.signature(self.function).parameters if name not in known]
        if missing:
            code = self.function.__code__
            of_call = isinstance(self._annotated()[0].get(missing[0]), ConstantType)
            raise FrontendError(
                f"the type of {', '.join(map(repr, missing))} is not known ahead of time",
                span=parameter_span(self.function, missing[0]) or SrcSpan(code.co_filename, code.co_firstlineno),
                notes=("its value is part of the program",)
                if of_call
                else ("without arguments, types come from annotations",),
                help=f"pass it: to_sdfg({missing[0]}=...)"
                if of_call
                else f"annotate it ({missing[0]}: dcpy.float64, or dcpy.float64[N]), or pass sample arguments",
            )


def _place(lowered: Lowered, there: Sequence[str]) -> None:
    """Say that the arguments of these paths are in the memory of a device."""
    if there:
        driver.place_on_device(lowered.sdfg, [lowered.passing.containers.get(path, path) for path in there])


def _parameter(path: str) -> str:
    """The parameter that a path begins with: ``p`` of ``p.x``."""
    return re.split(r"[.\[]", path)[0]


def _require_passed_only(lowered: Lowered, parts: Parts) -> None:
    """Refuse objects that get new fields, and that the program also sees under a name of the module."""
    for effect in lowered.passing.outcome.effects:
        for dependence in lowered.dependences:
            if dependence.value is parts.objects.get(effect.path, lowered):
                raise ArgumentError(
                    f"argument {effect.path!r} is also the global object {dependence.name!r} that the program reads",
                    notes=(f"the program assigns {effect.path}.{effect.field}, and takes global objects as constants",),
                    help="use the argument only",
                )


def _unknown_fields(types: Mapping[str, ArgType], records: Mapping[str, Record]) -> dict[str, ArgType]:
    """Fields whose annotations say nothing to dcpy: no concern of a program that does not read them."""
    paths = [member.path for record in records.values() for member in record.members]
    return {
        path: OpaqueType(
            f"the type of {path!r} is not known ahead of time",
            f"annotate the field ({path.rpartition('.')[2]}: dcpy.float64[N]), or pass sample arguments",
        )
        for path in paths
        if path not in types and path not in records
    }


def _is_weak(kind: ArgType) -> bool:
    return isinstance(kind, ScalarType) and kind.weak


def _in_groups(types: Mapping[str, ArgType], groups: Mapping[str, str]) -> dict[str, ArgType]:
    shared = {
        name: replace(kind, alias=groups[name])
        for name, kind in types.items()
        if name in groups and isinstance(kind, ArrayType | GeneratorType)
    }
    return {**types, **shared}
