"""Write what is made from the code: the tutorials (by running them), the reference, and what type checkers read.

Run by `make docs` before the site is built. The pages in `COMMITTED` are kept in the repository, for its readers; a
test compares them with what the code says now. The others make sense on the site only.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from enum import Enum
from pathlib import Path

import dcpy
from dcpy import comm, plugins
from dcpy.base import options
from dcpy.base.errors import DcpyError
from dcpy.base.option_groups.gpu import GpuOptions
from dcpy.base.option_groups.ranks import RankOptions
from dcpy.ir.library.expansions import expansions_of
from dcpy.ir.library.library_kinds import LIBRARY_KINDS
from dcpy.ir.machine_model import Processor, entries
from dcpy.ir.verify.forms import FORMS, TREE_RULES
from dcpy.targets.catalog import TARGETS
from dcpy.transforms.catalog import PASSES, TRANSFORMATIONS
from docs import checker_stubs, gallery_pages
from docs.fences import with_outputs
from docs.numpy_page import numpy_page
from docs.scipy_page import scipy_page

DOCS = Path(__file__).parent
PICTURES = DOCS.parent / "tests" / "golden" / "transforms" / "test_pictures"  # what tests make of small programs


def transformations() -> Iterator[str]:
    """Name, picture and conditions of every transformation."""
    yield "# Transformations\n\nMade from the catalog. `sdfg.explain(name)` says where each applies, and why not.\n"
    plugins.load()
    for name in TRANSFORMATIONS:
        kind = TRANSFORMATIONS[name]
        if kind.__module__.partition(".")[0] != "dcpy":
            continue  # registered from outside
        yield f"## {name}\n\n`{kind.__module__}.{kind.__name__}`\n\n```text\n{inspect.getdoc(kind)}\n```\n"
        picture = PICTURES / f"{name}.txt"
        if picture.is_file():
            before, _, after = picture.read_text().rstrip().partition("\n}\n")
            yield f"A test shows it on this program:\n\n```text\n{before}\n}}\n```\n\n```text\n{after}\n```\n"
    yield "## Other passes\n\nThey decide about a whole graph, or consist of others: see `dcpy passes`.\n"
    for name in PASSES:
        step = PASSES[name]
        yield f"## {name}\n\n`{step.__module__}.{step.__name__}`\n\n```text\n{inspect.getdoc(step)}\n```\n"


def error_codes() -> Iterator[str]:
    """Every error with its stable code."""
    yield "# Errors\n\nEvery error is a `DcpyError` with a stable code, a place, notes, and what to write instead.\n"
    for module in pkgutil.walk_packages(dcpy.__path__, "dcpy."):
        importlib.import_module(module.name)
    for kind in sorted(_subclasses(DcpyError), key=lambda kind: kind.code):
        also = [base.__name__ for base in kind.__bases__ if not issubclass(base, DcpyError)]
        caught = f" Caught as `{also[0]}` too." if also else ""
        yield f"## {kind.code}\n\n`{kind.__name__}`: {inspect.getdoc(kind)}{caught}\n"


def _subclasses(kind: type[DcpyError]) -> list[type[DcpyError]]:
    """All with a code of their own."""
    found = [below for direct in kind.__subclasses__() for below in (direct, *_subclasses(direct))]
    own = [below for below in found if all(below.code != getattr(base, "code", "") for base in below.__bases__)]
    return [below for below in own if below.__module__.partition(".")[0] == "dcpy"]


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
    yield "# Options\n\nThe program overrides the environment, and the environment overrides the defaults.\n"
    yield "In keyword arguments write `_` for the dot: `@dcpy.program(auto_optimize=True, cpu_openmp=False)`,"
    yield '`sdfg.compile(cpu_openmp=False)`.\n'
    yield "| option | environment | default | meaning |\n|---|---|---|---|"
    for name, kind in options.group_kinds().items():
        yield from _option_rows(kind, [f.name for f in fields(kind)], f"{name}.")
    for kind in (options.Options, RankOptions):
        yield from _option_rows(kind, options.plain_fields(kind), "")
    yield ""


GROUPS = {
    "costs.operations": "units of work",
    "costs.processor.latencies": "ps until the result is there",
}


def targets() -> Iterator[str]:
    """Schedules, memory and passes of each target, and the numbers of its cost model."""
    yield "# Targets\n"
    yield "Passes decide by the numbers below; `overrides` changes them for one program. A unit of work is 100 ps.\n"
    yield "A target is a value (`dcpy.targets`): `dataclasses.replace(CPU, costs=...)` makes another one.\n"
    plugins.load()
    for target in (TARGETS[name] for name in TARGETS):
        yield f"## {target.name}\n"
        words = ", ".join(f"`@{kind.word}`" for kind in target.schedules if kind.word)
        yield f"Schedules: {words}. Memory: {_listed(space.value for space in target.spaces)}."
        yield f"Allocations: {_listed(kind.value for kind in target.allocations)}."
        yield f"Expansions of library nodes, best first: {_listed(target.expansions)}."
        defaults = options.Options(gpu=GpuOptions(libraries=False))  # whatever is installed here
        yield f"Passes: {_listed(map(_without_numbers, target.passes(defaults).passes))}.\n"
        yield "| number | value | meaning |\n|---|---|---|"
        for prefix, table in (("costs.", target.costs), ("limits.", target.limits)):
            comments = {prefix[:-1]: _comments(type(table)), "costs.processor": _comments(Processor)}
            for name, value in entries(table, prefix):
                group, _, field = name.rpartition(".")
                if target.name == "cpu" or not group.startswith("costs.processor"):  # others leave it to the host
                    meaning = GROUPS.get(group, "") or comments[group].get(field, "")
                    yield f"| `{name}` | {value} | {meaning.replace('``', '`')} |"
        yield ""


def library_nodes() -> Iterator[str]:
    """Every library node, with the expansions for any target, those for one, and the foreign libraries."""
    yield "# Library nodes\n"
    yield "Expansions for any target have no schedules: [how to](../how-to/expansions.md) write one.\n"
    yield "| node | computes | for any target | for one | by a library |\n|---|---|---|---|---|"
    plugins.load()
    for kind in LIBRARY_KINDS:
        if LIBRARY_KINDS[kind].__module__.partition(".")[0] != "dcpy":
            continue  # registered from outside
        known = list(expansions_of(kind))
        columns = (
            [one.name for one in known if not one.environment and not one.targets],
            [one.name for one in known if not one.environment and one.targets],
            [one.name for one in known if one.environment],
        )
        text = (inspect.getdoc(LIBRARY_KINDS[kind]) or "").partition("\n\n")[0]
        meaning = text.replace("\n", " ").replace("``", "`").replace("|", "\\|")
        yield f"| `{kind}` | {meaning} | {' | '.join(map(_listed, columns))} |"
    yield ""


def _without_numbers(step: object) -> str:
    """Return the name of a pass without the numbers that all passes of a target get, which a table lists."""
    return re.sub(r" ?(costs|limits)\.[\w.]+=[^ }]+", "", str(step)).replace("{ ", "{").replace("{}", "")


def _listed(parts: Iterable[object]) -> str:
    return ", ".join(f"`{part}`" for part in parts)


def _comments(kind: type) -> dict[str, str]:
    """The comment of each field of a dataclass."""
    return dict(re.findall(r"^    (\w+):.*?#: (.*)$", inspect.getsource(kind), re.MULTILINE))


def _option_rows(kind: type, names: Sequence[str], prefix: str) -> Iterator[str]:
    comments, defaults = _comments(kind), kind()
    for option in names:
        name, default = prefix + option, getattr(defaults, option)
        variable = f"DCPY_{name.replace('.', '_').upper()}"
        text = default.value if isinstance(default, Enum) else default
        text = " ".join(text) if isinstance(text, tuple) else text
        shown = "empty" if text == "" else f"`{text}`"
        yield f"| `{name}` | `{variable}` | {shown} | {comments.get(option, '').replace('``', '`')} |"


def local_view() -> Iterator[str]:
    """Each function of ``dcpy.comm`` with its arguments."""
    yield "# The local view: `dcpy.comm`\n\nIn programs and undecorated ([how-to](../how-to/local-view.md)).\n"
    for name in sorted(comm.__all__, key=str.lower):
        found = getattr(comm, name)
        if not inspect.isfunction(found):
            continue
        parameters = inspect.signature(found).parameters.values()
        plain = inspect.Signature([each.replace(annotation=inspect.Parameter.empty) for each in parameters])
        shown = re.sub(r"<ReduceOperation\.(\w+): '\w+'>", r"\1", f"{name}{plain}")
        yield f"## {name}\n\n```text\n{shown}\n\n{inspect.getdoc(found)}\n```\n"


def api() -> Iterator[str]:
    """The page that mkdocstrings fills in."""
    yield "# API\n"
    members = ("program", "Program", "cfunc", "SDFG", "CompiledSdfg", "parse", "load")
    for name in (*(f"api.{member}" for member in members), "ir.building.builder.SdfgBuilder"):
        yield f"::: dcpy.{name}\n"


def tutorial(name: str) -> Callable[[], Iterator[str]]:
    """The page of a tutorial, each output made by running it; needs a C++ compiler."""

    def run() -> Iterator[str]:
        with tempfile.TemporaryDirectory() as folder:
            yield with_outputs((DOCS / "tutorials" / f"{name}.txt").read_text(), Path(folder) / f"{name}.py")

    return run


def examples() -> Iterator[str]:
    """The list of examples, each with the first line of its documentation."""
    folder = DOCS.parent / "examples"
    yield (folder / "intro.txt").read_text()
    yield "| file | program |\n|---|---|"
    for path in sorted(folder.glob("*.py")):
        first_line = (ast.get_docstring(ast.parse(path.read_text())) or "").partition("\n")[0]
        yield f"| [{path.stem}]({path.name}) | {first_line.replace('``', '`')} |"
    yield ""


def benchmarks() -> Iterator[str]:
    """The figures, which are kept where the commands are that measure them."""
    yield (DOCS.parent / "benchmarks" / "README.md").read_text().replace("](../docs/", "](")


def earlier_benchmarks() -> Iterator[str]:
    """The figures of the campaign before the present one."""
    yield (DOCS.parent / "benchmarks" / "earlier.md").read_text().replace("](README.md", "](benchmarks.md")


def contributing() -> Iterator[str]:
    """CONTRIBUTING.md, which is kept where contributors look for it."""
    yield (DOCS.parent / "CONTRIBUTING.md").read_text().replace("](docs/", "](")


PAGES: dict[str, Callable[[], Iterator[str]]] = {
    "contributing.md": contributing,
    "benchmarks.md": benchmarks,
    "earlier.md": earlier_benchmarks,
    "tutorials/gemm.md": tutorial("gemm"),
    "tutorials/in-300-lines.md": tutorial("in-300-lines"),
    "reference/transformations.md": transformations,
    "reference/errors.md": error_codes,
    "reference/rules.md": verification_rules,
    "reference/options.md": option_table,
    "reference/targets.md": targets,
    "reference/libraries.md": library_nodes,
    "reference/comm.md": local_view,
    "reference/numpy.md": numpy_page,
    "reference/scipy.md": scipy_page,
    "reference/api.md": api,
    "../examples/README.md": examples,
    **checker_stubs.PAGES,
    **gallery_pages.pages(),
}
#: pages of the site that are copies, or made of docstrings, or measured
MADE_FOR_THE_SITE = ("contributing.md", "benchmarks.md", "earlier.md", "reference/api.md", *gallery_pages.pages())
COMMITTED = tuple(name for name in PAGES if name not in MADE_FOR_THE_SITE)


def page(name: str) -> str:
    """The text of one generated page."""
    return "\n".join(PAGES[name]())


def main() -> None:
    """Write all pages."""
    for name in PAGES:
        (DOCS / name).parent.mkdir(parents=True, exist_ok=True)
        try:
            (DOCS / name).write_text(page(name))
        except ModuleNotFoundError as missing:
            if (missing.name or "").startswith("dcpy"):
                raise
            sys.exit(f"{name} needs the package {missing.name}: pip install -e '.[test]'")


if __name__ == "__main__":
    main()
