"""``dcpy explain | passes | cache | doctor | run``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence

from dcpy import __version__
from dcpy.base.errors import DcpyError
from dcpy.targets.catalog import COMMAND_LINES


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the process' exit code."""
    options = _parser().parse_args(arguments)
    run: Callable[[argparse.Namespace], int] = options.run
    try:
        code = run(options)
        sys.stdout.flush()
        return code
    except DcpyError as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:  # `dcpy passes | head`: the reader has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _parser() -> argparse.ArgumentParser:
    about = "Inspect programs, the cache and this machine; start scripts on several ranks."
    parser = argparse.ArgumentParser(prog="dcpy", description=about)
    parser.add_argument("--version", action="version", version=f"dcpy {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    explain = commands.add_parser("explain", help="explain the compiler's decisions about a program")
    explain.add_argument("program", help="file.sdfg, file.py:function, or package.module:function")
    explain.add_argument("--transformation", "-t", default="", help="only this pass or transformation (default: all)")
    explain.add_argument("--after", metavar="PASS", default="", help="print the program after this pass")
    explain.add_argument("--as-written", action="store_true", help="do not simplify first")
    explain.set_defaults(run=_explain)

    passes = commands.add_parser("passes", help="list the transformations, the passes and the pipelines")
    passes.set_defaults(run=_passes)

    cache = commands.add_parser("cache", help="the folder of compiled programs")
    cache.add_argument("action", choices=("list", "clear", "path"))
    cache.set_defaults(run=_cache)

    run = commands.add_parser("run", help="start a script on several ranks, with the MPI that mpi4py uses")
    run.add_argument("-n", "--ranks", type=int, required=True, help="how many")
    run.add_argument("script", help="file.py, or -m and a module")
    run.add_argument("arguments", nargs=argparse.REMAINDER, help="those of the script")
    run.set_defaults(run=_run)

    doctor = commands.add_parser("doctor", help="list the tools and devices of this machine, and missing ones")
    for name in COMMAND_LINES:
        if COMMAND_LINES[name].measures:
            doctor.add_argument(f"--{name}", action="store_true", help=COMMAND_LINES[name].measures)
    doctor.add_argument("--mpi", action="store_true", help="measure messages and work of ranks, for the cost model")
    doctor.set_defaults(run=_doctor)
    return parser


def _explain(options: argparse.Namespace) -> int:
    from dcpy.cli.program_lookup import sdfg_named

    sdfg = sdfg_named(options.program, simplify=not options.as_written)
    print(sdfg.lower(options.after) if options.after else sdfg.explain(options.transformation or None))
    return 0


def _passes(options: argparse.Namespace) -> int:
    from dcpy.base.options import resolve_options
    from dcpy.programs.explanation.explain import passes

    for name, summary in passes(resolve_options()):
        print(f"{name:34} {summary}")
    return 0


def _cache(options: argparse.Namespace) -> int:
    from dcpy.driver import program_cache

    cache = program_cache()
    match options.action:
        case "path":
            print(cache.folder)
        case "clear":
            print(f"removed {cache.clear()} entries")
        case _:
            for entry in cache.entries():
                print(f"{entry.key}  {entry.size / 1024:8.1f} KiB  {entry.name}{_users(entry.used_by)}")
    return 0


def _users(files: Sequence[str]) -> str:
    """Return the file in which the program was last seen, and how many other files share the entry."""
    if not files:
        return ""
    return f"  in {files[-1]}" + (f" and {len(files) - 1} more" if len(files) > 1 else "")


def _run(options: argparse.Namespace) -> int:
    from dcpy.cli.rank_launcher import run_on_ranks

    return run_on_ranks(options.ranks, [options.script, *options.arguments])


def _doctor(options: argparse.Namespace) -> int:
    from dcpy.cli.doctor import findings, measured_lines
    from dcpy.targets.catalog import TARGETS

    if options.mpi:
        from dcpy.cli.doctor_mpi import measure_network

        return measure_network()
    measured = next((name for name in COMMAND_LINES if getattr(options, name, False)), "")
    missing = 0
    for finding in TARGETS[measured].findings() if measured else findings():
        missing += finding.needed and not finding.found
        mark = "ok  " if finding.found else "MISSING" if finding.needed else "no  "
        print(f"{mark:8}{finding.what:24}{finding.detail}")
    for line in measured_lines(measured) if measured else ():
        print(line)
    return 1 if missing else 0
