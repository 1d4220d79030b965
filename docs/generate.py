"""Writes the pages that are made from the code: the tutorial (by running it) and the reference.

Run by `make docs` before the site is built, and by a test that compares the tutorial with what the code says now.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path

from dcpy.base import errors, options
from dcpy.frontend.implements import implemented
from dcpy.ir.verify.forms import FORMS, TREE_RULES
from dcpy.transforms.catalog import TRANSFORMATIONS

DOCS = Path(__file__).parent


def transformations() -> Iterator[str]:
    """Name, picture and conditions of every transformation."""
    yield "# Transformations\n\nMade from the catalog. `sdfg.explain(name)` says where each applies, and why not.\n"
    for name in TRANSFORMATIONS:
        kind = TRANSFORMATIONS[name]
        yield f"## {name}\n\n`{kind.__module__}.{kind.__name__}`\n\n```text\n{inspect.getdoc(kind)}\n```\n"


def error_codes() -> Iterator[str]:
    """Every error with its stable code."""
    yield "# Errors\n\nEvery error is a `DcpyError` with a stable code, a place, notes, and what to write instead.\n"
    for kind in vars(errors).values():
        if inspect.isclass(kind) and issubclass(kind, errors.DcpyError):
            yield f"## {kind.code}\n\n`{kind.__name__}`: {inspect.getdoc(kind)}\n"


def verification_rules() -> Iterator[str]:
    """Every rule of verification with its sentence, under the form that first asks for it."""
    yield "# Verification rules\n\n`sdfg.validate()` checks the well-formed ones; each stage adds its own.\n"
    known: set[str] = set()
    for form in FORMS:
        yield f"## {form}\n\n{form.sentence}\n\n| rule | what must hold |\n|---|---|"
        for rule in (*TREE_RULES, *form.rules):
            if rule.name not in known:
                yield f"| `{rule.name}` | {rule.sentence} |"
        known.update(rule.name for rule in (*TREE_RULES, *form.rules))
        yield ""


def option_table() -> Iterator[str]:
    """Every option: dotted name, environment variable, default, meaning."""
    yield "# Options\n\nDefaults, then the environment, then the decorator.\n"
    yield "| option | environment | default | meaning |\n|---|---|---|---|"
    yield from _option_rows(options.Options, options.Options(), "")
    yield ""


def _option_rows(kind: type, value: object, prefix: str) -> Iterator[str]:
    comments = dict(re.findall(r"^    (\w+):.*?#: (.*)$", inspect.getsource(kind), re.MULTILINE))
    for f in fields(kind):  # type: ignore[arg-type]
        inner = getattr(value, f.name)
        name = prefix + f.name
        if is_dataclass(inner):
            yield from _option_rows(type(inner), inner, f"{name}.")
        else:
            variable = f"DCPY_{name.replace('.', '_').upper()}"
            yield f"| `{name}` | `{variable}` | `{inner!r}` | {comments.get(f.name, '')} |"


def numpy_functions() -> Iterator[str]:
    """Every function that compiles, with the signature that dcpy takes."""
    yield "# Functions that compile\n\nMade from the registry: names, and the arguments that dcpy takes.\n\n```text"
    for name, signature in implemented().items():
        plain = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
        yield f"{name}{signature.replace(parameters=plain)}"
    yield "```\n"


def api() -> Iterator[str]:
    """The page that mkdocstrings fills in."""
    yield "# API\n"
    members = ("program", "Program", "SDFG", "CompiledSdfg", "parse", "load")
    for name in (*(f"api.{member}" for member in members), "ir.builder.Builder"):
        yield f"::: dcpy.{name}\n"


def tutorial() -> Iterator[str]:
    """gemm through every stage, each output made by running it."""
    from docs.tutorial_stages import stages

    yield (DOCS / "tutorials" / "gemm_intro.txt").read_text()
    for title, text, language, output in stages():
        yield f"## {title}\n\n{text}\n\n```{language}\n{output.rstrip()}\n```\n"


def overview() -> Iterator[str]:
    """The README, with links that work from here."""
    text = (DOCS.parent / "README.md").read_text()
    yield text.replace("](docs/", "](")


PAGES: dict[str, Callable[[], Iterator[str]]] = {
    "index.md": overview,
    "tutorials/gemm.md": tutorial,
    "reference/transformations.md": transformations,
    "reference/errors.md": error_codes,
    "reference/rules.md": verification_rules,
    "reference/options.md": option_table,
    "reference/numpy.md": numpy_functions,
    "reference/api.md": api,
}


def page(name: str) -> str:
    """The text of one generated page."""
    return "\n".join(PAGES[name]())


def main() -> None:
    """Writes all pages."""
    for name in PAGES:
        (DOCS / name).parent.mkdir(parents=True, exist_ok=True)
        (DOCS / name).write_text(page(name))


if __name__ == "__main__":
    main()
