"""The files of a Python extension module's project: sources, binding, stubs, and what builds a wheel of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dcpy.codegen.artifact import Artifact, Unit
from dcpy.codegen.emit.template_rendering import render
from dcpy.codegen.extension_module import Overload

INCLUDE = Path(__file__).parent / "include"
HEADER = "extension.h"
BINDING = "binding.cpp"
NATIVE = "_native"  #: the compiled part of a module


@dataclass(frozen=True, slots=True)
class PackageFolder:
    """A folder of libraries or headers in an installed package, and the distribution that brings it."""

    package: str
    inside: str
    distribution: str
    headers: bool = False


@dataclass(frozen=True, slots=True)
class Extension:
    """A module with one function, which has one overload or several, each a program of its own."""

    name: str
    summary: str
    place: str
    overloads: tuple[Overload, ...]
    programs: tuple[Artifact, ...]

    @property
    def units(self) -> tuple[Unit, ...]:
        """Translation units to compile, and the headers that they include."""
        found = {unit.name: unit for program in self.programs for unit in program.units}
        binding = render("extension/binding.cpp.j2", **self._words())
        header = (INCLUDE / HEADER).read_text(encoding="utf-8")
        flags = ("-std=c++17", "-fvisibility=hidden")
        return (*found.values(), Unit(HEADER, header), Unit(BINDING, binding, "C++", flags))

    @property
    def written(self) -> tuple[str, ...]:
        """The names of arguments that any overload writes to."""
        return tuple(dict.fromkeys(name for one in self.overloads for name in one.written_arguments))

    def package(self) -> dict[str, str]:
        """The files of the module, besides the compiled one."""
        words = self._words()
        return {
            f"{self.name}/__init__.py": render("extension/__init__.py.j2", **words),
            f"{self.name}/__init__.pyi": render("extension/__init__.pyi.j2", **words),
            f"{self.name}/py.typed": "",
        }

    def project(
        self, flags: Sequence[str], folders: Sequence[PackageFolder], elsewhere: Sequence[str], *, built: bool
    ) -> dict[str, str]:
        """The files that a wheel is built of. `flags` keep NumPy's values; `elsewhere`: folders of no package."""
        libraries = (word for program in self.programs for found in program.environments for word in found.libraries)
        words = self._words() | {
            "flags": flags,
            "folders": folders,
            "elsewhere": elsewhere,
            "built": built,
            "libraries": list(dict.fromkeys(libraries)),
            "threads": any("-fopenmp" in program.flags for program in self.programs),
            "sources": [f"src/{unit.name}" for unit in self.units if unit.language],
            "distributions": list(dict.fromkeys(folder.distribution for folder in folders)),
            "written": self.written,
        }
        names = ("pyproject.toml", "CMakeLists.txt", "README.md")
        return {f"src/{unit.name}": unit.text for unit in self.units} | {
            name: render(f"extension/{name}.j2", **words) for name in names
        }

    def _words(self) -> dict[str, object]:
        return {"name": self.name, "summary": self.summary, "place": self.place, "overloads": self.overloads}
