"""What a program is compiled for at a call: types from values and annotations, the warm start, and the guards.

`Specializer` holds everything about one decorated function that is not the native dispatcher's.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import os
import re
import sysconfig
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from dcpy import __version__, driver, plugins
from dcpy.base.assumptions import Assumption, refusal
from dcpy.base.errors import ArgumentError, DcpyError, FrontendError
from dcpy.base.memory import collector_paused
from dcpy.base.options import DeviceType, Options
from dcpy.base.source import SrcSpan
from dcpy.codegen.signature import linear
from dcpy.frontend.fingerprint import Fingerprint, fingerprint
from dcpy.frontend.source import parameter_span
from dcpy.frontend.specialize.records import Parts, Record, take_apart
from dcpy.frontend.specialize.types import ArgType, ArrayType, ConstantType, GeneratorType, OpaqueType, ScalarType
from dcpy.ir.sdfg import Sdfg
from dcpy.programs import rank_programs
from dcpy.programs.guards import Guards, Source, alias_groups_with, guards_of, guards_on, source_of_array
from dcpy.programs.signatures import Convention, signature_of_call
from dcpy.programs.versions import SPECULATIVE, Version, Versions
from dcpy.runtime.arguments import conditions_hold, describe_all, explain_mismatch, with_parts
from dcpy.runtime.conversion import prepare
from dcpy.runtime.dispatch import Dispatcher, encode
from dcpy.runtime.load import Loaded, recall

if TYPE_CHECKING:
    from dcpy.codegen.artifact import Signature
    from dcpy.frontend.lower.lowered import Lowered


@dataclass(frozen=True)
class Compiled:
    """One specialization: machine code, and the objects that must still be what they were when it was made.

    `arrays` are the global arrays that it was made for; each call passes those that it finds at `closure`.
    `callbacks` are the Python functions that it calls, by name.
    """

    loaded: Loaded
    guards: Guards
    closure: tuple[Source, ...] = ()
    arrays: tuple[Any, ...] = ()
    callbacks: Mapping[str, Any] = field(default_factory=dict)
    shown: Signature | None = None  # with the names that the user knows

    @property
    def described(self) -> Signature:
        """The signature for messages."""
        return self.shown or self.loaded.signature

    def encoded(self) -> tuple[object, ...]:
        """What the dispatcher takes."""
        made = self.loaded
        return encode(
            made.signature, made.entry, made.results, closure=self.closure, guards=self.guards, keepalive=made.library,
            callbacks=self.callbacks, device=made.device, on_stream=made.on_stream, notes=made.notes,
        )  # fmt: skip


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
        self._versions = Versions()
        self._by_value = 0  # for how many sizes and integers of a call a function that calls itself was compiled

    def annotated(self) -> dict[str, ArgType]:
        """The types of annotated parameters. That a field is a Python number, each call tells better."""
        return {path: kind for path, kind in self._annotated()[0].items() if path.isidentifier() or not _is_weak(kind)}

    def _annotated(self) -> tuple[dict[str, ArgType], dict[str, Record]]:
        from dcpy.frontend.annotations import parts_from_annotations
        from dcpy.frontend.specialize.sizes import with_own_sizes

        if not self.use_annotations:
            return {}, {}
        types, records = parts_from_annotations(self.function, self.owner)
        return {path: with_own_sizes(path, kind) for path, kind in types.items()}, records

    @functools.cached_property
    def symbols(self) -> tuple[str, ...]:
        """The symbols that a call may give by keyword."""
        from dcpy.frontend.dataflow.symbols import free_symbols

        return free_symbols(self.function)

    @functools.cached_property
    def assumed(self) -> dict[str, Assumption]:
        """What is assumed of symbols."""
        from dcpy.frontend.dataflow.symbols import assumed_by

        return assumed_by(self.function)

    def _require_assumed(self, bound: Mapping[str, Any]) -> None:
        """`ArgumentShapeError` where an argument of a call breaks what is assumed of a symbol."""
        from dcpy.frontend.specialize.sizes import told_by_arguments

        for name, assumed in self.assumed.items():
            for value, told_by, argument in told_by_arguments(name, self.annotated(), bound):
                error = refusal(name, value, assumed, told_by, argument)
                if error is not None:
                    raise error

    def undetermined(self, arguments: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, int]:
        """Those of the given symbols that the arguments do not tell; `ArgumentError` where they tell otherwise."""
        from dcpy.frontend.dataflow.symbols import undetermined

        shapes = {name: kind.dims for name, kind in self.annotated().items() if isinstance(kind, ArrayType)}
        return undetermined(self.function.__name__, shapes, arguments, given)

    def _require_no_free(self, lowered: Lowered) -> None:
        if lowered.free:
            name, shown = lowered.free[0], ", ".join(f"{symbol}=..." for symbol in lowered.free)
            raise ArgumentError(
                f"{self.function.__name__}() needs the symbol {name!r}",
                notes=("no argument has a size that tells it",),
                help=f"pass it by keyword: {self.function.__name__}(..., {shown})",
            )

    def to_sdfg(
        self, bound: Mapping[str, Any] | None, *, simplify: bool, symbols: tuple[str, ...] = ()
    ) -> list[tuple[Sdfg, Convention]]:
        """The SDFG for the types of `bound` values, or (None) for the annotations alone; and how it is called.

        `symbols`: those among the bound values. Where that relates sizes that may differ, a second one does not.
        """
        if bound is None:
            types, records = self._annotated()
            parts = Parts(records=records)
            known = {path for path, kind in types.items() if not isinstance(kind, ConstantType)}
            self._require_all_annotated({*known, *records})
            types |= _unknown_fields(types, records)
            found = [self._lower(types, parts, {})]
            there: tuple[str, ...] = ()
        else:
            from dcpy.programs.samples import lowered_for_samples

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
        parameters = inspect.signature(self.function).parameters
        for lowered in found:
            if simplify:
                self._simplify(lowered, {})
            _place(lowered, there)
        return [(lowered.sdfg, Convention.of(lowered, [*parameters, *symbols, *lowered.free])) for lowered in found]

    def as_called(
        self, bound: Mapping[str, Any], *, simplify: bool, symbols: tuple[str, ...] = ()
    ) -> tuple[Sdfg, Convention]:
        """The SDFG of the version that runs in a call with these values, and how it is called.

        Sizes are related as in this call and those before it, and facts about them are assumed (`programs.versions`).
        """
        parts, there = self._taken_apart(bound)
        self._require_assumed(parts.leaves)
        version = self._versions.next(parts.leaves, self.annotated(), parts.fields, self.symbols, again=True)
        examples = parts.leaves if version.speculates else None
        lowered = self._lower(version.types, parts, {}, examples=examples)
        if simplify:
            self._simplify(lowered, {})
        _place(lowered, there)
        parameters = inspect.signature(self.function).parameters
        return lowered.sdfg, Convention.of(lowered, [*parameters, *symbols, *lowered.free])

    def run(
        self, dispatcher: Dispatcher, values: tuple[Any, ...], profile: driver.Profile, symbols: tuple[str, ...] = ()
    ) -> Any:
        """What a call does for which the dispatcher knows no specialization: compiles one, and calls it.

        Behind the values of the parameters are those of `symbols`.
        """
        try:
            return self._run(dispatcher, values, profile, symbols)
        except DcpyError as error:
            if error.argument and error.span is None:
                error.at(parameter_span(self.function, error.argument))
            raise

    def _run(
        self, dispatcher: Dispatcher, values: tuple[Any, ...], profile: driver.Profile, symbols: tuple[str, ...]
    ) -> Any:
        prepared = prepare(values)
        native = values if prepared is None else prepared.values
        with self._compiling:
            result = dispatcher.dispatch(native)  # another thread may have compiled it meanwhile
            if result is NotImplemented:
                with collector_paused():
                    compiled = self._compile(native, profile, symbols)
                dispatcher.add(compiled.encoded())
                if compiled.loaded.device is not None:
                    self.devices.append(compiled.loaded.device)
                self.compiled_for[describe_all(compiled.described)] = sum(profile.values())
        if result is NotImplemented:
            result = dispatcher.dispatch(native)
        if result is NotImplemented:
            shown = self._as_numpy_sees(with_parts(native, compiled.closure))
            raise explain_mismatch(compiled.described, (*shown, *compiled.arrays))
        return result if prepared is None else prepared.finish(result)

    def _compile(self, values: tuple[Any, ...], profile: driver.Profile, symbols: tuple[str, ...]) -> Compiled:
        profile.clear()
        names = [*inspect.signature(self.function).parameters, *symbols]
        bound = dict(zip(names, values, strict=False))
        with driver.timed(profile, "frontend"):
            parts, there = self._taken_apart(bound)
            annotated = self.annotated()
            self._require_assumed(parts.leaves)
            version = self._versions.next(parts.leaves, annotated, parts.fields, self.symbols)
            types = version.types
            key, known = ("", Fingerprint()) if parts.records else self._program_key(types)
            key += f" on the device: {there}" if key and there else ""
            codes = known.codes or (self.function.__code__,)
            shown = self._as_numpy_sees(values)
            loaded, key = _recall(key, version, shown, self.options, codes) if key else (None, "")
        if loaded is not None:
            self._versions.add(version)
            return Compiled(loaded, guards_on(known))
        if self._by_value:
            from dcpy.frontend.lower.functions.recursion import require_few_versions

            require_few_versions(self.function.__name__, self._by_value)
        examples = parts.leaves if version.speculates or self._by_value else None
        lowered = self._lower(types, parts, profile, examples=examples)
        if self.options.simplify:
            self._simplify(lowered, profile)
        self._require_no_free(lowered)
        if lowered.by_value:  # a later process has calls with other values
            key, self._by_value = "", self._by_value + 1
        arrays = lowered.extra_arguments
        communicates = rank_programs.expand_local_view(lowered.sdfg)
        if communicates:  # what is compiled depends on whether there are other ranks
            key = ""
        _place(lowered, there)
        convention = Convention.of(lowered, names)
        signature, sources = signature_of_call(lowered.sdfg, convention)
        signature = replace(signature, unless=tuple(map(linear, lowered.unless)))
        callbacks = lowered.sdfg.callbacks
        if callbacks or arrays:  # a later process has other ones of these names: it looks them up again
            key = ""
        loaded = driver.compile_sdfg(
            lowered.sdfg, signature, self.options, profile=profile, program_key=key, codes=codes
        )
        if communicates:
            rank_programs.attach(loaded.library, options=self.options)
        closure = (*sources, *map(source_of_array, arrays))
        described = convention.described(signature)
        self._versions.add(version)
        return Compiled(
            loaded, guards_of(lowered), closure, tuple(extra.array for extra in arrays), callbacks, described
        )

    def _taken_apart(self, bound: Mapping[str, Any]) -> tuple[Parts, tuple[str, ...]]:
        """The parts of arguments, with arrays of NumPy's for those of the device, and the paths of these."""
        if self.options.device is not DeviceType.GPU:
            return take_apart(bound), ()
        from dcpy.runtime.devices.stand_ins import is_array

        parts = take_apart(bound, is_array)
        paths, leaves = list(parts.leaves), tuple(parts.leaves.values())
        shown = self._as_numpy_sees(leaves, paths)
        parts.leaves = dict(zip(paths, shown, strict=True))
        return parts, tuple(path for path, new, old in zip(paths, shown, leaves, strict=True) if new is not old)

    def _as_numpy_sees(self, values: tuple[Any, ...], paths: Sequence[str] = ()) -> tuple[Any, ...]:
        """Values with arrays of NumPy's for those of the device; `paths` name them in errors."""
        if self.options.device is not DeviceType.GPU:
            return values
        from dcpy.runtime.devices.stand_ins import imported, is_array, stand_in

        if not any(is_array(value) and not isinstance(value, np.ndarray) for value in values):
            return values  # then no device needs to be there yet
        from dcpy.runtime.devices.arrays import home_of

        home = home_of(self.options)
        named = zip(paths or [""] * len(values), values, strict=True)
        return tuple(stand_in(imported(home, path, value)) for path, value in named)

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
        from dcpy.frontend.lower.function import lower_function

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

    def _simplify(self, lowered: Lowered, profile: driver.Profile) -> None:
        """The simple form, reshaped if the program is to be."""
        with driver.timed(profile, "simplify"):
            driver.simplify(lowered.sdfg, self.options)
        if self.options.auto_optimize:
            with driver.timed(profile, "optimize"):
                driver.auto_optimize(lowered.sdfg, self.options)

    def _program_key(self, types: Mapping[str, ArgType]) -> tuple[str, Fingerprint]:
        """What stands for the whole way from source to artifact, and what the function depends on.

        The key is "" where nothing does, and the program is compiled in each process.
        """
        found = fingerprint(self.function)
        described = ", ".join(f"{name}: {kind!r}" for name, kind in types.items())
        options = self.options
        passes = f"simplify={options.simplify} auto_optimize={options.auto_optimize} {options.int_overflow}"
        passes += f" {self.assumed}" if self.assumed else ""
        key = f"{compiler_identity()} {passes} {found.key} ({described})" if found.key and not options.dump else ""
        return key, found

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
                notes=("its value is part of the program",) if of_call
                else ("without arguments, types come from annotations",),
                help=f"pass it: to_sdfg({missing[0]}=...)" if of_call
                else f"annotate it ({missing[0]}: dcpy.float64, or dcpy.float64[N]), or pass sample arguments",
            )


def _place(lowered: Lowered, there: Sequence[str]) -> None:
    """Says that the arguments of these paths are in the memory of a device."""
    if there:
        driver.place_on_device(lowered.sdfg, [lowered.passing.containers.get(path, path) for path in there])


def _parameter(path: str) -> str:
    """The parameter that a path begins with: ``p`` of ``p.x``."""
    return re.split(r"[.\[]", path)[0]


def _require_passed_only(lowered: Lowered, parts: Parts) -> None:
    """Refuses objects that get new fields, and that the program also sees under a name of the module."""
    for effect in lowered.passing.outcome.effects:
        for dependence in lowered.dependences:
            if dependence.value is parts.objects.get(effect.path, lowered):
                raise ArgumentError(
                    f"argument {effect.path!r} is also the global object {dependence.name!r} that the program reads",
                    notes=(f"the program assigns {effect.path}.{effect.field}, and takes global objects as constants",),
                    help="use the argument only",
                )


@functools.cache
def compiler_identity() -> str:
    """What this dcpy is: its version, the state of its files, which changes while it is being worked on, and when a
    package was installed last beside it: libraries that appear or disappear (FFTW, MKL) change what nodes become."""
    installed = Path(sysconfig.get_path("purelib")).stat().st_mtime_ns
    text = repr([installed, *sorted(_states(str(Path(__file__).parents[1])))])
    return f"{__version__}-{np.__version__}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _states(folder: str, prefix: str = "") -> Iterator[tuple[str, int, int]]:
    """Name, size and time of what dcpy consists of. Without `pathlib`: a warm start waits for hundreds of them."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith((".py", ".h", ".j2", ".so")):
                found = entry.stat()
                yield prefix + entry.name, found.st_size, found.st_mtime_ns
            elif entry.is_dir() and entry.name != "__pycache__":
                yield from _states(entry.path, f"{prefix}{entry.name}/")


def _recall(
    key: str, version: Version, values: tuple[Any, ...], options: Options, codes: Sequence[CodeType]
) -> tuple[Loaded | None, str]:
    """The version in the cache that fits this call; else None, and the key under which to remember a new one.

    Programs of one key differ in what they assume of sizes.
    """
    for number in range(SPECULATIVE) if version.speculates else (SPECULATIVE,):
        numbered = f"{key} #{number}"
        loaded = recall(numbered, options, codes)
        if loaded is None:
            return None, numbered
        if conditions_hold(loaded.signature, values):
            return loaded, numbered
    return None, ""


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
