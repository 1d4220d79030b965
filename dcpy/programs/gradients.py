"""Derivatives of programs, as users ask for them: `grad`, `value_and_grad`, `vjp`, `jvp`.

Each takes a NumPy function or a program, and returns a callable that compiles at its first call with new types.
The transformations are in `dcpy.autodiff`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dcpy import driver, plugins
from dcpy.api import Program, program
from dcpy.base.errors import ArgumentError, GradientRefused
from dcpy.base.internal_errors import faults_reported
from dcpy.base.tracebacks import own_frames_hidden
from dcpy.ir.interp.running import symbols_of
from dcpy.programs.sdfgs import SDFG, CompiledSdfg

Names = str | int | Sequence[str | int]


@dataclass(frozen=True)
class DerivativeVersion:
    """Machine code for arguments of some types: where its arguments come from, and what it knows as constants."""

    compiled: CompiledSdfg
    sources: tuple[tuple[bool, str], ...]
    constants: Mapping[str, Any]
    dtypes: Mapping[str, np.dtype[Any]]
    notes: Any

    def is_for(self, bound: Mapping[str, Any]) -> bool:
        """Return whether the arguments that are part of the code have the values that it was made for."""
        return all(bound[name] is value or bound[name] == value for name, value in self.constants.items())

    def values(self, bound: Mapping[str, Any], more: Mapping[str, Any]) -> tuple[Any, ...]:
        """The arguments of the machine code in order."""
        return tuple(
            _converted(more[name], self.dtypes[name]) if is_added else bound[name] for is_added, name in self.sources
        )


class DerivativeProgram:
    """Common base of derivatives: a version for each way in which types and sizes of arguments are related.

    Attributes
    ----------
    program
        The program that is differentiated.
    wrt
        The names of the arguments by which it is, or None: the only floating-point one.
    """

    def __init__(self, function: Callable[..., Any], wrt: Names | None) -> None:
        self.program = function if isinstance(function, Program) else program(function)
        if not isinstance(self.program, Program):
            raise ArgumentError(f"{function!r} is no function of a module: methods are not differentiated yet",
                                help="write it as a function of arrays")  # fmt: skip
        self.name = self.program.function.__name__
        options = replace(self.program.options, auto_optimize=False)  # the gradient is optimized, not what it is of
        self._plain: Program[..., Any] = Program(
            self.program.function, options, use_annotations=self.program.uses_annotations
        )
        self._signature = inspect.signature(self.program.function)
        self.wrt = None if wrt is None else tuple(self._name(one) for one in _listed(wrt))
        self._versions: dict[Any, list[Any]] = {}

    def _name(self, one: str | int) -> str:
        names = list(self._signature.parameters)
        if isinstance(one, int) and -len(names) <= one < len(names):
            return names[one]
        if one not in names:
            raise ArgumentError(f"{self.name}() has no argument {one!r}",
                                help=f"there are {', '.join(names)}")  # fmt: skip
        return str(one)

    def _bound(self, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
        call = self._signature.bind(*arguments, **named)
        call.apply_defaults()
        return dict(call.arguments)

    def _chosen(self, bound: Mapping[str, Any]) -> tuple[str, ...]:
        """The arguments to differentiate by; `ArgumentError` and `TypeError` where they do not fit."""
        floats = [name for name, value in bound.items() if _is_inexact(value)]
        if self.wrt is None:
            if len(floats) != 1:
                raise ArgumentError(
                    f"{self.name}() has {len(floats) or 'no'} floating-point arguments",
                    help=f"say by which: wrt={floats[0]!r}, or several of {', '.join(floats)}"
                    if floats
                    else "pass floating-point numbers: x.astype(np.float64)",
                )
            return tuple(floats)
        for name in self.wrt:
            if name not in floats:
                kind = getattr(bound[name], "dtype", type(bound[name]).__name__)
                raise ArgumentError(f"argument {name!r} is no floating-point number or array, but {kind}",
                                    help=f"convert it to float64: {name}.astype(np.float64)")  # fmt: skip
        return self.wrt

    def _base_sdfg(self, bound: Mapping[str, Any]) -> SDFG:
        """The SDFG of the version that a call with these values runs, in simple form."""
        plugins.load()
        call = self._signature.bind_partial()
        call.arguments.update(bound)
        sdfg = self._plain.to_sdfg(*call.args, **call.kwargs, as_called=True, simplify=True)
        if sdfg.convention is not None:
            raise GradientRefused(f"{self.name}() takes or returns objects, tuples or lists of its arguments",
                                  span=sdfg.span, help="pass their arrays as arguments")  # fmt: skip
        if strange := [name for name in sdfg.arguments if name not in bound]:
            raise GradientRefused(f"{self.name}() reads the global array {strange[0]!r}", span=sdfg.span,
                                  help="pass it as an argument")  # fmt: skip
        return sdfg

    def _run(self, bound: dict[str, Any], key: Any, more: Mapping[str, Any]) -> tuple[Any, Any]:
        """Call the version that fits, or a new one; return what it was made with, and the result.

        `more` are arguments beside those of the function, by the names in `DerivativeVersion.added`.
        """
        kinds = tuple(_kind(value) for value in (*bound.values(), *more.values()))
        versions = self._versions.setdefault((key, tuple(more), kinds), [])
        for version in versions:
            if version.is_for(bound):
                result = version.compiled.dispatch(version.values(bound, more))
                if result is not NotImplemented:
                    return version.notes, result
        sdfg, added, notes = self._transformed(bound, key, tuple(more))
        sources = tuple((name in added, added.get(name, name)) for name in sdfg.arguments)
        dtypes = {name: sdfg.desc(argument).dtype.numpy for argument, name in added.items()}
        constants = {name: value for name, value in bound.items() if (False, name) not in sources}
        compiled = CompiledSdfg(self._optimized(sdfg), self.program.options)
        version = DerivativeVersion(compiled, sources, constants, dtypes, notes)
        versions.append(version)
        return notes, version.compiled(*version.values(bound, more))

    def _transformed(self, bound: dict[str, Any], key: Any, more: tuple[str, ...]) -> tuple[SDFG, dict[str, str], Any]:
        """The SDFG, the arguments that were added to it with the names that a call has for them, and what to note."""
        raise NotImplementedError

    def _optimized(self, sdfg: SDFG) -> SDFG:
        driver.simplify(sdfg)
        if self.program.options.auto_optimize:
            driver.auto_optimize(sdfg)
        return sdfg


class TangentProgram(DerivativeProgram):
    """A program with its tangents; see `jvp`."""

    @own_frames_hidden
    def __call__(self, *arguments: Any, tangents: Any = None, **named: Any) -> tuple[Any, Any]:
        """Call the function; return what it returns, and the tangents."""
        bound = self._bound(arguments, named)
        chosen = self._chosen(bound)
        given = _by_argument(tangents, chosen, "tangents")
        seeds = {name: _like(given[name], bound[name], name) for name in chosen}
        updated, (outs, (of_outs, of_updated)) = self._run(bound, chosen, seeds)
        if not updated:
            return outs, of_outs
        return outs, {"return": of_outs, **dict(zip(updated, of_updated, strict=True))}

    @own_frames_hidden
    def to_sdfg(self, *arguments: Any, **named: Any) -> SDFG:
        """The SDFG with tangents for calls with these arguments, before it is optimized."""
        bound = self._bound(arguments, named)
        chosen = self._chosen(bound)
        return self._transformed(bound, chosen, chosen)[0]

    @faults_reported
    def _transformed(self, bound: dict[str, Any], key: Any, more: tuple[str, ...]) -> tuple[SDFG, dict[str, str], Any]:
        from dcpy.autodiff.forward import forward_mode

        sdfg = self._base_sdfg(bound)
        made = forward_mode(sdfg, key)
        return sdfg, {dot: name for name, dot in made.arguments.items()}, made.updated


@own_frames_hidden
def jvp(function: Callable[..., Any], wrt: Names | None = None) -> TangentProgram:
    """The derivative of a program along a direction: ``outs, tangents = jvp(f, wrt="x")(x, tangents=v)``.

    Parameters
    ----------
    function
        A NumPy function, or a program.
    wrt
        Arguments to differentiate by, by name or position; default: the only floating-point one.

    Returns
    -------
    TangentProgram
        It takes the arguments of `function`, and `tangents`: an array like the argument, or a dictionary of these by
        name. It returns the pair of what `function` returns and of the tangents of that, in the same structure: None
        for what is no floating-point number. Where `function` updates floating-point arguments, tangents are a
        dictionary: of the returned value under ``"return"``, of each updated argument under its name.

    Raises
    ------
    ArgumentError
        `wrt` names no floating-point argument, or tangents do not fit it.
    GradientRefused
        At a call: the program does something whose derivative is not known; the help says what to write instead.

    Notes
    -----
    Derivatives are those of the path taken by branches, masks and sorting; at kinks see `dcpy.ir.expressions.partials`.
    Forward accumulation: Griewank and Walther, Evaluating Derivatives (2008), chapter 3.
    """
    return TangentProgram(function, wrt)


class AdjointProgram(DerivativeProgram):
    """A program with its gradients; see `grad`, `value_and_grad` and `vjp`."""

    def __init__(self, function: Callable[..., Any], wrt: Names | None, *, seeded: bool, with_value: bool) -> None:
        super().__init__(function, wrt)
        self._is_seeded, self._with_value = seeded, with_value
        self._is_single = wrt is None or isinstance(wrt, str | int)

    @own_frames_hidden
    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call the function; return the gradients, with what it returns if that is asked for."""
        given = named.pop("seeds", None) if self._is_seeded else None
        bound = self._bound(arguments, named)
        chosen = self._chosen(bound)
        _require_apart(bound, chosen)
        _, (outs, gradients) = self._run(bound, chosen, self._seeds(bound, given))
        found = gradients[0] if self._is_single else gradients
        return (outs, found) if self._with_value else found

    def _seeds(self, bound: Mapping[str, Any], given: Any) -> dict[str, Any]:
        """Seeds by the name of an updated argument, or of a result: ``return``, ``return[1]``."""
        if not self._is_seeded:
            return {}
        if given is None:
            raise ArgumentError(f"{self.name}() has no seeds", help="pass seeds=, an array like what it returns, or a "
                                "dictionary of these: by 'return', and by the names of updated arguments")  # fmt: skip
        found: dict[str, Any] = {}
        for name, seed in (given if isinstance(given, Mapping) else {"return": given}).items():
            if name == "return":
                items = seed if isinstance(seed, tuple) else (seed,)
                found |= {f"return[{place}]": np.asarray(item) for place, item in enumerate(items) if item is not None}
            elif name not in bound or not _is_inexact(bound[name]) or not isinstance(bound[name], np.ndarray):
                raise ArgumentError(f"a seed for {name!r}, which is no floating-point array that is passed",
                                    help="seeds are for 'return', and for arrays that are updated")  # fmt: skip
            else:
                found[name] = _like(seed, bound[name], name)
        return found

    @own_frames_hidden
    def to_sdfg(self, *arguments: Any, **named: Any) -> SDFG:
        """The SDFG with gradients for calls with these arguments (and `seeds`), before it is optimized."""
        given = named.pop("seeds", None) if self._is_seeded else None
        bound = self._bound(arguments, named)
        return self._transformed(bound, self._chosen(bound), tuple(self._seeds(bound, given)))[0]

    @faults_reported
    def _transformed(self, bound: dict[str, Any], key: Any, more: tuple[str, ...]) -> tuple[SDFG, dict[str, str], Any]:
        from dcpy.autodiff.reverse.mode import reverse_mode

        sdfg = self._base_sdfg(bound)
        seeded = [name for name in more if not name.startswith("return[")]
        sizes = symbols_of(sdfg, {name: value for name, value in bound.items() if name in sdfg.arguments}, {})
        made = reverse_mode(sdfg, key, results=self._seeded_results(sdfg, more), seeded=seeded, sizes=sizes)
        added = {argument: name for name, argument in made.arguments.items()}
        returned = [name for name in more if name.startswith("return[")]
        return sdfg, added | dict(zip(made.results, returned, strict=True)), None

    def _seeded_results(self, sdfg: SDFG, more: tuple[str, ...]) -> Sequence[int] | None:
        """The results that have a seed, by position; None: the only one is a number with seed 1."""
        if not self._is_seeded:
            return None
        known = sdfg.structure if isinstance(sdfg.structure, tuple) else (sdfg.structure,)
        found: list[int] = []
        for place in (int(name[7:-1]) for name in more if name.startswith("return[")):
            number = known[place] if place < len(known) else None
            container = sdfg.results[number].container if isinstance(number, int) else ""
            if not container or not sdfg.desc(container).dtype.is_inexact:
                raise ArgumentError(f"a seed for result {place} of {self.name}(), which is no floating-point number",
                                    help="pass None in its place")  # fmt: skip
            assert isinstance(number, int)
            found.append(number)
        return found


@own_frames_hidden
def grad(function: Callable[..., Any], wrt: Names | None = None) -> AdjointProgram:
    """The gradient of a program that returns one real number: ``grad(loss, wrt="u")(T, u, c)``.

    Parameters
    ----------
    function
        A NumPy function, or a program.
    wrt
        Arguments to differentiate by, by name or position; default: the only floating-point one.

    Returns
    -------
    AdjointProgram
        It takes the arguments of `function`, does what that does to them, and returns the gradient by their values at
        entry: a fresh array of the argument's shape and dtype, a tuple of these where `wrt` is a list.

    Raises
    ------
    ArgumentError
        `wrt` names no floating-point argument.
    GradientRefused
        At a call: the program does something whose gradient is not known; the help says what to write instead.
    ValueError
        At a call: two arguments in `wrt` overlap in memory.

    Notes
    -----
    Reverse accumulation: Griewank and Walther, Evaluating Derivatives (2008), chapters 3 and 4. Derivatives are those
    of the path taken; at kinks see `dcpy.ir.expressions.partials`.
    """
    return AdjointProgram(function, wrt, seeded=False, with_value=False)


@own_frames_hidden
def value_and_grad(function: Callable[..., Any], wrt: Names | None = None) -> AdjointProgram:
    """The value and the gradient of a program that returns one real number: ``value, du = value_and_grad(loss)(u)``.

    Parameters, errors and gradients are those of `grad`. ``scipy.optimize.minimize(value_and_grad(f), x0, jac=True)``
    takes it as it is.
    """
    return AdjointProgram(function, wrt, seeded=False, with_value=True)


@own_frames_hidden
def vjp(function: Callable[..., Any], wrt: Names | None = None) -> AdjointProgram:
    """The products of seeds with the derivatives of a program: ``outs, grads = vjp(f, wrt="x")(x, seeds=w)``.

    Parameters, errors and gradients are those of `grad`; `function` may return several arrays, and update arguments.
    `seeds` is an array like the returned value, a tuple of these, or a dictionary: of the returned value under
    ``"return"``, of an updated argument under its name, for its value at exit. What has none has the seed 0.
    """
    return AdjointProgram(function, wrt, seeded=True, with_value=True)


# -- arguments -------------------------------------------------------------------------------------------------------


def _listed(names: Names) -> Sequence[str | int]:
    return (names,) if isinstance(names, str | int) else tuple(names)


def _is_inexact(value: Any) -> bool:
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind in "fc"
    return isinstance(value, float | complex)


def _kind(value: Any) -> object:
    """The type of an argument as far as code differs by it."""
    if isinstance(value, np.ndarray):
        return value.dtype, value.ndim
    return type(value)


def _by_argument(given: Any, chosen: tuple[str, ...], what: str) -> Mapping[str, Any]:
    """Values by argument: a dictionary as it is, a single one for a single argument."""
    found: Mapping[str, Any] = (
        given
        if isinstance(given, Mapping)
        else dict(zip(chosen, (given,) if len(chosen) == 1 else given or (), strict=False))
    )
    if missing := [name for name in chosen if found.get(name) is None]:
        raise ArgumentError(f"no {what} for the argument {missing[0]!r}",
                            help=f"pass {what}={{{missing[0]!r}: an array like it}}")  # fmt: skip
    if unknown := [name for name in found if name not in chosen]:
        raise ArgumentError(f"{what} for {unknown[0]!r}, by which is not differentiated",
                            help=f"there are {', '.join(chosen)}")  # fmt: skip
    return found


def _like(value: Any, of: Any, name: str) -> Any:
    """A tangent or seed in the dtype of what it belongs to; `ArgumentError` where the shapes differ."""
    dtype, shape = np.result_type(of), np.shape(of)
    made = np.ascontiguousarray(value, dtype).reshape(np.shape(value))
    if made.shape != shape:
        raise ArgumentError(f"the tangent or seed of {name!r} has the shape {made.shape}, not {shape}")
    if isinstance(of, np.ndarray):
        return made
    return made[()] if isinstance(of, np.generic) else made.item()


def _converted(value: Any, dtype: np.dtype[Any]) -> Any:
    """A tangent or seed in the dtype of what it belongs to; of a number, a number."""
    if isinstance(value, np.ndarray):
        return np.ascontiguousarray(value, dtype).reshape(value.shape) if value.ndim else dtype.type(value).item()
    return value


def _require_apart(bound: Mapping[str, Any], chosen: tuple[str, ...]) -> None:
    arrays = [name for name in chosen if isinstance(bound[name], np.ndarray)]
    for place, name in enumerate(arrays):
        for other in arrays[place + 1 :]:
            if np.may_share_memory(bound[name], bound[other]):
                raise ValueError(f"{name!r} and {other!r} overlap in memory: the gradient is by each of them alone")
