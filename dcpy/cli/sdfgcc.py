"""``sdfgcc``: compiles an SDFG ahead of time: a C library, a program, a Python module, or a vendor's project."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dcpy.base.errors import DcpyError
from dcpy.targets.catalog import COMMAND_LINES

if TYPE_CHECKING:
    from dcpy.base.options import Options
    from dcpy.driver import BuiltLibrary
    from dcpy.targets.command_line import CommandLine, Project

HOST = "cpu"  #: the device without a word
EXAMPLES = """examples:
  sdfgcc heat.py:step -o libheat.so              a C library
  sdfgcc heat.py:step --main -o heat             an executable
  sdfgcc heat.py:step --python -o heat_module    a Python module that runs without dcpy
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Compile one program; return the process' exit code."""
    lines = {name: COMMAND_LINES[name] for name in COMMAND_LINES}
    parser = _parser(lines)
    options = parser.parse_args(arguments)
    for reason in filter(None, (line.refusal(name, options.device, vars(options)) for name, line in lines.items())):
        parser.error(reason)
    try:
        asked = [line.project for line in lines.values() if line.project and getattr(options, line.project.flag)]
        if asked:
            return _project(parser, options, asked[0])
        if options.python or options.types:
            return _extension(parser, options)
        if options.main or options.mpi:
            if options.device != HOST or options.bundle or not options.main:
                parser.error("--mpi is for --main, and --main is without --device and --bundle")
            return _program(options)
        make = lines[options.device].library
        assert make is not None  # it is among the choices
        chosen = make(vars(options))
        made = compile_ahead(
            options.program,
            options.output,
            keep_source=options.source,
            bundle=options.bundle,
            options=chosen.options,
            archs=chosen.archs,
        )
        for path in made.written:
            print(path)
        for path in made.needs:
            print(f"note: it loads {path.name} from {path.parent}; --bundle copies that beside it", file=sys.stderr)
    except DcpyError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _parser(lines: Mapping[str, CommandLine]) -> argparse.ArgumentParser:
    """The words of the command, with those that targets ask for."""
    parser = argparse.ArgumentParser(
        prog="sdfgcc",
        description="Compile a program ahead of time: by default to a shared library and a C header.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    devices = [name for name, line in lines.items() if line.library is not None]
    add = parser.add_argument
    add("program", help="file.sdfg, file.py:function (with annotations), or package.module:function")
    add("-o", "--output", default="", help="the library to write (default: libNAME.so); its header, NAME.h, is written "
        "beside it. The folder for --python and for projects")  # fmt: skip
    add("--source", action="store_true", help="keep the generated C++ or C beside the library")
    add("--bundle", action="store_true", help="copy the foreign libraries that the program calls beside the library")
    add("--main", action="store_true", help="make an executable whose arguments are .npy files")
    add("--mpi", action="store_true", help="with --main: make it for mpirun, of a distributed .sdfg")
    add("--device", default=HOST, choices=devices, help=f"the device that runs the program (default: {HOST})")
    for flag in (flag for line in lines.values() for flag in line.flags):
        add(flag.name, default=flag.default, choices=flag.choices or None, help=flag.help)
    add("--python", action="store_true", help="make a Python extension module in the folder -o")
    add("--types", action="append", default=[], metavar="TYPES", help="with --python: the types of the parameters, as "
        "'float64[N, M], int64'; repeat it for overloads")  # fmt: skip
    return parser


def _program(options: argparse.Namespace) -> int:
    """Write the program of its own that the words ask for."""
    from dcpy.cli.standalone_programs import build_standalone

    made = build_standalone(options.program, options.output, on_ranks=options.mpi, keep_source=options.source)
    for path in made.written:
        print(path)
    return 0


def _extension(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Write the extension module that the words ask for."""
    from dcpy.cli.python_extensions import write_extension

    others = (options.source, options.bundle, options.main, options.mpi, options.device != HOST)
    if not options.python or not options.output or any(others):
        parser.error("--python writes a module into the folder -o, with --types or without, and no other option")
    for path in write_extension(options.program, Path(options.output), options.types):
        print(path)
    return 0


def _project(parser: argparse.ArgumentParser, options: argparse.Namespace, project: Project) -> int:
    """Write the project that the words ask for."""
    from dcpy.cli.device_projects import write_project

    others = (options.source, options.bundle, options.main, options.mpi, options.python, options.types)
    if options.device != HOST or not options.output or any(others):
        parser.error(f"--{project.flag} writes a project into the folder -o, without other options than its own")
    for path in write_project(options.program, project, vars(options), Path(options.output)):
        print(path)
    return 0


def compile_ahead(
    program: str,
    output: str = "",
    *,
    keep_source: bool = False,
    bundle: bool = False,
    options: Options | None = None,
    archs: Sequence[str] = (),
) -> BuiltLibrary:
    """Write library, header, and the source if it is to be kept."""
    from dcpy.base.platforms import HERE
    from dcpy.cli.program_lookup import sdfg_named
    from dcpy.driver import build_library
    from dcpy.programs.signatures import signature_of

    sdfg = sdfg_named(program)
    sdfg.validate()
    library = Path(output or f"lib{sdfg.name}{HERE.suffix}")
    return build_library(
        sdfg, signature_of(sdfg), library, keep_source=keep_source, bundle=bundle, options=options, archs=archs
    )
