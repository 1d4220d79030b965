"""``sdfgcc --target xilinx|intel``: a folder with kernels, a host program that checks itself, and build scripts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dcpy.base.errors import CodegenError
from dcpy.base.options import Vendor, resolve_options
from dcpy.codegen.listing import listings

if TYPE_CHECKING:
    from dcpy.api import SDFG
    from dcpy.codegen.artifact import Arg, Artifact, Signature, Unit
    from dcpy.codegen.projects import StoredArray

TYPICAL = 64  #: of sizes that nobody has given


def write_project(program: str, target: str, folder: Path, sizes: Mapping[str, int], *, board: str = "") -> list[Path]:
    """Writes the folder; returns its files. Raises `CodegenError` for what hardware is not, or no file stores."""
    from dcpy.cli.programs import sdfg_named
    from dcpy.codegen import projects
    from dcpy.codegen.generate import with_messages
    from dcpy.driver import artifact_of
    from dcpy.ir import boards
    from dcpy.programs.signatures import signature_of

    vendor = Vendor(target)
    chosen = boards.board(board or ("u250" if vendor is Vendor.XILINX else "s10"))
    if chosen.vendor != target:
        its = ", ".join(one.name for one in boards.BOARDS.values() if one.vendor == target)
        message = f"the board {chosen.name!r} is of {chosen.vendor}, not of {target}"
        raise CodegenError(message, help=f"name one of its own: {its}")
    sdfg = sdfg_named(program)
    sdfg.validate()
    common = {"device": "fpga", "fpga.vendor": target, "fpga.platform": chosen.name}
    signature = signature_of(sdfg)
    simulated = with_messages(artifact_of(sdfg, signature, resolve_options(common)))
    on_board = with_messages(artifact_of(sdfg, signature, resolve_options({**common, "fpga.mode": "hardware"})))
    name = simulated.signature.name
    known = {symbol: sizes.get(symbol, TYPICAL) for symbol in signature.symbols}
    strangers = [symbol for symbol in sizes if symbol not in known]
    if strangers:
        help = f"its symbols: {', '.join(known) or 'none'}"
        raise CodegenError(f"{name!r} has no symbol {strangers[0]!r}", help=help)
    files, args, results = _check(sdfg, signature, known)
    kernels = _unit(on_board, ".hls.cpp" if vendor is Vendor.XILINX else ".cl")
    names = [kernel.name for kernel in on_board.kernels]
    text: dict[str, str | bytes] = {
        f"src/{kernels.name}": dict(listings(on_board if vendor is Vendor.INTEL else simulated))[kernels.name],
        **{_folder_of(file) + file: text for file, text in listings(on_board) if file != kernels.name},
        "host/main.cpp": projects.main_text(name, args, results, known),
        **_simulation(simulated, vendor),
        "build.sh": projects.build_text(name, vendor, names),
        "host.sh": projects.host_text(name),
        "simulate.sh": projects.simulate_text(name, _simulated_kernels(name, vendor)),
        "README.md": projects.readme_text(name, vendor, chosen, known, _place(sdfg)),
        "explain.txt": sdfg.explain(sizes=known, **common),
        **files,
    }
    return [_write(folder / file, content) for file, content in text.items()]


def _place(sdfg: SDFG) -> str:
    return f"{Path(sdfg.span.file).name}:{sdfg.span.line}" if sdfg.span is not None else ""


def _unit(artifact: Artifact, ending: str) -> Unit:
    found = next((unit for unit in artifact.units if unit.name.endswith(ending)), None)
    if found is None:
        raise CodegenError(
            f"nothing of {artifact.signature.name!r} runs on the device: it has no map, and no network of processes",
            help="sdfg.explain(device='fpga') says what stays on the host, and why",
        )
    return found


def _folder_of(file: str) -> str:
    """What compiles the host's program; ``link.cfg`` is for the vendor's linker, and lies beside the scripts."""
    return "" if file.endswith(".cfg") else "host/"


def _simulation(artifact: Artifact, vendor: Vendor) -> dict[str, str]:
    """The host's unit of the simulation, the headers, and the kernels where those that ship are in another language."""
    shipped = ".hls.cpp" if vendor is Vendor.XILINX else ".cl"
    return {f"simulation/{file}": text for file, text in listings(artifact) if not file.endswith(shipped)}


def _simulated_kernels(name: str, vendor: Vendor) -> str:
    return f"{'src' if vendor is Vendor.XILINX else 'simulation'}/{name}.hls.cpp"


# -- the check ---------------------------------------------------------------------------------------------------------


def _check(
    sdfg: SDFG, signature: Signature, sizes: Mapping[str, int]
) -> tuple[dict[str, bytes], list[StoredArray | None], list[StoredArray]]:
    """Inputs, and what the interpreter makes of them: the files of ``data/``, and what they are of."""
    from dcpy.codegen.artifact import ArrayArg, FreshArray, ScalarResult
    from dcpy.codegen.projects import StoredArray

    rng = np.random.default_rng(0)
    given = {arg.name: _input(arg, sizes, rng) for arg in signature.args}
    files: dict[str, bytes] = {}
    changed = {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in given.items()}
    returned = sdfg.interpret(**{name: value for name, value in changed.items() if value is not None})
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
            f"the results of {sdfg.name!r} are no arrays of known sizes, which files could have",
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
    from dcpy.codegen.artifact import ArrayArg, ConstantArg, IntegerArg, ScalarArg

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


def _write(path: Path, content: str | bytes) -> Path:
    """Writes a file by one rename; scripts may be run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    partial.write_bytes(content.encode() if isinstance(content, str) else content)
    if path.suffix == ".sh":
        partial.chmod(0o755)
    os.replace(partial, path)
    return path
