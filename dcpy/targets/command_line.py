"""Command lines of targets: what ``sdfgcc`` asks for one, and the options that follow from the answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dcpy.base.former_names import former_names
from dcpy.base.options import Options
from dcpy.base.source import SrcSpan

if TYPE_CHECKING:  # ``--help`` prints flags alone
    from dcpy.codegen.artifact import Artifact, Signature

Answers = Mapping[str, str]  #: values of flags, by name without dashes


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag with one value, which is one of `choices` if there are any."""

    name: str
    help: str
    default: str = ""
    choices: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Its name among answers."""
        return self.name.strip("-")


@dataclass(frozen=True, slots=True)
class LibraryOptions:
    """The options that a library is compiled with, and the chips that its kernels are for; none: the one that is there.
    """

    options: Options
    archs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProgramSource:
    """A program of a command line, and functions that compile, interpret and explain it for a target's options.

    `explain` takes sizes by symbol. `span` is the program's place in Python.
    """

    name: str
    span: SrcSpan | None
    signature: Signature
    compile: Callable[[Options], Artifact]
    interpret: Callable[..., Any]
    explain: Callable[[Options, Mapping[str, int]], str]


@dataclass(frozen=True, slots=True)
class Project:
    """A folder for a vendor's tools, which `flag` asks for; `files` gives its contents by their places in it."""

    flag: str
    files: Callable[[ProgramSource, Answers], Mapping[str, str | bytes]]


@dataclass(frozen=True, slots=True)
class CommandLine:
    """The words of commands that are for one target: `flags` of ``sdfgcc``, and either of two.

    ``--device NAME`` makes a library, by what `library` makes of the answers. The flag of `project`, one of `flags`,
    makes a folder for the vendor's tools. `measures` is the help of ``dcpy doctor --NAME``, which measures its costs.
    """

    library: Callable[[Answers], LibraryOptions] | None = None
    flags: tuple[Flag, ...] = ()
    project: Project | None = None
    measures: str = ""

    @property
    def details(self) -> list[Flag]:
        """The flags but for the one that asks for a project."""
        return [flag for flag in self.flags if self.project is None or flag.key != self.project.flag]

    def given(self, answers: Answers) -> list[str]:
        """The flags that are not as they are by default, but for that of a project."""
        return [flag.name for flag in self.details if answers[flag.key] != flag.default]

    def refusal(self, name: str, device: str, answers: Answers) -> str:
        """Return why the flags of this target, called `name`, do not fit the chosen device; "" where they do."""
        chosen = answers[self.project.flag] if self.project else device == name
        others = " and ".join(flag.name for flag in self.details)
        wanted = f"--{self.project.flag}" if self.project else f"--device {name}"
        return "" if chosen or not self.given(answers) else f"{others} are for {wanted}"

if not TYPE_CHECKING:  # with a `__getattr__`, a type checker would believe any name
    __getattr__ = former_names(__name__, {"Library": "LibraryOptions"})
