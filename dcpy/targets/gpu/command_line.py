"""GPU command line: ``sdfgcc --device gpu``, with a backend and chips."""

from __future__ import annotations

from dcpy.base.option_groups.gpu import Backend
from dcpy.base.options import resolve_options
from dcpy.targets.command_line import Answers, CommandLine, Flag, LibraryOptions

BACKENDS = tuple(one.value for one in Backend)


def _library(answers: Answers) -> LibraryOptions:
    """Take the backend of the maker whose chips are named, if any are: then no device need be there."""
    backend, archs = answers["backend"], tuple(arch for arch in answers["arch"].split(",") if arch)
    named = "hip" if any(arch.startswith("gfx") for arch in archs) else "cuda"
    found = named if backend == "auto" and archs else backend
    wanted = {"device": "gpu", "gpu.backend": found, "gpu.libraries": False}  # Python's runtime opens those
    options = resolve_options(wanted | ({"gpu.arch": archs[0]} if archs else {}))
    if options.gpu.backend is not Backend.AUTO:
        return LibraryOptions(options, archs)
    from dcpy.runtime.gpu.device_selection import backend_of

    return LibraryOptions(resolve_options({**wanted, "gpu.backend": backend_of(options).value}), archs)


GPU = CommandLine(
    _library,
    flags=(
        Flag("--backend", "with --device gpu: the runtime of kernels (default: auto)", Backend.AUTO.value, BACKENDS),
        Flag("--arch", "with --device gpu: its architectures, as sm_80,sm_90 or gfx90a (default: this one's)"),
    ),
    measures="list GPUs only, and measure their costs",
)
