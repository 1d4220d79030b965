"""Program lookup: finds what a command names: ``gemm.sdfg``, ``module.py:function``, or ``package.module:function``."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

from dcpy.api import SDFG, Program, program
from dcpy.base.errors import DcpyError


class NoSuchProgram(DcpyError):
    """The command line names no file, or no function in it."""

    code = "cli.no-such-program"


def sdfg_named(name: str, *, simplify: bool = True) -> SDFG:
    """The SDFG of a file or of an annotated function. Loading a ``.sdfg`` runs nothing; a module is imported."""
    if name.endswith(".sdfg"):
        if not Path(name).is_file():
            raise NoSuchProgram(f"there is no file {name!r}")
        return SDFG.load(name)
    return program_named(name).to_sdfg(simplify=simplify)


def program_named(name: str) -> Program[..., Any]:
    """The program ``file.py:function`` or ``module:function``; a plain function is taken as one."""
    place, _, function = name.rpartition(":")
    if not place:
        raise NoSuchProgram(
            f"{name!r} names no function", help="write file.sdfg, file.py:function, or package.module:function"
        )
    module = _module_from_file(Path(place)) if place.endswith(".py") else _module_named(place)
    found = getattr(module, function, None)
    if isinstance(found, Program):
        return found
    if callable(found):
        made: Program[..., Any] = program(found)
        return made
    programs = [key for key, value in vars(module).items() if isinstance(value, Program)]
    raise NoSuchProgram(f"{place!r} has no function {function!r}", notes=(f"its programs: {', '.join(programs)}",))


def _module_named(name: str) -> object:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if f"{name}.".startswith(f"{error.name}."):
            raise NoSuchProgram(
                f"there is no module {error.name!r}", help="a file is named by its path: file.py:function"
            ) from None
        raise  # the module is there; what it imports is not


def _module_from_file(path: Path) -> object:
    spec = importlib.util.spec_from_file_location(path.stem, path) if path.is_file() else None
    if spec is None or spec.loader is None:
        raise NoSuchProgram(f"there is no file {str(path)!r}")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    sys.path.insert(0, str(path.parent))
    spec.loader.exec_module(module)
    return module
