"""Native sources: whether native code was built, and from the C++ that lies beside it.

`setup.py` compiles the digest of the sources into what it builds. After an update of a clone without a new build, the
dispatcher would not fit the Python code around it.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

DISPATCH = Path(__file__).parent / "dispatch"
TABLE = Path(__file__).parents[1] / "codegen" / "include" / "dcpy_table.h"


def digest(paths: Sequence[Path]) -> str:
    """Return the digest of the names and texts of files, as setup.py computes it."""
    found = hashlib.sha256()
    for path in sorted(paths, key=lambda path: path.name):
        found.update(f"{path.name}\n{path.read_text()}\n".encode())
    return found.hexdigest()


def require_built(module: str, folder: Path) -> None:
    """Raise `ImportError` where the package in `folder` has no such native module for this Python, as a fresh clone."""
    if find_spec(module) is None:
        version = ".".join(map(str, sys.version_info[:2]))
        raise ImportError(
            f"dcpy was imported from {folder}, where its native part is not built for Python {version}; "
            f"build it there: `pip install -e .`, or `make demo`. If dcpy is installed, start Python in another folder",
            name=module,
            path=str(folder),
        ) from None


def require_current(built: Path, text: str, sources: Sequence[Path]) -> None:
    """Raise `ImportError` where `built`, made from the sources with digest `text`, is older than the sources now.

    Texts are compared only where a file is newer than what was built: a fresh import costs some calls of stat.
    """
    since = built.stat().st_mtime_ns
    if any(path.stat().st_mtime_ns > since for path in sources) and digest(sources) != text:
        raise ImportError(
            "dcpy's native dispatcher was built from older sources than those of this clone; build it again: "
            "`pip install -e .`, or `make demo`",
            name="dcpy.runtime._dispatch",
            path=str(built),
        )


def dispatcher_sources() -> list[Path]:
    """Return the C++ of the dispatcher; nothing where only the built module is installed."""
    sources = [*DISPATCH.glob("*.cpp"), *DISPATCH.glob("*.h")]
    return [*sources, TABLE] if sources else []
