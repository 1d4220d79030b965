"""Installation: dcpy's name on the package index, where its source lives, and commands that install more of it."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from urllib.parse import unquote, urlsplit

DISTRIBUTION = "datacentric-python"  #: on the package index, where the name dcpy is that of another project
HOME = "https://example.org/dcpy"  #: of the source, issues and documents; a placeholder until there is such a place


def install_extra(extra: str) -> str:
    """The command that installs dcpy with an extra, as a user types it."""
    option, source = installed_from(Path(__file__).parents[2])
    return f"pip install {option}'{source}[{extra}]'"


@functools.cache
def installed_from(root: Path) -> tuple[str, str]:
    """The option and the source by which pip installs the dcpy in a folder again: a clone, a wheel, or the name on the
    index.

    A clone is used in place (``-e``), or was copied from: pip notes where that was, or the file of a wheel, in
    ``direct_url.json``.
    """
    if (root / "pyproject.toml").is_file():
        return "-e ", str(root)
    for note in root.glob(f"{DISTRIBUTION.replace('-', '_')}-*.dist-info/direct_url.json"):
        address = urlsplit(json.loads(note.read_text()).get("url", ""))
        source = unquote(address.path)
        if address.scheme == "file" and Path(source).exists():
            return "", source
    return "", DISTRIBUTION
