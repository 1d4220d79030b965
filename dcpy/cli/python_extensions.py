"""Python extensions, ``sdfgcc --python``: a typed extension module that runs without dcpy, and a wheel build."""

from __future__ import annotations

import importlib.metadata
import inspect
import shutil
import sysconfig
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import FunctionType
from typing import Any

from dcpy import driver
from dcpy.api import SDFG, program
from dcpy.base.errors import DcpyError, ToolchainError
from dcpy.base.installation import install_extra
from dcpy.base.library_environment import Environment
from dcpy.base.options import resolve_options
from dcpy.base.platforms import HERE
from dcpy.cli.program_lookup import program_named, sdfg_named
from dcpy.codegen.artifact import Artifact
from dcpy.codegen.c_identifiers import identifier
from dcpy.codegen.extension_module import overload_of
from dcpy.codegen.extension_projects import NATIVE, Extension, PackageFolder
from dcpy.frontend.annotations import annotations_from_text
from dcpy.programs.signatures import signature_of


@dataclass(frozen=True, slots=True)
class _ModuleContents:
    """Contents of a module: an SDFG for each overload, and the parameters and docstring of the Python function."""

    sdfgs: tuple[SDFG, ...]
    doc: str = ""
    parameters: Mapping[str, inspect.Parameter] | None = None  # of the function; None: the SDFG is all there is

    @property
    def defaults(self) -> dict[str, object]:
        """The values of parameters that may be left out."""
        return {p.name: p.default for p in (self.parameters or {}).values() if p.default is not p.empty}

    def require_plain(self, sdfg: SDFG) -> None:
        """`DcpyError` where the program takes parts of what the function takes."""
        parts = [] if self.parameters is None else [n for n in sdfg.arguments if n not in self.parameters]
        if parts or (self.parameters is not None and len(sdfg.arguments) != len(self.parameters)):
            raise DcpyError(
                f"{sdfg.name!r} takes objects, of which its program has parts ({', '.join(parts)})",
                span=sdfg.span,
                help="a module of its own takes arrays and numbers: pass the parts as arguments",
            )


def write_extension(name: str, folder: Path, types: Sequence[str] = ()) -> list[Path]:
    """Write the project of a module into `folder`, and compile it there for this Python; the files written.

    `types` has the types of parameters, ``"float64[N, M], int64"``, of one overload each; default: the annotations.
    Raises `DcpyError` for what a module of its own cannot do, and `ToolchainError` without pybind11.
    """
    includes = _pybind11()
    source = _source(name, types)
    first = source.sdfgs[0]
    module = identifier(first.name)
    place = f"{Path(first.span.file).name}:{first.span.line}" if first.span is not None else ""
    options = resolve_options()
    overloads, programs = [], []
    for number, sdfg in enumerate(source.sdfgs):
        sdfg.validate()
        source.require_plain(sdfg)
        signature = replace(signature_of(sdfg), name=f"{module}_{number}")
        made = driver.artifact_of(sdfg, signature, options)
        programs.append(made)
        overloads.append(overload_of(module, made.signature, source.doc, source.defaults, sdfg.span))
    summary = source.doc.partition("\n")[0] or f"{module}, compiled by dcpy."
    extension = Extension(module, summary, place, tuple(overloads), tuple(programs))
    folders, elsewhere = _folders_of(extension.programs)
    from dcpy.runtime.compilers.build import SEMANTICS

    files = extension.package() | extension.project((*SEMANTICS, "-fopenmp-simd"), folders, elsewhere, built=True)
    written = [_write(folder / file, text) for file, text in files.items()]
    return [*written, _compile(extension, folder / module, includes)]


def _source(name: str, types: Sequence[str]) -> _ModuleContents:
    if name.endswith(".sdfg"):
        if types:
            raise DcpyError(f"{name} has types of its own", help="--types is for functions: file.py:function")
        return _ModuleContents((sdfg_named(name),))
    found = program_named(name)
    function = found.function
    parameters = inspect.signature(function).parameters
    variants = [_with_types(function, text) for text in types]
    sdfgs = tuple(program(each).to_sdfg() for each in variants) or (found.to_sdfg(),)
    return _ModuleContents(sdfgs, inspect.getdoc(function) or "", parameters)


def _with_types(function: Callable[..., Any], text: str) -> FunctionType:
    """The function with annotations from a text, one for each parameter."""
    assert isinstance(function, FunctionType)
    names = list(inspect.signature(function).parameters)
    found = annotations_from_text(text)
    if len(found) != len(names):
        raise DcpyError(
            f"--types {text!r} has {len(found)} types, and {function.__name__} has {len(names)} parameters",
            help=f"name the type of each of {', '.join(names)}: --types 'float64[N], float64'",
        )
    made = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__, made.__module__, made.__doc__ = function.__kwdefaults__, function.__module__, function.__doc__
    made.__qualname__ = function.__qualname__
    made.__annotations__ = dict(zip(names, found, strict=True))
    return made


# -- compiling -------------------------------------------------------------------------------------------------------


def _pybind11() -> tuple[str, ...]:
    """The folders of headers that a binding needs."""
    try:
        import pybind11
    except ImportError:
        message = "an extension module is made with pybind11, which is not installed for this Python"
        raise ToolchainError(message, help=install_extra("extension")) from None
    return (pybind11.get_include(), sysconfig.get_path("include"))


def _compile(extension: Extension, package: Path, includes: tuple[str, ...]) -> Path:
    """The compiled part of the module, beside the other files of the package."""
    from dcpy.runtime.compilers.build import build
    from dcpy.runtime.loading.load import toolchains_of

    options = resolve_options()
    needed = [found for made in extension.programs for found in made.environments]
    whole = Artifact(
        extension.programs[0].signature,
        extension.units,
        tuple(dict.fromkeys((*needed, Environment("python", include_dirs=includes)))),
        tuple(dict.fromkeys((*HERE.module, *(flag for made in extension.programs for flag in made.flags)))),
    )
    with tempfile.TemporaryDirectory() as folder:
        tools = toolchains_of(whole, options, driver.toolchain(options))
        built = build(whole, Path(folder), tools, options.cpu, kept_at=Path(folder))
        target = package / f"{NATIVE}{sysconfig.get_config_var('EXT_SUFFIX')}"
        shutil.copyfile(built, target)
    return target


def _folders_of(programs: Sequence[Artifact]) -> tuple[list[PackageFolder], list[str]]:
    """Return the folders of the programs' libraries: in packages that a wheel can depend on, and elsewhere."""
    site, owners = Path(sysconfig.get_path("purelib")), importlib.metadata.packages_distributions()
    folders: dict[PackageFolder, None] = {}
    elsewhere: dict[str, None] = {}
    for found in (found for made in programs for found in made.environments):
        for folder, headers in (*((f, False) for f in found.library_dirs), *((f, True) for f in found.include_dirs)):
            path = Path(folder)
            parts = path.relative_to(site).parts if path.is_relative_to(site) else ()
            if parts and owners.get(parts[0]):
                folders[PackageFolder(parts[0], "/".join(parts[1:]), owners[parts[0]][0], headers)] = None
            elif not headers:
                elsewhere[folder] = None
    return list(folders), list(elsewhere)


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
