"""CPU command line: ``sdfgcc`` without more words."""

from __future__ import annotations

from dcpy.base.options import resolve_options
from dcpy.targets.command_line import Answers, CommandLine, LibraryOptions


def _library(answers: Answers) -> LibraryOptions:
    return LibraryOptions(resolve_options({"device": "cpu"}))


CPU = CommandLine(_library, measures="measure the costs of operations on the idle processor")
