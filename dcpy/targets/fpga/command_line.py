"""FPGA command line: ``sdfgcc --target xilinx|intel`` writes a project."""

from __future__ import annotations

from collections.abc import Mapping

from dcpy.base.option_groups.fpga import Vendor
from dcpy.base.options import InvalidOption
from dcpy.targets.command_line import Answers, CommandLine, Flag, ProgramSource, Project

VENDORS = tuple(one.value for one in Vendor)


def _files(program: ProgramSource, answers: Answers) -> Mapping[str, str | bytes]:
    from dcpy.targets.fpga.project import project_files

    return project_files(program, Vendor(answers["target"]), answers["board"], _sizes(answers["sizes"]))


def _sizes(text: str) -> dict[str, int]:
    """Return ``N=1000,M=20`` as numbers by symbol."""
    sizes = {}
    for word in filter(None, text.split(",")):
        name, _, value = word.partition("=")
        if not value.isdecimal():
            raise InvalidOption(f"--sizes has {word!r}, but a symbol and a number are needed", help="write N=1000,M=20")
        sizes[name] = int(value)
    return sizes


FPGA = CommandLine(
    flags=(
        Flag("--target", "write a project for this vendor's FPGA tools into the folder -o", choices=VENDORS),
        Flag("--sizes", "with --target: sizes in the project's self-check, as N=1000,M=20 (default: 64 each)"),
        Flag("--board", "with --target: the board, one of u250, u280, s10 and a10"),
    ),
    project=Project("target", _files),
)
