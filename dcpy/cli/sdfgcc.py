"""``sdfgcc``: compiles an SDFG ahead of time into a shared library with a C header."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dcpy.base.errors import DcpyError

if TYPE_CHECKING:
    from dcpy.driver import Library


def main(arguments: Sequence[str] | None = None) -> int:
    """Compiles one program; returns the process' exit code."""
    parser = argparse.ArgumentParser(prog="sdfgcc", description="Compile an SDFG to a shared library and a C header.")
    parser.add_argument("program", help="file.sdfg, file.py:function (annotated), or package.module:function")
    parser.add_argument("-o", "--output", default="", help="the library (default: libNAME.so); its header lies beside")
    parser.add_argument("--source", action="store_true", help="keep the generated C++ (or C) beside the library, too")
    parser.add_argument("--bundle", action="store_true", help="copy the foreign libraries that it calls beside it")
    options = parser.parse_args(arguments)
    try:
        made = compile_ahead(options.program, options.output, keep_source=options.source, bundle=options.bundle)
        for path in made.written:
            print(path)
        for path in made.needs:
            print(f"note: it loads {path.name} from {path.parent}; --bundle copies that beside it", file=sys.stderr)
    except DcpyError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def compile_ahead(program: str, output: str = "", *, keep_source: bool = False, bundle: bool = False) -> Library:
    """Writes library, header, and the source if it is to be kept."""
    from dcpy.cli.programs import sdfg_named
    from dcpy.driver import build_library
    from dcpy.programs.signatures import signature_of

    sdfg = sdfg_named(program)
    sdfg.validate()
    library = Path(output or f"lib{sdfg.name}.so")
    return build_library(sdfg, signature_of(sdfg), library, keep_source=keep_source, bundle=bundle)
