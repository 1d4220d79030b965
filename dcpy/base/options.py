"""The options of dcpy: one frozen tree of values, resolved once at the top and handed down.

The options of each target are a group, in `base.option_groups`, or in the folder of a target that is not dcpy's, which
adds it by `add_group`.

This is the only module that reads the environment: ``DCPY_CPU_COMPILER``, ``DCPY_CACHE_DIR``, … (one variable per
field), and the platform's own ``CXX`` and ``XDG_CACHE_HOME``. (Finding an executable looks at ``PATH``, in
runtime/compilers/toolchain.py, as a shell does.)
"""

from __future__ import annotations

import difflib
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from enum import Enum
from typing import Any, TypeVar

from dcpy.base.errors import DcpyError, UnknownName
from dcpy.base.option_groups.cpu import CpuOptions
from dcpy.base.option_groups.fpga import FpgaOptions
from dcpy.base.option_groups.gpu import GpuOptions
from dcpy.base.option_groups.ranks import RankOptions
from dcpy.base.registry import Registry

PREFIX = "DCPY_"
YES = ("1", "true", "yes", "on")
NO = ("0", "false", "no", "off")

G = TypeVar("G")

#: groups of targets that `Options` has no field for; a name here is that of a device, too
ADDED_GROUPS: Registry[type] = Registry("group of options")


class DeviceType(Enum):
    """Device on which a program runs. `named` adds one, for a target that is not dcpy's."""

    CPU = "cpu"
    GPU = "gpu"
    FPGA = "fpga"

    @classmethod
    def named(cls, name: str) -> DeviceType:
        """Return the device of a name; a new name makes a new device."""
        if name in cls._value2member_map_:
            return cls(name)
        if name not in _OTHER_DEVICES:
            made = object.__new__(cls)
            made._name_, made._value_ = name.upper(), name
            _OTHER_DEVICES[name] = made
        return _OTHER_DEVICES[name]

    @classmethod
    def _missing_(cls, value: object) -> DeviceType | None:
        name = str(value)
        return cls.named(name) if name in ADDED_GROUPS else _OTHER_DEVICES.get(name)


_OTHER_DEVICES: dict[str, DeviceType] = {}


class IntOverflow(Enum):
    """Behaviour of a Python integer that 64 bits do not hold."""

    RAISE = "raise"
    WRAP = "wrap"


@dataclass(frozen=True, slots=True)
class Options(RankOptions):
    """Everything a user can set."""

    cpu: CpuOptions = field(default_factory=CpuOptions)
    gpu: GpuOptions = field(default_factory=GpuOptions)
    fpga: FpgaOptions = field(default_factory=FpgaOptions)
    device: DeviceType = DeviceType.CPU  #: device to compile for: ``cpu``, ``gpu`` or ``fpga``
    dump: str = ""  #: folder for the text of each program after each pass, and for the generated code; empty: none
    cache_dir: str = ""  #: folder of compiled programs; empty: dcpy's folder in the user's cache folder
    simplify: bool = True  #: run the simplify pass on every program
    auto_optimize: bool = False  #: run the optimizer too
    overrides: tuple[str, ...] = ()  #: decisions set by hand: ``tile=64``, ``map-fusion=off`` (`program.tune`)
    convert: bool = False  #: read arrays of other libraries on the CPU in place, as NumPy's; results are NumPy's
    allow_callbacks: bool = False  #: call functions that dcpy does not support in Python
    int_overflow: IntOverflow = IntOverflow.RAISE  #: Python ints beyond 64 bits: ``raise`` OverflowError, or ``wrap``
    distributed: bool = False  #: calls are collective, on distributed arrays
    check_races: bool = False  #: interpret calls, slowly, and report races between iterations of dcpy.map
    full_tracebacks: bool = False  #: show dcpy's own frames in tracebacks
    disable: bool = False  #: run programs as plain Python, to debug them (also `with dcpy.disable():`)
    check: bool = False  #: verify the SDFG after every transformation
    added: tuple[Any, ...] = ()  # groups of ADDED_GROUPS that are not the defaults

    def group(self, kind: type[G]) -> G:
        """The options of one target, by the class of its group."""
        set_ones = (self.cpu, self.gpu, self.fpga, *self.added)
        return next((group for group in set_ones if type(group) is kind), None) or kind()

    def with_group(self, group: Any) -> Options:
        """Return these options with another group of its class."""
        kind = type(group)
        for name, own in OWN_GROUPS.items():
            if own is kind:
                return replace(self, **{name: group})
        others = tuple(one for one in self.added if type(one) is not kind)
        return replace(self, added=others if group == kind() else (*others, group))


#: fields of `Options` that hold groups
OWN_GROUPS = {"cpu": CpuOptions, "gpu": GpuOptions, "fpga": FpgaOptions}


def group_kinds() -> dict[str, type]:
    """The classes of all groups, by the word before the dot."""
    return {**OWN_GROUPS, **{name: ADDED_GROUPS[name] for name in ADDED_GROUPS}}


def plain_fields(kind: type) -> list[str]:
    """Names of the options that a class declares itself: no groups, and none of a class that it is derived from."""
    return [name for name in kind.__annotations__ if name not in OWN_GROUPS and name != "added"]


def add_group(name: str, kind: type) -> None:
    """Add the options of a target as ``NAME.option``, ``NAME_option=`` and ``DCPY_NAME_OPTION``.

    `kind` is a frozen dataclass, whose fields are switches, numbers, texts, tuples of texts or enumerations, and have
    defaults. Raises `DcpyError` for another class, or where an option has the name of another one.
    """
    if name in ADDED_GROUPS and ADDED_GROUPS[name] is kind:
        return
    if not is_dataclass(kind) or not kind.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        raise DcpyError(f"the options of {name!r} are {kind.__name__}, which is no frozen dataclass")
    for f in fields(kind):
        if f.default is MISSING or not isinstance(f.default, bool | int | str | tuple | Enum):
            raise DcpyError(
                f"the option {f.name!r} of {name!r} has no default that can be read from a text",
                help="give it a bool, an int, a str, a tuple of str or a member of an enumeration",
            )
    keywords = {option.replace(".", "_") for option in option_names()}
    taken = [f.name for f in fields(kind) if f"{name}_{f.name}" in keywords]
    if taken:
        raise DcpyError(f"there is an option {name}_{taken[0]} already", help="choose another name for it")
    ADDED_GROUPS.add(name, kind)


#: variables that launchers of MPI programs set for the processes that they start: Open MPI, MPICH and Intel MPI, Slurm
LAUNCHERS = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS", "PMIX_RANK")


def launched_by_mpi(environ: Mapping[str, str] | None = None) -> bool:
    """Return whether this process is a rank of several, as its launcher says."""
    return any(name in (os.environ if environ is None else environ) for name in LAUNCHERS)


def environment_of_ranks(count: int, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment in which a launcher of MPI starts `count` ranks on this machine; what the user has set stays.

    Open MPI refuses to run as root, and more ranks than cores, unless it is told to. The cores are divided by the
    ranks.
    """
    known = dict(os.environ if environ is None else environ)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    found = {"OMP_NUM_THREADS": str(max(cores // max(count, 1), 1))}
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        found |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    if count > cores:
        found["PRTE_MCA_rmaps_default_mapping_policy"] = ":oversubscribe"
    return found | known


class InvalidOption(DcpyError, ValueError):
    """An option has a value that does not fit its type."""

    code = "base.invalid-option"

    __str__ = DcpyError.__str__


def option_names() -> tuple[str, ...]:
    """All dotted names: ``cpu.compiler``, …, ``cache_dir``, …"""
    return tuple(_dotted(Options()))


def resolve_options(
    overrides: Mapping[str, object] | None = None,
    *,
    base: Options | None = None,
    environ: Mapping[str, str] | None = None,
) -> Options:
    """Defaults, then the environment, then `overrides` by dotted name (``{"cpu.openmp": False}``).

    With `base` the first two steps are skipped: a call's options on top of the decorator's. Raises `UnknownName` and
    `InvalidOption`.
    """
    options = base if base is not None else _from_environment(os.environ if environ is None else environ)
    for name, value in (overrides or {}).items():
        options = _with(options, name, value, source=f"option {name!r}")
    return options


def _from_environment(environ: Mapping[str, str]) -> Options:
    options = Options(cache_dir=_platform_cache(environ))
    if environ.get("CXX"):
        options = _with(options, "cpu.compiler", environ["CXX"], source="CXX")
    names = {f"{PREFIX}{name.replace('.', '_').upper()}": name for name in option_names()}
    for variable in sorted(v for v in environ if v.startswith(PREFIX)):
        if variable in names:
            options = _with(options, names[variable], environ[variable], source=variable)
        else:
            _remark_unknown(variable, tuple(names))
    return options


_remarked: set[str] = set()


def _remark_unknown(variable: str, known: tuple[str, ...]) -> None:
    """Say once that a variable with our prefix is no option of dcpy's: it may be misspelt, or another program's."""
    if variable in _remarked:
        return
    _remarked.add(variable)
    near = _near(variable.removeprefix(PREFIX), [name.removeprefix(PREFIX) for name in known])
    hint = f": did you mean {PREFIX}{near}?" if near else "; docs/reference/options.md lists those that are"
    message = f"environment variable {variable} is ignored: it is no option of dcpy{hint}"
    warnings.warn_explicit(message, RuntimeWarning, "<environment>", 0)


def _platform_cache(environ: Mapping[str, str]) -> str:
    """The XDG convention; a relative path there is to be ignored, says its specification."""
    root = environ.get("XDG_CACHE_HOME", "")
    return os.path.join(root if os.path.isabs(root) else os.path.expanduser("~/.cache"), "dcpy")


def _dotted(options: Options) -> dict[str, object]:
    found: dict[str, object] = {}
    for group, kind in group_kinds().items():
        values: Any = options.group(kind)
        found |= {f"{group}.{f.name}": getattr(values, f.name) for f in fields(kind)}
    return found | {name: getattr(options, name) for one in (Options, RankOptions) for name in plain_fields(one)}


def _with(options: Options, name: str, value: object, *, source: str) -> Options:
    known = _dotted(options)
    as_keyword = {dotted.replace(".", "_"): dotted for dotted in known}
    name = as_keyword.get(name, name)
    if name not in known:
        raise _unknown(f"option {name!r}", name, tuple(as_keyword))
    converted = _convert(value, type(known[name]), source)
    group, _, leaf = name.rpartition(".")
    if not group:
        return replace(options, **{leaf: converted})  # type: ignore[arg-type]
    return options.with_group(replace(options.group(group_kinds()[group]), **{leaf: converted}))


#: options of Numba, JAX and Pythran, by the names that their users know, and what dcpy has
_OF_OTHERS = {
    "parallel": "leave it out: programs use all cores, and cpu_openmp=False turns threads off",
    "nopython": "leave it out: all of a program is compiled, or it is refused",
    "cache": "leave it out: compiled programs are always kept on disk",
    "nogil": "leave it out: compiled code runs without Python's lock",
    "fastmath": "write cpu_fast_math=True (or gpu_fast_math=True)",
    "target": "write device=dcpy.DeviceType.GPU, CPU or FPGA",
    "backend": "write device=dcpy.DeviceType.GPU, CPU or FPGA",
    "static_argnums": "annotate such a parameter: n: dcpy.compiletime",
    "static_argnames": "annotate such a parameter: n: dcpy.compiletime",
}


def _unknown(what: str, name: str, known: tuple[str, ...]) -> UnknownName:
    near = "" if name in _OF_OTHERS else _near(name, known)
    all_of_them = f"there are {', '.join(known)}"
    if name in _OF_OTHERS:
        return UnknownName(f"{what} is not known", notes=(all_of_them,), help=_OF_OTHERS[name])
    if not near:
        return UnknownName(f"{what} is not known", help=all_of_them)
    return UnknownName(f"{what} is not known", notes=(all_of_them,), help=f"did you mean {near}?")


def _near(name: str, known: Sequence[str]) -> str:
    return next(iter(difflib.get_close_matches(name, known, n=1)), "")


def _member(kind: type[Enum], word: str) -> Enum | None:
    try:
        return kind(word)
    except ValueError:
        return None


def _convert(value: object, kind: type, source: str) -> object:
    """`value` as `kind`; texts, as the environment has them, are read: ``1``, ``yes``, ``-O2 -g``."""
    if isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
        return value
    if kind is tuple and isinstance(value, list):
        return tuple(map(str, value))
    if isinstance(value, str):
        if issubclass(kind, Enum) and (chosen := _member(kind, value.lower())) is not None:
            return chosen
        if kind is tuple:
            return tuple(value.split())
        if kind is bool and value.lower() in YES + NO:
            return value.lower() in YES
        if kind is int and value.removeprefix("-").isdecimal():
            return int(value)
    needed = " or ".join(repr(one.value) for one in kind) if issubclass(kind, Enum) else kind.__name__
    raise InvalidOption(f"{source} is {value!r}, but {needed} is needed")
