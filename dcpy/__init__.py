"""dcpy: plain NumPy functions, compiled through stateful dataflow multigraphs.

Everything here is loaded on first use: ``import dcpy`` costs little more than ``import numpy``. What users type is in
`dcpy.api`; `dcpy.driver` shows on one page how a function becomes machine code.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import Any as _Any

from dcpy.base.platforms import refuse_windows as _refuse_windows

_refuse_windows()

__version__ = "0.1.0"

_NAMES = {
    "dcpy.api": ("Program", "cfunc", "load", "method", "program"),
    "dcpy.programs.plain_python": ("disable",),
    "dcpy.programs.sdfgs": ("Builder", "CompiledSdfg", "SDFG", "parse"),
    "dcpy.programs.gradients": ("grad", "jvp", "value_and_grad", "vjp"),
    "dcpy.ir.building.builder": ("Out",),
    "dcpy.ir.building.dace_spellings": ("Memlet",),
    "dcpy.frontend.annotations": ("compiletime", "symbol", "symbols"),
    "dcpy.frontend.callback_decorator": ("callback",),
    "dcpy.frontend.implements": ("implements",),
    "dcpy.frontend.mapscope": ("map", "mapscope"),
    "dcpy.frontend.dataflow.syntax_markers": ("stream", "tasklet"),
    "dcpy.frontend.dataflow.storage_and_schedules": ("ScheduleType", "StorageType"),
    "dcpy.frontend.dataflow.python_streams": (
        "consume", "consumescope", "dataflow", "define_stream", "define_streamarray", "process",
    ),
    "dcpy.frontend.dataflow.dataflow_functions": (
        "define_local", "define_local_scalar", "elementwise", "in_program", "inline", "named", "ndarray", "nounroll",
        "parrange", "reduce", "unroll",
    ),
    "dcpy.distributed": (
        "DistArray", "block", "cyclic", "distribute", "empty", "from_local", "full", "grid", "on", "on_root", "ones",
        "zeros",
    ),
    "dcpy.base.options": ("DeviceType", "Options"),
    "dcpy.base.errors": (
        "ArgumentError", "ArgumentShapeError", "BlockError", "CacheError", "CallbackError", "CodegenError",
        "CommunicationError", "CompilerFault", "DataRace", "DcpyError", "DeviceError", "DeviceMemoryError",
        "ExpansionError", "FrontendError", "GradientRefused", "GridError", "InterpreterError", "InvalidSdfg",
        "MissingMpi", "MixedMpi", "OutOfBounds", "ParseError", "PerformanceWarning", "ProgramError", "RanksDiffer",
        "ReadOnlyArgument", "SymbolicError", "ToolchainError", "TransformationRefused", "UnknownName",
    ),
}  # fmt: skip
_HOME = {name: module for module, names in _NAMES.items() for name in names}
_NAMES_ELSEWHERE = {  # of Numba, JAX, CuPy and NumPy
    "jit": "@dcpy.program", "njit": "@dcpy.program", "vectorize": "@dcpy.program", "guvectorize": "@dcpy.program",
    "prange": "range: dcpy runs iterations in parallel where they are independent; or dcpy.map",
    "disable_jit": "dcpy.disable()",
    "vmap": "a loop, or broadcasting", "int": "dcpy.int64", "float": "dcpy.float64", "complex": "dcpy.complex128",
    "bool": "dcpy.bool_", "array": "dcpy.float64[N]", "asarray": "np.asarray",
}  # fmt: skip
_DTYPES = (
    "bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip


def __getattr__(name: str) -> _Any:
    if name in ("comm", "data", "gpu"):
        value: _Any = _import_module("dcpy.frontend.dataflow.data_descriptors" if name == "data" else f"dcpy.{name}")
    elif name in _DTYPES:
        from dcpy.frontend.annotations import ANNOTATIONS

        value = ANNOTATIONS[name]
    elif name in _HOME:
        value = getattr(_import_module(_HOME[name]), name)
    else:
        value = _transformation(name)
    globals()[name] = value
    return value


def _transformation(name: str) -> _Any:
    """A transformation or pass of the catalog by the name of its class, ``dcpy.MapFusion``, or the paper's."""
    if name[:1].isupper():
        from dcpy.transforms.catalog import NAMES_OF_THE_PAPER, class_named

        if name in NAMES_OF_THE_PAPER:
            from dcpy.transforms.history import parse_pass

            return parse_pass(NAMES_OF_THE_PAPER[name])
        if (found := class_named(name)) is not None:
            return found
    instead = f": use {_NAMES_ELSEWHERE[name]}" if name in _NAMES_ELSEWHERE else ""
    raise AttributeError(f"module 'dcpy' has no attribute {name!r}{instead}")


def __dir__() -> list[str]:
    dunder = {"__doc__", "__file__", "__name__", "__path__", "__version__"}
    return sorted({*dunder, *_HOME, *_DTYPES, "data", "gpu"})
