"""The options of dcpy: one frozen tree of values, resolved once at the top and handed down.

This is the only module that reads the environment: ``DCPY_CPU_COMPILER``, ``DCPY_CACHE_DIR``, … (one variable per
field), and the platform's own ``CXX`` and ``XDG_CACHE_HOME``. (Finding an executable looks at ``PATH``, in
runtime/toolchain.py, as a shell does.)
"""

from __future__ import annotations

import difflib
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import Enum
from typing import Any

from dcpy.base.errors import DcpyError, UnknownName

PREFIX = "DCPY_"
YES = ("1", "true", "yes", "on")
NO = ("0", "false", "no", "off")


class DeviceType(Enum):
    """Where a program runs."""

    CPU = "cpu"
    GPU = "gpu"
    FPGA = "fpga"


class IntOverflow(Enum):
    """What becomes of an integer of Python's own that 64 bits do not hold."""

    RAISE = "raise"
    WRAP = "wrap"


class Language(Enum):
    """What programs for CPUs are printed in."""

    CPP = "c++"
    C = "c"


class Backend(Enum):
    """What runs the kernels of programs for GPUs."""

    AUTO = "auto"
    CUDA = "cuda"
    HIP = "hip"
    SIMULATOR = "simulator"


class Replicas(Enum):
    """What calls of all ranks compare of arrays that each rank has as a whole."""

    SAMPLE = "sample"
    ALL = "all"
    OFF = "off"


class Failures(Enum):
    """When a check that failed on a device is told."""

    EXACT = "exact"
    DEFERRED = "deferred"


class Vendor(Enum):
    """Whose tools make hardware of a program."""

    XILINX = "xilinx"
    INTEL = "intel"


class FpgaMode(Enum):
    """What runs a program for FPGAs."""

    SIMULATE = "simulate"
    EMULATE = "emulate"
    HARDWARE = "hardware"


@dataclass(frozen=True, slots=True)
class CpuOptions:
    """Settings of the ``cpu`` target."""

    compiler: str = "auto"  #: executable, or ``auto``: g++, clang++, g++-13, clang++-19, … on PATH
    flags: tuple[str, ...] = ("-O3", "-march=native")  #: for the compiler; they come last, and win
    language: Language = Language.CPP  #: that programs are printed in: ``c++``, or ``c`` (not all programs)
    openmp: bool = True  #: honour ``parallel`` schedules
    fast_math: bool = False  #: may change results in the last bits, and NaN and infinities; off by default
    bounds_check: bool = True  #: an index that cannot be proved in range is checked where it is used


@dataclass(frozen=True, slots=True)
class GpuOptions:
    """Settings of the ``gpu`` target."""

    backend: Backend = Backend.AUTO  #: ``cuda``, ``hip``, ``auto`` (what is there), or ``simulator`` (no device)
    arch: str = ""  #: the chip that kernels are compiled for, as ``sm_90`` or ``gfx90a``; empty: that of the device
    driver: str = ""  #: file of the driver's library; empty: the system's libcuda.so.1 or libamdhip64.so
    fast_math: bool = False  #: may change results in the last bits, and NaN and infinities; off by default
    fma: bool = False  #: a product and a sum may be rounded once; off: elementwise results are NumPy's
    deterministic: bool = True  #: results have the same bits each time: no sums of floats in the order of threads
    max_workspace: int = -1  #: bytes of its memory that a program keeps between calls; below 0: all that a call needed
    graphs: bool = True  #: a loop of launches is recorded as a graph, which the device gets in one call
    libraries: bool = True  #: products, solvers and transforms call the vendor's libraries that are installed
    errors: Failures = Failures.EXACT  #: a failed check is raised by its call, or (`deferred`) by a later one
    profile: bool = False  #: kernels are timed, by events of the device: `program.kernel_times()`
    warp: int = 32  #: threads of a warp in the simulator: 32 or 64
    seed: int = 0  #: of the order in which the simulator runs blocks and threads; 0: the natural one
    hooks: bool = False  #: the simulator looks at each access to memory: races, and bytes moved; slow


@dataclass(frozen=True, slots=True)
class FpgaOptions:
    """Settings of the ``fpga`` target."""

    vendor: Vendor = Vendor.XILINX  #: whose tools take the text: ``xilinx``, or ``intel``
    mode: FpgaMode = FpgaMode.SIMULATE  #: ``simulate`` on this machine, ``emulate`` by the vendor's tools, ``hardware``
    program: str = ""  #: file of the bitstream for ``hardware`` (.xclbin, .aocx), or that of Vitis for ``emulate``
    library: str = ""  #: file of the OpenCL library; empty: Intel's emulator, or the system's libOpenCL.so.1
    watchdog: int = 60  #: seconds after which kernels on a board, or in an emulator, are taken to hang
    platform: str = "u250"  #: the board that `explain` computes with: ``u250``, ``u280``, ``s10``, ``a10``
    banks: str = ""  #: of the board's memory that arrays are in: ``x=ddr 1, A=hbm 0:4 axis 1``; others are spread
    steps: int = 1  #: time steps of a stencil that are one chain, which reads and writes the grid once
    lanes: int = 1  #: elements of a token at most, a power of two; 0: as many as the board's port moves in a cycle
    systolic: bool = False  #: products of matrices are systolic arrays, where the number of terms is a number
    pes: int = 0  #: processing elements of such an array; 0: as many as are of use, and as the board has DSPs for


@dataclass(frozen=True, slots=True)
class Options:
    """Everything a user can set."""

    cpu: CpuOptions = field(default_factory=CpuOptions)
    gpu: GpuOptions = field(default_factory=GpuOptions)
    fpga: FpgaOptions = field(default_factory=FpgaOptions)
    device: DeviceType = DeviceType.CPU  #: that programs are compiled for: ``cpu``, ``gpu`` or ``fpga``
    dump: str = ""  #: folder for the text of each program after each pass, and what is generated; empty: none
    cache_dir: str = ""  #: folder of compiled programs; empty: dcpy's folder in the user's cache folder
    simplify: bool = True  #: run the simplify pass on every program
    auto_optimize: bool = False  #: run the auto-optimizer too
    overrides: tuple[str, ...] = ()  #: decisions taken by hand: ``tile=64``, ``map-fusion=off`` (`program.tune`)
    allow_callbacks: bool = False  #: functions that dcpy does not take are called in Python
    int_overflow: IntOverflow = IntOverflow.RAISE  #: Python's ints beyond 64 bits: ``raise`` OverflowError, or ``wrap``
    distributed: bool = False  #: calls are of all ranks, on arrays whose parts they have
    scalapack: str = ""  #: files of ScaLAPACK and of what it needs, ``:`` between; empty: MKL or the system; or ``off``
    halo_steps: int = 0  #: iterations between two messages to neighbours; 0: as takes least; -1: each map gets its own
    halo_overlap: bool = False  #: elements of neighbours arrive while what needs none is computed
    check_replicas: Replicas = Replicas.SAMPLE  #: of arrays on all ranks, ``sample``, ``all`` or ``off`` is compared
    check_messages: bool = False  #: ranks compare collectives of the local view before they begin
    ranks_timeout: int = 0  #: seconds after which a call of all ranks ends the job, and says where each is; 0: never
    check_races: bool = False  #: calls are interpreted, slowly, and report races between iterations of dcpy.map
    full_tracebacks: bool = False  #: errors show the frames of dcpy's own, too
    check: bool = False  #: verify the SDFG after every transformation


#: what launchers of MPI programs tell the processes that they start: Open MPI, MPICH and Intel MPI, Slurm
LAUNCHERS = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS", "PMIX_RANK")


def launched_by_mpi(environ: Mapping[str, str] | None = None) -> bool:
    """Whether this process is a rank of several, as its launcher says."""
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


def _dotted(node: Any, prefix: str = "") -> dict[str, object]:
    found: dict[str, object] = {}
    for f in fields(node):
        value = getattr(node, f.name)
        found |= _dotted(value, f"{prefix}{f.name}.") if is_dataclass(value) else {prefix + f.name: value}
    return found


def _with(options: Options, name: str, value: object, *, source: str) -> Options:
    known = _dotted(options)
    if name not in known:
        raise _unknown(f"option {name!r}", name, tuple(known))
    converted = _convert(value, type(known[name]), source)
    group, _, leaf = name.rpartition(".")
    if not group:
        return replace(options, **{leaf: converted})  # type: ignore[arg-type]
    return replace(options, **{group: replace(getattr(options, group), **{leaf: converted})})


def _unknown(what: str, name: str, known: tuple[str, ...]) -> UnknownName:
    near = _near(name, known)
    all_of_them = f"there are {', '.join(known)}"
    if not near:
        return UnknownName(f"{what} is not known", help=all_of_them)
    return UnknownName(f"{what} is not known", notes=(all_of_them,), help=f"did you mean {near}?")


def _near(name: str, known: Sequence[str]) -> str:
    return next(iter(difflib.get_close_matches(name, known, n=1)), "")


def _convert(value: object, kind: type, source: str) -> object:
    """`value` as `kind`; texts, as the environment has them, are read: ``1``, ``yes``, ``-O2 -g``."""
    if isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
        return value
    if kind is tuple and isinstance(value, list):
        return tuple(map(str, value))
    if isinstance(value, str):
        if issubclass(kind, Enum) and value.lower() in [one.value for one in kind]:
            return kind(value.lower())
        if kind is tuple:
            return tuple(value.split())
        if kind is bool and value.lower() in YES + NO:
            return value.lower() in YES
        if kind is int and value.removeprefix("-").isdecimal():
            return int(value)
    needed = " or ".join(repr(one.value) for one in kind) if issubclass(kind, Enum) else kind.__name__
    raise InvalidOption(f"{source} is {value!r}, but {needed} is needed")
