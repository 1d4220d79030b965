"""Local search for autotuning: versions of a program that differ in one decision each are measured on a call.

The model of costs decides what is compiled; here the clock does, for one set of sizes, when a user asks for it
(`program.tune`). All versions do the same operations: one whose results differ in a bit from what calls give otherwise
is not taken. What is found serves calls with these very sizes, in later processes, too, as long as the cache has it.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dcpy import driver
from dcpy.base.errors import DcpyError, DeviceError
from dcpy.base.options import Options
from dcpy.codegen.artifact import ArrayArg, Artifact, IntegerArg, Signature
from dcpy.ir.communication import CommNode
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.editing.size_specialization import specialize
from dcpy.programs.autotuning.trial_arguments import ArgumentCopies
from dcpy.programs.specialization.compiled_calls import (
    MAX_TUNED,
    CallingInformation,
    CallRequest,
    Compiled,
    call_of,
    numbered,
    tuned_versions,
)
from dcpy.runtime.calls.argument_conversion import prepare
from dcpy.runtime.calls.argument_errors import symbol_values, with_parts
from dcpy.runtime.calls.array_borrowing import borrowed
from dcpy.runtime.cpu.measured_costs import cores_here
from dcpy.runtime.dispatch import Dispatcher
from dcpy.runtime.loading.devices import runtime_of
from dcpy.runtime.loading.load import Loaded, load
from dcpy.targets.catalog import target_for
from dcpy.transforms.auto.pipeline import AUTO_OPTIMIZE
from dcpy.transforms.overrides import neighbours

if TYPE_CHECKING:
    from dcpy.frontend.lower.lowering_result import Lowered
    from dcpy.programs.specialization.specializer import Specializer

STEPS = 3  # of the search: decisions in which the best version may differ from the compiler's
CALLS = 30  # of each version in a step, at most
FIRST_CALLS = 3  # before slow versions are left
SLOW = 1.3  # times the quickest: it will not be the best one
WORTH = 0.97  # of the time of the version before: less is noise


@dataclass(frozen=True)
class TunedVersion:
    """One version that was measured: in what it differs from the compiler's, and its median time in seconds.

    `sizes_as_numbers`: the sizes of the call are numbers in its text; else it is what calls ran before.
    """

    overrides: tuple[str, ...]
    seconds: float
    sizes_as_numbers: bool = True

    def __str__(self) -> str:
        """``sizes as numbers, tile=64``."""
        said = ("sizes as numbers", *self.overrides) if self.sizes_as_numbers else ("as before", *self.overrides)
        return ", ".join(said)


@dataclass(frozen=True)
class Tuning:
    """Result of `program.tune` for one set of sizes.

    Attributes
    ----------
    program
        The name of the function.
    sizes
        The sizes that the chosen version is for, by symbol.
    before
        The version that calls ran before.
    versions
        All that were measured to the end, the quickest first.
    chosen
        The version that calls of these sizes run from now on.
    kept
        Whether later processes run it, too.
    refused
        How many were left because their results differ in some bits.
    """

    program: str
    sizes: dict[str, int]
    before: TunedVersion
    versions: tuple[TunedVersion, ...]
    chosen: TunedVersion
    kept: bool
    refused: int = 0

    @property
    def speedup(self) -> float:
        """Ratio of the former time of a call to the present one."""
        return self.before.seconds / self.chosen.seconds

    def __str__(self) -> str:
        """A table, the quickest version first."""
        sizes = ", ".join(f"{name} = {value}" for name, value in self.sizes.items())
        lines = [f"{self.program}{f' with {sizes}' if sizes else ''}: {self.speedup:.2f} times as quick as before"]
        for version in self.versions:
            mark = "  <- calls of these sizes run it" if version is self.chosen else ""
            lines.append(f"{version.seconds * 1e3:12.4f} ms  {version}{mark}")
        if self.refused:
            lines.append(f"{self.refused} more gave other results in the last bits")
        if self.chosen is not self.before and not self.kept:
            lines.append("later processes do not run it: the cache cannot remember this program")
        return "\n".join(lines)


def tune(
    specializer: Specializer, dispatcher: Dispatcher, values: tuple[Any, ...], symbols: tuple[str, ...], seconds: float
) -> Tuning:
    """Search for about so many seconds, and let the dispatcher of the program run what is quickest for these sizes.

    Behind the values of the parameters are those of `symbols`. The values stay as they are.
    """
    if not runtime_of(specializer.options).is_tunable:
        raise DeviceError("only programs for CPUs can be tuned", help="leave out device=")
    deadline = time.perf_counter() + seconds
    mine = borrowed(values, lambda: specializer.names(symbols), convert=specializer.options.convert)
    values = values if mine is None else mine.values
    prepared = prepare(values)
    native = values if prepared is None else prepared.values
    copies = ArgumentCopies(native)
    _call_otherwise(specializer, dispatcher, copies, symbols)
    request = specializer.requested(native, symbols, again=True)
    lowered = specializer.lowered(request, {})
    _require_repeatable(lowered)
    search = _Search(specializer, request, lowered, native, copies, dispatcher, deadline)
    before = search.before
    best = search.climb()
    kept = best is not before and search.keep(best)
    ranked = sorted((trial for trial in search.measured if trial.times), key=lambda trial: trial.seconds)
    shown = {id(trial): TunedVersion(trial.overrides, trial.seconds, trial is not before) for trial in ranked}
    return Tuning(
        specializer.function.__name__, search.sizes, shown[id(before)], tuple(shown.values()), shown[id(best)], kept,
        search.refused,
    )  # fmt: skip


def _call_otherwise(
    specializer: Specializer, dispatcher: Dispatcher, copies: ArgumentCopies, symbols: tuple[str, ...]
) -> None:
    """Call the program as it is, so that it is compiled, and raise what it raises."""
    values = copies.renewed()
    if dispatcher.dispatch(values) is NotImplemented:
        specializer.run(dispatcher, copies.renewed(), {}, symbols)


def _require_repeatable(lowered: Lowered) -> None:
    """`DcpyError` where calls do more than to compute: to call a program many times would do that many times."""
    if lowered.sdfg.callbacks:
        name = next(iter(lowered.sdfg.callbacks))
        raise DcpyError(f"the program calls the Python function {name!r}, which tuning would call many times")
    if any(isinstance(node, CommNode) for sdfg in lowered.sdfg.with_callees() for node in sdfg.body.walk_nodes()):
        raise DcpyError("the program sends messages: all ranks would have to tune together")


@dataclass
class _Trial:
    """A version, and the seconds that calls of it took."""

    overrides: tuple[str, ...]
    dispatcher: Dispatcher
    artifact: Artifact | None = None
    compiled: Compiled | None = None
    times: list[float] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        return statistics.median(self.times)


class _Search:
    """The search for one call: what was generated, and measured."""

    def __init__(
        self, specializer: Specializer, request: CallRequest, lowered: Lowered, values: tuple[Any, ...],
        copies: ArgumentCopies, dispatcher: Dispatcher, deadline: float,
    ) -> None:  # fmt: skip
        self.specializer, self.request, self.lowered, self.copies = specializer, request, lowered, copies
        self.deadline = deadline
        self.call = call_of(lowered, request.names)
        self.sizes = _sizes(self.call, values)
        self.before = _Trial(specializer.options.overrides, dispatcher)
        self.measured = [self.before]
        self.refused = 0
        self._texts: set[str] = set()
        self._expected = self._results(self.before)

    def climb(self) -> _Trial:
        """The best version found: from one to the best of its neighbours, until none is better, or time is up."""
        best, overrides = self.before, [self.before.overrides, *self._neighbours(self.before.overrides)]
        for _ in range(STEPS):
            fresh = self._compiled([*self._generated(overrides)])
            right = [trial for trial in fresh if self._is_right(trial)]
            self._measure([best, *right])
            self.measured += right
            found = min([best, *right], key=lambda trial: trial.seconds)
            if found is best or found.seconds > best.seconds * WORTH:
                break
            best = found
            overrides = [*self._neighbours(best.overrides)]
        return self._confirmed(best)

    def _confirmed(self, best: _Trial) -> _Trial:
        """The best one, if it is better than what there was, side by side: of many that are alike, one is lucky."""
        if best is not self.before:
            self._measure([self.before, best])
        return best if best.seconds <= self.before.seconds * WORTH else self.before

    def keep(self, best: _Trial) -> bool:
        """Let calls of these sizes run it, and remember it for later processes; whether that was possible."""
        assert best.artifact is not None
        assert best.compiled is not None
        self.specializer.adopt(self.before.dispatcher, best.compiled)
        options, keys = self._options(best.overrides), self.specializer.keys(self.request)
        if not keys.tuned or self.call.arrays:
            return False
        earlier = tuned_versions(keys.tuned, options, keys.codes)
        same = [n for n, loaded in enumerate(earlier) if loaded.signature.args == best.compiled.loaded.signature.args]
        number = same[0] if same else len(earlier)
        if number < MAX_TUNED:
            load(best.artifact, options, program_key=numbered(keys.tuned, number), codes=keys.codes)
        return number < len(tuned_versions(keys.tuned, options, keys.codes))

    def _neighbours(self, overrides: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        options = self._options(overrides)
        machine = target_for(options.device)
        reshaping = [AUTO_OPTIMIZE] if options.auto_optimize else []
        return neighbours(overrides, [*reshaping, machine.passes(options)], machine.costs_for(options))

    def _options(self, overrides: tuple[str, ...]) -> Options:
        return replace(self.specializer.options, overrides=overrides)

    def _generated(
        self, choices: Sequence[tuple[str, ...]]
    ) -> Iterator[tuple[tuple[str, ...], Artifact, CallingInformation]]:
        """The versions that have a text of their own, as long as there is time."""
        for overrides in choices:
            if time.perf_counter() > self.deadline:
                return
            options = self._options(overrides)
            try:
                artifact, call = self._artifact(options)
            except DcpyError:  # it cannot do without this pass
                continue
            text = artifact.key(())
            if text not in self._texts:
                self._texts.add(text)
                yield overrides, artifact, call

    def _artifact(self, options: Options) -> tuple[Artifact, CallingInformation]:
        lowered = replace(self.lowered, sdfg=copy_sdfg(self.lowered.sdfg), better_if=())
        specialize(lowered.sdfg, self.sizes)
        if options.simplify:
            self.specializer.simplify(lowered, options)
        call = call_of(lowered, self.request.names)
        return driver.artifact_of(lowered.sdfg, call.signature, options), call

    def _compiled(self, generated: Sequence[tuple[tuple[str, ...], Artifact, CallingInformation]]) -> list[_Trial]:
        with ThreadPoolExecutor(cores_here()) as pool:
            loaded = list(pool.map(self._load, generated))
        trials = []
        for (overrides, artifact, call), made in zip(generated, loaded, strict=True):
            if made is not None:
                compiled = call.compiled(made)
                parameters = tuple((name,) for name in self.request.names)
                alone = Dispatcher(self.specializer.function.__name__, parameters, _miss)
                alone.add(compiled.encoded())
                trials.append(_Trial(overrides, alone, artifact, compiled))
        return trials

    def _load(self, generated: tuple[tuple[str, ...], Artifact, CallingInformation]) -> Loaded | None:
        overrides, artifact, _ = generated
        return load(artifact, self._options(overrides)) if time.perf_counter() < self.deadline else None

    def _results(self, trial: _Trial) -> tuple[object, tuple[bytes, ...]]:
        """Return the result of a call and the arguments after it, for comparisons to the bit."""
        result = trial.dispatcher.dispatch(self.copies.renewed())
        return NotImplemented if result is NotImplemented else _in_bits(result), self.copies.written()

    def _is_right(self, trial: _Trial) -> bool:
        """Return whether it computes the same. Nothing is known before of what raises: it is no better than another
        one.
        """
        try:
            found = self._results(trial)
        except Exception:
            found = None
        self.refused += found != self._expected
        return found == self._expected

    def _measure(self, trials: Sequence[_Trial]) -> None:
        """Call them in turn, each on arguments as they were; those that are slow are left soon."""
        running = list(trials)
        for trial in running:
            trial.times = []
        for number in range(CALLS):
            for trial in running:
                values = self.copies.renewed()
                start = time.perf_counter()
                trial.dispatcher.dispatch(values)
                trial.times.append(time.perf_counter() - start)
            if number + 1 >= FIRST_CALLS:
                limit = SLOW * min(trial.seconds for trial in running)
                running = [trial for trial in running if trial.seconds <= limit or trial is trials[0]]
                if time.perf_counter() > self.deadline:
                    return


def _miss(values: tuple[Any, ...]) -> Any:
    return NotImplemented


def _sizes(call: CallingInformation, values: tuple[Any, ...]) -> dict[str, int]:
    """The sizes of arrays in a call that are symbols, and no arguments of their own."""
    signature: Signature = call.signature
    known = symbol_values(signature, (*with_parts(values, call.closure), *call.arrays))
    arrays = [arg for arg in signature.args if isinstance(arg, ArrayArg)]
    others = {arg.name for arg in signature.args if isinstance(arg, IntegerArg)}
    others |= {name for arg in arrays for name in filter(None, arg.strides)}
    names = dict.fromkeys(dim.symbol for arg in arrays for dim in arg.dims if dim.symbol)
    return {name: known[name] for name in names if name in known and name not in others}


def _in_bits(value: object) -> object:
    """A result in a form whose equality is that of all bits: NaN is itself, 0.0 is not -0.0."""
    match value:
        case np.ndarray():
            return value.dtype.str, value.shape, value.tobytes()
        case np.generic():
            return value.dtype.str, value.tobytes()
        case float() | complex():
            return np.asarray(value).tobytes()
        case tuple() | list():
            return tuple(map(_in_bits, value))
        case _ if hasattr(value, "__dict__"):
            return type(value), tuple((name, _in_bits(part)) for name, part in vars(value).items())
    return value
