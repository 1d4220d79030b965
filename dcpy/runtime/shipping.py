"""What a library needs beside it on another machine: the foreign libraries that it finds by its run path.

By default the run path is the folder where they were found here, which another machine does not have. With a bundle
they lie beside the library, and the run path is the folder of the library itself, wherever that is.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from dcpy.base.environment import Environment
from dcpy.base.errors import ToolchainError

BESIDE = "$ORIGIN"
_NEEDED = re.compile(r"^\s*(\S+) => (/.*) \(0x[0-9a-f]+\)$", re.MULTILINE)


def needed_libraries(library: Path, environments: Sequence[Environment]) -> dict[str, Path]:
    """The files that `library` loads from the folders of these environments, by the names that it asks for.

    What those need from the same folders is among them. The dynamic loader itself is asked (``ldd``).
    """
    folders = list(dict.fromkeys(folder for found in environments for folder in found.library_dirs))
    if not folders:
        return {}
    asked = ["env", f"LD_LIBRARY_PATH={':'.join(folders)}", "ldd", str(library)]
    try:
        answer = subprocess.run(asked, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        message = f"what {library.name} needs cannot be found out: ldd failed"
        raise ToolchainError(message, notes=(str(error),)) from error
    found = {name: Path(path) for name, path in _NEEDED.findall(answer.stdout)}
    return {name: path for name, path in found.items() if str(path.parent) in folders}


def bundle(library: Path, environments: Sequence[Environment]) -> list[Path]:
    """Copies what `library`, whose run path is `BESIDE`, needs into its folder; returns the copies."""
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
