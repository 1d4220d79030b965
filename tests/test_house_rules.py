"""The rules of the house that a program can check: sizes, names, docstrings, what `import dcpy` may load."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dcpy
from tests.support.syntax_trees import nodes_of, tree_of

ROOT = Path(__file__).parent.parent
PACKAGE = sorted((ROOT / "dcpy").rglob("*.py"))
SOURCES = [*PACKAGE, *sorted((ROOT / "dcpy").rglob("*.cpp")), *sorted((ROOT / "dcpy").rglob("*.h"))]
AROUND = [p for folder in ("benchmarks", "docs", "examples", "tests") for p in sorted((ROOT / folder).rglob("*.py"))]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "examples").rglob("*.md"))]
BANNED_NAMES = {"utils", "helpers", "misc", "common"}
BANNED_CALLS = {"eval", "exec"}
LOUD_CALLS = {"print", "exit", "quit", "sys.exit", "os._exit"}
BANNED_IMPORTS = {"pickle", "marshal", "shelve", "dill", "cloudpickle"}
HEAVY = {"sympy", "islpy", "networkx", "mpi4py", "cupy", "jinja2", "scipy", "pytest"}
TOO_HEAVY_FOR_A_FIRST_CALL = HEAVY - {"jinja2"}
HOMES = ("work", "root", "home", "tmp", "Users", "private")  # where somebody's checkout may lie
QUESTIONS = {"What", "Whether", "How", "Where", "Why", "Which", "Who", "When"}
#: words with which a docstring of a function begins that is no phrase of its own ("Of the table.")
FRAGMENTS = {"After", "As", "At", "Before", "Both", "By", "For", "From", "In", "Of", "On", "That", "Those", "Within"}
RULES = "ir/verify/rules"  # sentences, which make a page
#: verbs with which docstrings of functions once began; the rule is the imperative
THIRD_PERSON = re.compile(
    r"(Adds|Appends|Applies|Binds|Calls|Changes|Checks|Compiles|Computes|Declares|Draws|Drops|Emits|Enters|Fills|Finds|"
    r"Gives|Keeps|Leaves|Lets|Makes|Moves|Opens|Puts|Raises|Refuses|Replaces|Returns|Runs|Says|Sends|Starts|Takes|Turns|"
    r"Waits|Walks|Writes) (?!of |that |which |in |with |from |to |for |by |and |where |are |on )"
)
ONE_CLASS_EACH = {"Part", "Place", "Builder", "Scope", "Block", "Choice", "Lines", "Versions"}
TEXTS_OF_DACE = {"Memlet"}  # `dcpy.Memlet` is DaCe's: a text, until the SDFG is known that it is of
#: nodes of several trees (the desugarer's Python, the IR, LIR, MPI's and NumPy's operations), and what users and the IR
#: see under one name
OF_SEVERAL_LANGUAGES = {
    "Assign", "Break", "Call", "Callback", "Cast", "Check", "Continue", "Dataflow", "Evaluate", "Gather", "Grid", "If",
    "Kernel", "Loop", "Memlet", "Pipelined", "Process", "Reduce", "Return", "Rule", "Scalar", "Scan", "Scatter",
    "Stream", "Tasklet", "While",
}  # fmt: skip
MAX_FILE = 500
MAX_FUNCTION = 60  # lines with the docstring; 40 is the aim


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def none_of(found: list[str]) -> None:
    assert not found, "\n".join(found)


def trees() -> list[tuple[Path, ast.Module]]:
    return [(path, tree_of(path)) for path in PACKAGE]


@pytest.fixture(scope="module", name="modules")
def parsed() -> list[tuple[Path, ast.Module]]:
    return trees()


def test_files_are_short():
    none_of([name_of(p) for p in [*SOURCES, *AROUND] if len(p.read_text().splitlines()) > MAX_FILE])


def test_functions_are_short(modules):
    long = [
        f"{name_of(path)}:{node.lineno} {node.name}"
        for path, tree in modules
        for node in nodes_of(tree)
        if isinstance(node, ast.FunctionDef) and (node.end_lineno or 0) - node.lineno >= MAX_FUNCTION
    ]
    none_of(long)


def test_modules_are_named_after_a_concept():
    none_of([name_of(p) for p in [*PACKAGE, *AROUND] if {p.stem, p.parent.name} & BANNED_NAMES])


def test_modules_say_what_lives_here(modules):
    assert [name_of(path) for path, tree in modules if tree.body and ast.get_docstring(tree) is None] == []


def test_docstrings_begin_with_an_imperative_or_a_noun(modules):
    found = []
    for path, tree in modules:
        for node in nodes_of(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_docstring(node) or "."
                if text.split()[0] in QUESTIONS:
                    found.append(f"{name_of(path)}:{node.body[0].lineno}: {text.splitlines()[0]}")
    none_of(found)


def test_docstrings_of_functions_are_no_third_person_and_no_fragments(modules):
    found = []
    for path, tree in modules:
        for node in nodes_of(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_docstring(node) or ""
                is_fragment = (text or ".").split()[0] in FRAGMENTS and RULES not in path.as_posix()
                if THIRD_PERSON.match(text) or is_fragment:
                    found.append(f"{name_of(path)}:{node.body[0].lineno}: {text.splitlines()[0]}")
    none_of(found)


def definitions(tree: ast.Module) -> list[str]:
    """Return the names of classes and of aliases of types that a module defines."""
    aliases = [node.targets[0] for node in tree.body if isinstance(node, ast.Assign)]
    return [
        *(node.name for node in nodes_of(tree) if isinstance(node, ast.ClassDef)),
        *(alias.id for alias in aliases if isinstance(alias, ast.Name)),
    ]


def test_one_name_is_one_class(modules):
    """The words that once were several classes, and all classes of `dcpy`."""
    once = ONE_CLASS_EACH | {name for names in dcpy._NAMES.values() for name in names if name[0].isupper()}
    found: dict[str, list[str]] = {}
    for path, tree in modules:
        for name in set(definitions(tree)) & (once - TEXTS_OF_DACE):
            found.setdefault(name, []).append(name_of(path))
    none_of([f"{name}: {', '.join(paths)}" for name, paths in sorted(found.items()) if len(paths) > 1])
    assert set(found) >= {"Builder", "Program", "Block", "Scope"}


def test_each_class_has_a_name_of_its_own(modules):
    """Private ones, too: a name with an underscore is no other name to a reader."""
    found: dict[str, list[str]] = {}
    for path, tree in modules:
        for node in nodes_of(tree):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name.lstrip("_"), []).append(f"{name_of(path)}:{node.lineno} {node.name}")
    several = {name: places for name, places in found.items() if len(places) > 1 and name not in OF_SEVERAL_LANGUAGES}
    none_of([place for places in several.values() for place in places])
    assert not {name for name in OF_SEVERAL_LANGUAGES if len(found[name]) < 2}


def test_modules_postpone_annotations(modules):
    missing = [
        name_of(path)
        for path, tree in modules
        if any(isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AnnAssign) for node in tree.body)
        and "from __future__ import annotations" not in path.read_text()
    ]
    none_of(missing)


def test_only_the_command_line_prints_and_exits(modules):
    found = [
        f"{name_of(path)}:{node.lineno}"
        for path, tree in modules
        if path.relative_to(ROOT).parts[1] not in ("cli", "__main__.py")
        for node in nodes_of(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in LOUD_CALLS
    ]
    none_of(found)


def test_nothing_is_evaluated(modules):
    found = [
        f"{name_of(path)}:{node.lineno}"
        for path, tree in modules
        for node in nodes_of(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in BANNED_CALLS
    ]
    none_of(found)


def test_nothing_is_unpickled(modules):
    found = [
        f"{name_of(path)}:{node.lineno}"
        for path, tree in modules
        for node in nodes_of(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        and BANNED_IMPORTS & {getattr(node, "module", ""), *(alias.name for alias in node.names)}
    ]
    none_of(found)


def test_only_the_options_read_the_environment(modules):
    readers = {
        name_of(path)
        for path, tree in modules
        for node in nodes_of(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node) in {"os.environ", "os.getenv"}
    }
    assert readers <= {"dcpy/base/options.py"}


def test_no_unfinished_work_is_left():
    found = [
        f"{name_of(path)}:{number}"
        for path in SOURCES
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if "TODO" in line or "FIXME" in line or "XXX" in line
    ]
    none_of(found)


def test_no_path_of_one_machine_is_written_down():
    path = re.compile(rf"(?<![\w.])/({'|'.join(HOMES)})/")
    files = [*SOURCES, *AROUND, *PAGES, ROOT / "Makefile", ROOT / "pyproject.toml", ROOT / "mkdocs.yml"]
    none_of([name_of(p) for p in files if path.search(p.read_text())])


def test_importing_dcpy_is_quick_and_light():
    """NumPy excepted: what is asked for is dcpy's own share, and that no heavy package comes with it."""
    program = (
        "import sys, time, numpy\n"
        "start = time.perf_counter()\n"
        "import dcpy\n"
        "print(time.perf_counter() - start, *sorted(m for m in sys.modules if '.' not in m))"
    )
    command = [sys.executable, "-c", program]
    runs = [subprocess.check_output(command, cwd=ROOT, text=True).split() for _ in range(3)]
    seconds, *loaded = min(runs, key=lambda run: float(run[0]))  # the first may have to compile bytecode
    assert HEAVY.isdisjoint(loaded)
    assert float(seconds) < 0.25


@pytest.mark.cc
@pytest.mark.parametrize("name", ["gemm", "jacobi_2d"])
def test_a_first_call_stays_light(name, tmp_path):
    """With an empty cache, so that everything from parsing to compiling happens."""
    program = (
        "import sys\n"
        f"from examples.{name} import {name}, initialize\n"
        f"{name}(**initialize(10))\n"
        "print(*(m for m in sys.modules if '.' not in m))"
    )
    environment = {**os.environ, "DCPY_CACHE_DIR": str(tmp_path)}
    loaded = subprocess.check_output([sys.executable, "-c", program], cwd=ROOT, text=True, env=environment).split()
    assert TOO_HEAVY_FOR_A_FIRST_CALL.isdisjoint(loaded)


def test_each_name_of_dcpy_has_one_home():
    """Two modules once offered `dcpy.load`, and the later one won."""
    assert sum(map(len, dcpy._NAMES.values())) == len(dcpy._HOME)
