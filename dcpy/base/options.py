"""The options of dcpy: one frozen tree of values, resolved once at the top and handed down.

This is the only module that reads the environment: ``DCPY_CPU_COMPILER``, ``DCPY_CACHE_DIR``, … (one variable per
field), and the platform's own ``CXX`` and ``XDG_CACHE_HOME``. (Finding an executable looks at ``PATH``, in
runtime/compilers/toolchain.py, as a shell does.)
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
from dcpy.base.platforms import HERE

PREFIX = "DCPY_"
YES = ("1", "true", "yes", "on")
NO = ("0", "false", "no", "off")


class DeviceType(Enum):
    """Device on which a program runs. `named` adds one, for a target that is not dcpy's."""

    CPU = "cpu"
    GPU = "gpu"
    FPGA = "fpga"

    @classmethod
    def named(cls, name: str) -> DeviceType:
        """Return the device of a name; a new name makes a new device."""
        try:
            return cls(name)
        except ValueError:
            made = object.__new__(cls)
            made._name_, made._value_ = name.upper(), name
            return _OTHER_DEVICES.setdefault(name, made)

    @classmethod
    def _missing_(cls, value: object) -> DeviceType | None:
        return _OTHER_DEVICES.get(str(value))


_OTHER_DEVICES: dict[str, DeviceType] = {}


class IntOverflow(Enum):
    """Behaviour of a Python integer that 64 bits do not hold."""

    RAISE = "raise"
    WRAP = "wrap"


class Language(Enum):
    """Language of generated code for CPUs."""

    CPP = "c++"
    C = "c"


class Backend(Enum):
    """Runtime of GPU kernels."""

    AUTO = "auto"
    CUDA = "cuda"
    HIP = "hip"
    SIMULATOR = "simulator"


class Replicas(Enum):
    """Comparison of replicated arrays in collective calls."""

    SAMPLE = "sample"
    ALL = "all"
    OFF = "off"


class Failures(Enum):
    """Time at which a failed check on a device raises."""

    EXACT = "exact"
    DEFERRED = "deferred"


class Vendor(Enum):
    """Vendor of the tools that compile hardware."""

    XILINX = "xilinx"
    INTEL = "intel"


class FpgaMode(Enum):
    """Runtime of a program for FPGAs."""

    SIMULATE = "simulate"
    EMULATE = "emulate"
    HARDWARE = "hardware"


@dataclass(frozen=True, slots=True)
class CpuOptions:
    """Settings of the ``cpu`` target."""

    compiler: str = "auto"  #: executable, or ``auto``: the first of g++, clang++, clang++-19, … on PATH, else Zig's
    flags: tuple[str, ...] = ("-O3", HERE.native)  #: compiler flags, which come after dcpy's own and override them
    language: Language = Language.CPP  #: language of the generated code: ``c++``, or ``c`` (not for all programs)
    openmp: bool = True  #: run parallel maps on several threads
    fast_math: bool = False  #: may change results in the last bits, and NaN and infinities; off by default
    bounds_check: bool = True  #: check each index that is not proved to be in range


@dataclass(frozen=True, slots=True)
class GpuOptions:
    """Settings of the ``gpu`` target."""

    backend: Backend = Backend.AUTO  #: ``cuda``, ``hip``, ``auto`` (what is installed), or ``simulator`` (no device)
    arch: str = ""  #: chip to compile kernels for, such as ``sm_90`` or ``gfx90a``; empty: the device's own
    driver: str = ""  #: file of the driver's library; empty: the system's libcuda.so.1 or libamdhip64.so
    fast_math: bool = False  #: may change results in the last bits, and NaN and infinities; off by default
    fma: bool = False  #: fuse products and sums, which rounds once; off: elementwise results are NumPy's
    deterministic: bool = True  #: the same bits in every run: no floating-point sums in the order of threads
    max_workspace: int = -1  #: device memory kept between calls, in bytes; below 0: all that a call needed
    graphs: bool = True  #: record a loop of launches as a graph, which is submitted in one call
    libraries: bool = True  #: call the vendor's installed libraries for products, solvers and transforms
    errors: Failures = Failures.EXACT  #: a failed check raises in its call (``exact``) or a later one (``deferred``)
    profile: bool = False  #: measure kernels by events of the device: `program.kernel_times()`
    warp: int = 32  #: threads per warp in the simulator: 32 or 64
    seed: int = 0  #: seed of the order in which the simulator runs blocks and threads; 0: the natural order
    hooks: bool = False  #: the simulator checks each memory access for races and counts bytes; slow


@dataclass(frozen=True, slots=True)
class FpgaOptions:
    """Settings of the ``fpga`` target."""

    vendor: Vendor = Vendor.XILINX  #: vendor whose tools compile the program: ``xilinx`` or ``intel``
    mode: FpgaMode = FpgaMode.SIMULATE  #: ``simulate`` on this machine, ``emulate`` by the vendor's tools, ``hardware``
    program: str = ""  #: file of the bitstream for ``hardware`` (.xclbin, .aocx), or that of Vitis for ``emulate``
    library: str = ""  #: file of the OpenCL library; empty: Intel's emulator, or the system's libOpenCL.so.1
    watchdog: int = 60  #: seconds after which a kernel on a board, or in an emulator, counts as hanging
    platform: str = "u250"  #: board that `explain` assumes: ``u250``, ``u280``, ``s10`` or ``a10``
    banks: str = ""  #: memory banks of arrays: ``x=ddr 1, A=hbm 0:4 axis 1``; others are spread
    steps: int = 1  #: time steps of a stencil in one chain, which reads and writes the grid once
    lanes: int = 1  #: most elements per token, a power of two; 0: as many as the board's port moves per cycle
    systolic: bool = False  #: compile matrix products with a constant number of terms to systolic arrays
    pes: int = 0  #: processing elements of a systolic array; 0: as many as are useful and the board has DSPs for


@dataclass(frozen=True, slots=True)
class Options:
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
    scalapack: str = ""  #: files of ScaLAPACK, with ``:`` between; empty: MKL or the system's; or ``off``
    halo_steps: int = 0  #: steps per halo exchange; 0 = cheapest, -1 = before every map
    halo_overlap: bool = False  #: compute the interior while halos are exchanged
    check_replicas: Replicas = Replicas.SAMPLE  #: comparison of replicated arrays: ``sample``, ``all`` or ``off``
    check_messages: bool = False  #: ranks compare collectives of the local view before they start
    ranks_timeout: int = 0  #: seconds after which a waiting rank ends the job and reports where each one is; 0: never
    check_races: bool = False  #: interpret calls, slowly, and report races between iterations of dcpy.map
    full_tracebacks: bool = False  #: show dcpy's own frames in tracebacks
    check: bool = False  #: verify the SDFG after every transformation


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


def _dotted(node: Any, prefix: str = "") -> dict[str, object]:
    found: dict[str, object] = {}
    for f in fields(node):
        value = getattr(node, f.name)
        found |= _dotted(value, f"{prefix}{f.name}.") if is_dataclass(value) else {prefix + f.name: value}
    return found


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
    return replace(options, **{group: replace(getattr(options, group), **{leaf: converted})})


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
