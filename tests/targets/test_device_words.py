"""Words of a device outside of its own folders: each module that has one is in a short list, with the reason.

Counted are names, imports and texts of the code; what docstrings and comments mention as an example is not.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import dcpy
from tests.support.syntax_trees import nodes_of, tree_of

PACKAGE = Path(dcpy.__file__).parent
CATALOG, VOCABULARY, EXPANSION, ADVICE = (
    "a catalog: a list of names, loaded when they are asked for",
    "words of the IR, which every pass may read",
    "an expansion stands with its node, and says which target it is for",
    "advice in a message",
)
WORDS = {
    "gpu": re.compile(r"(?<![a-z])(gpus?|cuda|hip)(?![a-z])", re.IGNORECASE),
    "fpga": re.compile(r"(?<![a-z])(fpgas?|hls|opencl|vitis|xilinx)(?![a-z])", re.IGNORECASE),
}
FOLDERS = {"gpu": re.compile(r"(^|/)(gpu(/|\.py|_)|libraries/vendor/)"), "fpga": re.compile(r"(^|/)fpga(/|\.py|_)")}
OUTSIDE = {
    "gpu": {
        "__init__.py": "dcpy.gpu is a public module",
        "base/foreign_arrays.py": "protocols of other libraries",
        "base/option_groups/keywords.py": "the types of options",
        "base/options.py": "declares the device and its options",
        "codegen/lower/device_lowering.py": ADVICE,
        "frontend/dataflow/storage_and_schedules.py": "DaCe's names",
        "frontend/lower/member_lookup.py": ADVICE,
        "frontend/specialize/record_arguments.py": "protocols of other libraries",
        "ir/analysis/device_side.py": VOCABULARY,
        "ir/verify/rules/placement.py": "rules of verification for memory of a device",
        "libraries/blas/expand/cublas.py": EXPANSION,
        "libraries/blas/expand/fused_gemv_pair_blocks.py": EXPANSION,
        "libraries/catalog.py": CATALOG,
        "libraries/fft/expand/cufft.py": EXPANSION,
        "libraries/indexing/expand/device.py": EXPANSION,
        "libraries/lapack/expand/cusolver.py": EXPANSION,
        "libraries/reduce/expand/device.py": EXPANSION,
        "libraries/scan/expand/device.py": EXPANSION,
        "runtime/calls/compiled_function.py": ADVICE,
        "runtime/loading/devices.py": CATALOG,
        "targets/catalog.py": CATALOG,
        "transforms/catalog.py": CATALOG,
        "transforms/expand.py": ADVICE,
    },
    "fpga": {
        "base/option_groups/keywords.py": "the types of options",
        "base/options.py": "declares the device and its options",
        "frontend/dataflow/storage_and_schedules.py": "DaCe's names",
        "ir/data.py": VOCABULARY,
        "ir/files/json_kinds.py": VOCABULARY,
        "ir/text/declaration_parser.py": VOCABULARY,
        "ir/verify/__init__.py": CATALOG,
        "ir/verify/forms.py": CATALOG,
        "libraries/blas/expand/systolic_arrays.py": EXPANSION,
        "runtime/loading/devices.py": CATALOG,
        "targets/catalog.py": CATALOG,
        "transforms/catalog.py": CATALOG,
    },
}

#: what ranks have of their own, and who imports it from outside
RANKS = re.compile(
    r"^dcpy\.(comm|distributed|cli\.(doctor_mpi|rank_launcher|standalone_programs)|frontend\.comm|ir\.analysis\.distributed"
    r"|ir\.interp\.(local_parts|virtual_ranks)|libraries\.(mpi|pblas)|programs\.ranks|runtime\.distributed|targets\.ranks"
    r"|transforms\.distributed)\b"
)
IMPORT_RANKS = {
    "api.py": "programs of ranks are a public class",
    "cli/main.py": "the command `dcpy run`",
    "cli/sdfgcc.py": "the flag --mpi",
    "driver.py": "the libraries of messages are a part of keys",
    "frontend/lower/constant_attributes.py": "names of mpi4py in programs",
    "frontend/lower/function_to_sdfg.py": "a program has to wait for its messages",
    "frontend/lower/functions/call_dispatch.py": "names of mpi4py in programs",
    "frontend/lower/functions/numpy_arguments.py": "requests of messages are no arrays",
    "frontend/numpy/array_creation/creation.py": "requests of messages are no arrays",
    "ir/verify/rules/communication.py": "rules of verification for messages",
    "programs/explanation/explain.py": "distributions that the user gives are explained, too",
    "programs/program_kinds.py": "programs that all ranks call",
    "programs/sdfgs.py": "`SDFG.distribute` and `SDFG.localize`",
    "programs/specialization/specializer.py": "programs of ranks are specialized for all of them",
}


def texts(tree: ast.Module) -> Iterator[str]:
    """Names, imports and texts of a module, without docstrings."""
    docstrings = {
        id(node.body[0].value)
        for node in nodes_of(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in nodes_of(tree):
        match node:
            case ast.Constant(value=str(text)) if id(node) not in docstrings:
                yield text
            case ast.Name(id=text) | ast.Attribute(attr=text) | ast.arg(arg=text) | ast.keyword(arg=str(text)):
                yield text
            case ast.ClassDef(name=text) | ast.FunctionDef(name=text):
                yield text
            case ast.ImportFrom() | ast.Import():
                yield from imported(node)


def imported(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    if isinstance(node, ast.ImportFrom):
        yield from (f"{node.module}.{name.name}" for name in node.names)
    else:
        yield from (name.name for name in node.names)


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path.relative_to(PACKAGE).as_posix(), tree_of(path)


def separated(text: str) -> str:
    """`GpuOptions` has the word `gpu`, too."""
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", text)


def test_words_are_found_in_code_alone():
    code = '"""For GPUs."""\nfrom a.gpu import b\nclass GpuOptions: pass\nx = "hip"\ngroup = "ship"  # of GPUs\n'
    found = [text for text in texts(ast.parse(code)) if WORDS["gpu"].search(separated(text))]
    assert sorted(found) == ["GpuOptions", "a.gpu.b", "hip"]


@pytest.mark.parametrize("device", list(WORDS))
def test_modules_that_name_a_device_have_a_reason(device):
    word, own, allowed = WORDS[device], FOLDERS[device], OUTSIDE[device]
    found = {
        name
        for name, tree in modules()
        if not own.search(name) and any(word.search(separated(text)) for text in texts(tree))
    }
    assert sorted(found) == sorted(allowed)


def test_modules_that_import_what_is_for_ranks_have_a_reason():
    found = set()
    for name, tree in modules():
        whole = "dcpy." + name.removesuffix(".py").replace("/", ".")
        imports = (each for node in nodes_of(tree) if isinstance(node, ast.Import | ast.ImportFrom)
                   for each in imported(node))  # fmt: skip
        if not RANKS.match(whole) and any(map(RANKS.match, imports)):
            found.add(name)
    assert sorted(found) == sorted(IMPORT_RANKS)
