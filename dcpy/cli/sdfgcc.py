"""``sdfgcc``: compiles an SDFG ahead of time into a shared library with a C header, or writes a project for FPGAs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dcpy.base.errors import DcpyError

if TYPE_CHECKING:
    from dcpy.base.options import Options
    from dcpy.driver import Library


def main(arguments: Sequence[str] | None = None) -> int:
    """Compiles one program; returns the process' exit code."""
    parser = argparse.ArgumentParser(prog="sdfgcc", description="Compile an SDFG to a shared library and a C header.")
    parser.add_argument("program", help="file.sdfg, file.py:function (annotated), or package.module:function")
    parser.add_argument("-o", "--output", default="", help="the library (default: libNAME.so); its header lies beside")
    parser.add_argument("--source", action="store_true", help="keep the generated C++ (or C) beside the library, too")
    parser.add_argument("--bundle", action="store_true", help="copy the foreign libraries that it calls beside it")
    parser.add_argument("--main", action="store_true", help="make a program of its own, whose arguments are .npy files")
    parser.add_argument("--mpi", action="store_true", help="for several ranks: of a distributed .sdfg, under mpirun")
    parser.add_argument("--device", default="cpu", choices=("cpu", "gpu"), help="what runs it (default: cpu)")
    parser.add_argument("--backend", default="auto", choices=("auto", "cuda", "hip", "simulator"), help="of a GPU")
    parser.add_argument("--arch", default="", help="chips of GPUs, as sm_80,sm_90 or gfx90a (default: the one here)")
    parser.add_argument("--target", default="", choices=("xilinx", "intel"), help="write a project for FPGAs into -o")
    parser.add_argument("--sizes", default="", help="of a project's check, as N=1000,M=20 (default: 64 each)")
    parser.add_argument("--board", default="", help="that a project is for: u250, u280, s10 or a10")
    options = parser.parse_args(arguments)
    if (options.sizes or options.board) and not options.target:
        parser.error("--sizes and --board are for --target")
    if options.device != "gpu" and (options.backend != "auto" or options.arch):
        parser.error("--backend and --arch are for --device gpu")
    archs = [arch for arch in options.arch.split(",") if arch]
    try:
        if options.target:
            return _project(parser, options)
        if options.main or options.mpi:
            if options.device != "cpu" or options.bundle or not options.main:
                parser.error("--mpi is for --main, and --main is without --device and --bundle")
            return _program(options)
        chosen = options_for(options.device, options.backend, archs)
        made = compile_ahead(
            options.program,
            options.output,
            keep_source=options.source,
            bundle=options.bundle,
            options=chosen,
            archs=archs,
        )
        for path in made.written:
            print(path)
        for path in made.needs:
            print(f"note: it loads {path.name} from {path.parent}; --bundle copies that beside it", file=sys.stderr)
    except DcpyError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _program(options: argparse.Namespace) -> int:
    """Writes the program of its own that the words ask for."""
    from dcpy.cli.standalone import build_standalone

    made = build_standalone(options.program, options.output, on_ranks=options.mpi, keep_source=options.source)
    for path in made.written:
        print(path)
    return 0


def _project(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Writes the project that the words ask for."""
    from dcpy.cli.hardware_projects import write_project

    if options.device != "cpu" or options.source or options.bundle or not options.output:
        parser.error("--target writes a project into the folder -o, without --device, --source and --bundle")
    sizes = {}
    for word in filter(None, options.sizes.split(",")):
        name, _, value = word.partition("=")
        if not value.isdecimal():
            parser.error(f"--sizes has {word!r}: write N=1000,M=20")
        sizes[name] = int(value)
    for path in write_project(options.program, options.target, Path(options.output), sizes, board=options.board):
        print(path)
    return 0


def options_for(device: str, backend: str, archs: Sequence[str]) -> Options:
    """The options of a compilation: who names chips of one maker needs no device to be there."""
    from dcpy.base.options import Backend, resolve_options

    if device != "gpu":
        return resolve_options({"device": device})
    named = "hip" if any(arch.startswith("gfx") for arch in archs) else "cuda"
    found = named if backend == "auto" and archs else backend
    wanted = {"device": device, "gpu.backend": found, "gpu.libraries": False}  # Python's runtime opens those
    options = resolve_options(wanted | ({"gpu.arch": archs[0]} if archs else {}))
    if options.gpu.backend is not Backend.AUTO:
        return options
    from dcpy.runtime.devices.opening import backend_of

    return resolve_options({**wanted, "gpu.backend": backend_of(options).value})


def compile_ahead(
    program: str,
    output: str = "",
    *,
    keep_source: bool = False,
    bundle: bool = False,
    options: Options | None = None,
    archs: Sequence[str] = (),
) -> Library:
    """Writes library, header, and the source if it is to be kept."""
    from dcpy.cli.programs import sdfg_named
    from dcpy.driver import build_library
    from dcpy.programs.signatures import signature_of

    sdfg = sdfg_named(program)
    sdfg.validate()
    library = Path(output or f"lib{sdfg.name}.so")
    return build_library(
        sdfg, signature_of(sdfg), library, keep_source=keep_source, bundle=bundle, options=options, archs=archs
    )
