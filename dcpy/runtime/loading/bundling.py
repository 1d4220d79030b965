"""Bundling: the foreign libraries that a library needs beside it on another machine, found by its run path.

By default the run path is the folder where they were found here, which another machine does not have. With a bundle
they lie beside the library, and the run path is the folder of the library itself, wherever that is.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from dcpy.base.errors import ToolchainError
from dcpy.base.library_environment import Environment
from dcpy.base.platforms import HERE

BESIDE = HERE.beside
_LOADED = re.compile(r"^\s+(\S+\.dylib) \(", re.MULTILINE)
_NEEDED = re.compile(r"^\s*(\S+) => (/.*) \(0x[0-9a-f]+\)$", re.MULTILINE)


def needed_libraries(library: Path, environments: Sequence[Environment]) -> dict[str, Path]:
    """The files that `library` loads from the folders of these environments, by the names that it asks for.

    What those need from the same folders is among them. The dynamic loader itself lists them (``ldd``); on macOS each
    library in turn (``otool``).
    """
    folders = list(dict.fromkeys(folder for found in environments for folder in found.library_dirs))
    if not folders:
        return {}
    if HERE.suffix == ".dylib":
        return _loaded_on_macos(library, folders)
    asked = ["env", f"LD_LIBRARY_PATH={':'.join(folders)}", "ldd", str(library)]
    found = {name: Path(path) for name, path in _NEEDED.findall(_answer(asked, library))}
    return {name: path for name, path in found.items() if str(path.parent) in folders}


def _loaded_on_macos(library: Path, folders: Sequence[str]) -> dict[str, Path]:
    """The same by ``otool``, which lists what a library loads: ``@rpath/libx.dylib``, or a path."""
    found: dict[str, Path] = {}
    waiting = [library]
    while waiting:
        for word in _LOADED.findall(_answer(["otool", "-L", str(waiting[-1])], waiting.pop())):
            name = Path(word).name
            path = next((Path(folder, name) for folder in folders if Path(folder, name).is_file()), None)
            if path is not None and name not in found and name != library.name:
                found[name] = path
                waiting.append(path)
    return found


def _answer(asked: Sequence[str], library: Path) -> str:
    try:
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        message = f"what {library.name} needs cannot be found out: {'ldd' if 'ldd' in asked else asked[0]} failed"
        raise ToolchainError(message, notes=(str(error),)) from error


def bundle(library: Path, environments: Sequence[Environment]) -> list[Path]:
    """Copy what `library`, whose run path is `BESIDE`, needs into its folder; return the copies."""
    for environment in environments:
        if environment.opens_more:
            raise ToolchainError(
                f"{environment.name} opens further libraries while it runs: copies of some do not ship it",
                help="install it on the other machine, or expand with another library: "
                'sdfg.expand_library_nodes("openblas")',
            )
    copies = []
    for name, path in needed_libraries(library, environments).items():
        copies.append(library.parent / name)
        if path.resolve() != copies[-1].resolve():
            shutil.copyfile(path, copies[-1])
    return copies
