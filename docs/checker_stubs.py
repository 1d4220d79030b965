"""What type checkers read: the names of ``import dcpy``, and the options of `dcpy.program` by keyword.

Both are written from what the code says at run time, so that nothing is listed twice by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from enum import Enum
from typing import Any

import dcpy
from dcpy import plugins
from dcpy.base import options
from dcpy.base.option_groups.ranks import RankOptions
from dcpy.transforms.catalog import FORMER, NAMES_OF_THE_PAPER, PASSES, TRANSFORMATIONS

STUB = "../dcpy/__init__.pyi"
KEYWORDS = "../dcpy/base/option_groups/keywords.py"
MADE = "`python -m docs.generate` writes it"


def names_of_the_package() -> Iterator[str]:
    """The stub of ``dcpy/__init__.py``, which loads its names on first use."""
    yield f"# What type checkers see in place of dcpy/__init__.py, which loads all this on first use. {MADE}."
    yield "from typing import Any\n"
    yield "from dcpy import comm as comm\nfrom dcpy import gpu as gpu"
    yield from _imports({module: names for module, names in dcpy._NAMES.items()})
    yield from _imports({"dcpy.frontend.checked_annotations": dcpy._DTYPES})
    found = _transformations()
    yield from _imports(found)
    yield "from dcpy.frontend.dataflow import data_descriptors\n"
    yield "data = data_descriptors\n__version__: str"
    known = {name for names in found.values() for name in names}
    yield from _earlier_names(known)
    yield "".join(f"\n{name}: Any  # as the paper calls it" for name in NAMES_OF_THE_PAPER) + "\n"


def _imports(modules: dict[str, Any]) -> Iterator[str]:
    for module, names in sorted(modules.items()):
        if module == "dcpy.frontend.annotations":
            yield "from dcpy.frontend.checked_annotations import compiletime as compiletime"
            names = [name for name in names if name != "compiletime"]
        yield from (f"from {module} import {name} as {name}" for name in sorted(names))


def _transformations() -> dict[str, list[str]]:
    """The classes of transformations and passes, by module."""
    plugins.load()
    found: dict[str, list[str]] = {}
    for registry in (TRANSFORMATIONS, PASSES):
        for name in registry:
            attribute, kind = registry.attribute(name), registry[name]
            if attribute[:1].isupper() and isinstance(kind, type) and kind.__module__.startswith("dcpy."):
                found.setdefault(kind.__module__, []).append(attribute)
    return {module: sorted(set(names)) for module, names in found.items()}


def _earlier_names(known: set[str]) -> Iterator[str]:
    for former in sorted(FORMER):
        for registry in (TRANSFORMATIONS, PASSES):
            now = registry.attribute(FORMER[former]) if former in registry else ""
            if now in known:
                yield f"{''.join(map(str.capitalize, former.split('-')))} = {now}"


def keywords_of_programs() -> Iterator[str]:
    """The options as a dictionary with types."""
    yield f'"""The options of `dcpy.program` by keyword, for type checkers. {MADE}."""\n'
    yield "from __future__ import annotations\n"
    yield "from typing import Literal, TypedDict\n"
    rows, kinds = [], {}
    for prefix, kind in options.OWN_GROUPS.items():
        rows += _rows(kind, [f.name for f in fields(kind)], f"{prefix}_", kinds)
    for kind in (options.Options, RankOptions):
        rows += _rows(kind, options.plain_fields(kind), "", kinds)
    modules: dict[str, list[str]] = {}
    for kind in kinds.values():
        modules.setdefault(kind.__module__, []).append(kind.__name__)
    for module, names in sorted(modules.items()):
        yield f"from {module} import {', '.join(sorted(names))}"
    yield "\n\nclass OptionKeywords(TypedDict, total=False):"
    yield '    """The values of each option; docs/reference/options.md says what it does."""\n'
    yield from rows
    yield '\n\nclass ProgramKeywords(OptionKeywords, total=False):'
    yield '    """The options of a program, and what its decorator takes beside them."""\n'
    yield "    ignore_type_hints: bool\n"


def _rows(kind: type, names: list[str], prefix: str, kinds: dict[str, type]) -> list[str]:
    defaults = kind()
    return [f"    {prefix}{name}: {_type_of(getattr(defaults, name), kinds)}" for name in names]


def _type_of(default: object, kinds: dict[str, type]) -> str:
    if isinstance(default, Enum):
        kind = type(default)
        kinds[kind.__name__] = kind
        words = ", ".join(f'"{one.value}"' for one in kind)
        return f"{kind.__name__} | Literal[{words}]"
    return "tuple[str, ...] | list[str] | str" if isinstance(default, tuple) else type(default).__name__


PAGES = {STUB: names_of_the_package, KEYWORDS: keywords_of_programs}
