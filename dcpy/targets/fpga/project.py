"""FPGA projects: a folder with kernels, a self-checking host program, and build scripts, as texts by file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dcpy.base.errors import CodegenError
from dcpy.base.option_groups.fpga import Vendor
from dcpy.base.options import resolve_options
from dcpy.base.source import SrcSpan
from dcpy.codegen.annotated_source import listings
from dcpy.codegen.artifact import (
    Arg,
    ArrayArg,
    Artifact,
    ConstantArg,
    FreshArray,
    IntegerArg,
    ScalarArg,
    ScalarResult,
    Signature,
    Unit,
)
from dcpy.codegen.fpga import tool_projects
from dcpy.codegen.fpga.tool_projects import StoredArray
from dcpy.ir.fpga import boards
from dcpy.ir.fpga.boards import Board
from dcpy.targets.command_line import ProgramSource

TYPICAL = 64  #: of sizes that are not given


def board_of(vendor: Vendor, name: str) -> Board:
    """The board that a project is for; `CodegenError` for one of another vendor."""
    chosen = boards.board(name or ("u250" if vendor is Vendor.XILINX else "s10"))
    if chosen.vendor != vendor.value:
        its = ", ".join(one.name for one in boards.BOARDS.values() if one.vendor == vendor.value)
        message = f"the board {chosen.name!r} is of {chosen.vendor}, not of {vendor.value}"
        raise CodegenError(message, help=f"name one of its own: {its}")
    return chosen


def sizes_of_check(simulated: Artifact, signature: Signature, sizes: Mapping[str, int]) -> dict[str, int]:
    """The values of all symbols in the check; `CodegenError` for one that the program has not."""
    known = {symbol: sizes.get(symbol, TYPICAL) for symbol in signature.symbols}
    strangers = [symbol for symbol in sizes if symbol not in known]
    if strangers:
        help = f"its symbols: {', '.join(known) or 'none'}"
        raise CodegenError(f"{simulated.signature.name!r} has no symbol {strangers[0]!r}", help=help)
    return known


def project_files(
    program: ProgramSource, vendor: Vendor, board: str, sizes: Mapping[str, int]
) -> dict[str, str | bytes]:
    """The files by their places in the folder. Raises `CodegenError` for what hardware is not, or no file stores."""
    chosen = board_of(vendor, board)
    options = {"device": "fpga", "fpga.vendor": vendor.value, "fpga.platform": chosen.name}
    simulation = resolve_options(options)
    simulated = program.compile(simulation)
    on_board = program.compile(resolve_options({**options, "fpga.mode": "hardware"}))
    known = sizes_of_check(simulated, program.signature, sizes)
    name = simulated.signature.name
    files, args, results = _check(program, known)
    kernels = _unit(on_board, ".hls.cpp" if vendor is Vendor.XILINX else ".cl")
    names = [kernel.name for kernel in on_board.kernels]
    return {
        f"src/{kernels.name}": dict(listings(on_board if vendor is Vendor.INTEL else simulated))[kernels.name],
        **{_folder_of(file) + file: text for file, text in listings(on_board) if file != kernels.name},
        "host/main.cpp": tool_projects.main_text(name, args, results, known),
        **_simulation(simulated, vendor),
        "build.sh": tool_projects.build_text(name, vendor, names),
        "host.sh": tool_projects.host_text(name),
        "simulate.sh": tool_projects.simulate_text(name, _simulated_kernels(name, vendor)),
        "README.md": tool_projects.readme_text(name, vendor, chosen, known, _place(program.span)),
        "explain.txt": program.explain(simulation, known),
        **files,
    }


def _place(span: SrcSpan | None) -> str:
    return f"{Path(span.file).name}:{span.line}" if span is not None else ""


def _unit(artifact: Artifact, ending: str) -> Unit:
    found = next((unit for unit in artifact.units if unit.name.endswith(ending)), None)
    if found is None:
        raise CodegenError(
            f"nothing of {artifact.signature.name!r} runs on the device: it has no map, and no network of processes",
            help="sdfg.explain(device='fpga') lists what stays on the host, and why",
        )
    return found


def _folder_of(file: str) -> str:
    """Return the folder of a file: that of the host's program, or, for the vendor's linker, that of the scripts."""
    return "" if file.endswith(".cfg") else "host/"


def _simulation(artifact: Artifact, vendor: Vendor) -> dict[str, str]:
    """The host's unit of the simulation, the headers, and the kernels where those that ship are in another language."""
    shipped = ".hls.cpp" if vendor is Vendor.XILINX else ".cl"
    return {f"simulation/{file}": text for file, text in listings(artifact) if not file.endswith(shipped)}


def _simulated_kernels(name: str, vendor: Vendor) -> str:
    return f"{'src' if vendor is Vendor.XILINX else 'simulation'}/{name}.hls.cpp"


# -- the check ---------------------------------------------------------------------------------------------------------


def _check(
    program: ProgramSource, sizes: Mapping[str, int]
) -> tuple[dict[str, bytes], list[StoredArray | None], list[StoredArray]]:
    """Inputs, and what the interpreter makes of them: the files of ``data/``, and what they are of."""
    signature = program.signature
    rng = np.random.default_rng(0)
    given = {arg.name: _input(arg, sizes, rng) for arg in signature.args}
    files: dict[str, bytes] = {}
    changed = {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in given.items()}
    returned = program.interpret(**{name: value for name, value in changed.items() if value is not None})
    args: list[StoredArray | None] = []
    for arg in signature.args:
        value = given[arg.name]
        if value is None:
            args.append(None)
            continue
        written = isinstance(arg, ArrayArg) and arg.written
        one = StoredArray(arg.name, value.dtype.name, value.size, True, written)
        args.append(one)
        files[f"data/{one.file}.bin"] = np.ravel(value, "K").tobytes()  # as they lie in memory
        if written:
            files[f"data/{one.file}.expected.bin"] = np.ravel(changed[arg.name], "K").tobytes()
    results: list[StoredArray] = []
    values = returned if isinstance(returned, tuple) else (returned,)
    stored = [result for result in signature.results if isinstance(result, FreshArray | ScalarResult)]
    if len(stored) != len(signature.results) or (stored and len(stored) != len(values)):
        raise CodegenError(
            f"the results of {program.name!r} are no arrays of known sizes, which files could have",
            help="write to arrays that are arguments",
        )
    for position, value in enumerate(values if stored else ()):
        array = np.ravel(value, "K")
        one = StoredArray(f"result_{position}", array.dtype.name, array.size, False, True)
        results.append(one)
        files[f"data/{one.file}.expected.bin"] = array.tobytes()
    return files, args, results


def _input(arg: Arg, sizes: Mapping[str, int], rng: np.random.Generator) -> Any:
    """Values of an argument; None for one that is part of the program."""
    match arg:
        case ArrayArg(order="C" | "F"):
            shape = [sizes.get(dim.symbol, dim.constant) + (dim.offset if dim.symbol else 0) for dim in arg.dims]
            return np.asarray(_values(rng, arg.dtype, tuple(shape)), order=arg.order)  # type: ignore[call-overload]
        case IntegerArg():
            return np.dtype(arg.dtype).type(sizes[arg.name])
        case ScalarArg():
            return np.dtype(arg.dtype).type(_values(rng, arg.dtype, (1,))[0])
        case ConstantArg():
            return None
    message = f"the argument {arg.name!r} is nothing that a file stores"
    raise CodegenError(message, help="pass packed arrays and numbers")


def _values(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return rng.standard_normal(shape).astype(kind)
    return rng.integers(0, 2 if kind.kind == "b" else 10, shape).astype(kind)
