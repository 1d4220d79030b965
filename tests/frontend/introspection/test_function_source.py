"""Sources: found, refused where there are none, compared with what Python runs."""

import __future__

import ast
import doctest
import importlib.util
import linecache
import subprocess
import sys
import zipfile

import pytest

from dcpy.base.errors import FrontendError
from dcpy.frontend.introspection.function_source import read_source


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def test_places_point_into_the_file():
    def inner(a):
        return a + 1

    source = read_source(inner)
    span = source.span(source.node.body[0].value)
    assert span.excerpt()[span.column : span.end_column] == "a + 1"


def test_functions_whose_text_nobody_kept_are_refused():
    namespace = {}
    exec("def f(a):\n    return a", namespace)
    with pytest.raises(FrontendError, match="the source of 'f' cannot be read") as caught:
        read_source(namespace["f"])
    assert 'linecache.cache["<made>"]' in str(caught.value)


def test_builtin_functions_are_refused():
    with pytest.raises(FrontendError, match="is not a Python function"):
        read_source(len)


def edited(path, before, after, *, read_before=False):
    """A module whose file is edited after it was imported; `read_before`: its lines are known from before."""
    path.write_text(before)
    module = load(path)
    linecache.checkcache(str(path))
    if read_before:
        assert linecache.getlines(str(path))
    path.write_text(after)
    return module


ROOT = "import math\n\ndef f(a):\n    return math.sqrt(a)\n"


def test_w1_a_file_that_changed_after_import(tmp_path):
    module = edited(tmp_path / "changing.py", ROOT, ROOT.replace("sqrt(a)", "sin(a) * 2"))
    with pytest.raises(FrontendError, match="changed after it was imported"):
        read_source(module.f)


@pytest.mark.parametrize("after", ["sqrt(a + 1)", "sqrt(b)", "sqrt(-a)", "sqrt(a) if a else 1.0", "cos(a)"])
def test_w1_no_other_meaning_is_taken(tmp_path, after):
    module = edited(tmp_path / "another.py", ROOT, ROOT.replace("sqrt(a)", after))
    with pytest.raises(FrontendError, match="changed after it was imported"):
        read_source(module.f)


def test_w1_what_python_has_read_is_the_source_though_the_file_changed(tmp_path):
    module = edited(tmp_path / "kept.py", ROOT, ROOT.replace("sqrt", "sin"), read_before=True)
    assert "sqrt" in ast.unparse(read_source(module.f).node)


def test_w1_a_function_that_only_moved_is_found_where_it_is(tmp_path):
    two = "def g(a):\n    return a\n\n"
    module = edited(tmp_path / "moved.py", ROOT, ROOT.replace("def f", f"{two}# said\ndef f"))
    assert read_source(module.f).node.lineno == 7


def test_w1_of_two_definitions_the_one_that_runs(tmp_path):
    path = tmp_path / "twice.py"
    path.write_text("def f(a):\n    return a + 1\ng = f\ndef f(a):\n    return a + 2\n")
    module = load(path)
    assert [read_source(f).node.lineno for f in (module.g, module.f)] == [1, 4]


def test_w1_lambdas_are_found_where_they_are():
    f = lambda x: x * 2  # noqa: E731
    g, h = lambda x: x, lambda x: -x
    k = lambda x: (lambda y: (y))(x)  # noqa: E731
    j = lambda x: [y for y in (x,)][0]  # noqa: E731, RUF015
    found = [ast.unparse(read_source(function).node.body) for function in (f, g, h, k, j)]
    assert found == ["x * 2", "x", "-x", "(lambda y: y)(x)", "[y for y in (x,)][0]"]
    assert [f(1), g(1), h(1), k(1), j(1)] == [2, 1, -1, 1, 1]


def test_w1_inner_lambdas_and_equal_ones():
    outer = lambda: lambda x: x + 1  # noqa: E731
    assert ast.unparse(read_source(outer()).node.body) == "x + 1"
    a, b = lambda x: x + 1, lambda x: x + 1
    assert read_source(a).node.body.col_offset < read_source(b).node.body.col_offset
    assert a(1) == b(1) == outer()(1)


def test_w1_asserts_that_pytest_rewrites(tmp_path):
    """This very file is rewritten by pytest: functions with assertions are found, others in their place are not."""

    def checked(a):
        assert a.shape[0] > 2, f"{a.shape} is too small"
        return [x for x in a if (lambda y: y > 0)(x)]

    assert "@" in " ".join((*checked.__code__.co_names, *checked.__code__.co_varnames))
    assert read_source(checked).node.name == "checked"


def test_w1_statements_compiled_one_by_one_as_notebooks_do():
    """IPython compiles each statement alone: CPython then does not know that np is a module."""
    text = "import numpy as np\ndef f(a, b):\n    return np.sin(a).sum(axis=0) + np.dot(a, b, out=a)\n"
    name, namespace = "<statement by statement>", {}
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    for statement in ast.parse(text).body:
        exec(compile(ast.Module([statement], []), name, "exec"), namespace)
    whole = compile(text, name, "exec").co_consts
    assert namespace["f"].__code__.co_code not in [c.co_code for c in whole if hasattr(c, "co_code")]
    assert read_source(namespace["f"]).node.lineno == 2


def test_w1_exec_with_a_text_that_linecache_knows():
    text, namespace = "def f(a):\n    return a + 1\n", {}
    linecache.cache["<made>"] = (len(text), None, text.splitlines(True), "<made>")
    exec(compile(text, "<made>", "exec"), namespace)
    source = read_source(namespace["f"])
    assert source.span(source.node.body[0]).excerpt() == "    return a + 1"


def test_w1_futures_of_the_text_count():
    text = "def f(a):\n    def g(x: undefined):\n        return x\n    return g(a)\n"
    linecache.cache["<future>"] = (len(text), None, text.splitlines(True), "<future>")
    namespace = {}
    exec(compile(text, "<future>", "exec", flags=__future__.annotations.compiler_flag), namespace)
    assert read_source(namespace["f"]).node.name == "f"


def test_w1_modules_in_zip_files(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "code.zip", "w") as archive:
        archive.writestr("packed.py", "def f(a):\n    return a * 3\n")
    monkeypatch.syspath_prepend(str(tmp_path / "code.zip"))
    source = read_source(importlib.import_module("packed").f)
    assert source.span(source.node.body[0]).excerpt() == "    return a * 3"


def test_w1_examples_in_docstrings():
    text = """
    >>> def f(a):
    ...     return a + 1
    >>> read(f)
    'a + 1'
    >>> read(lambda a: -a)
    '-a'
    """

    def read(function):
        node = read_source(function).node
        return ast.unparse(node.body if isinstance(node, ast.Lambda) else node.body[0].value)

    example = doctest.DocTestParser().get_doctest(text, {"read": read}, "docs", None, 0)
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0


PROGRAM = """
from dcpy.frontend.introspection.function_source import read_source
def f(a):
    return a + 1
print(read_source(f).span(read_source(f).node.body[0]).excerpt().strip(), read_source(lambda: 7).node.body.value)
"""


@pytest.mark.parametrize("options", [["-c", PROGRAM], [f"-c{PROGRAM}"], ["-I", "-c", PROGRAM, "x", "-y"]])
def test_w1_commands(options):
    done = subprocess.run([sys.executable, *options], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("return a + 1 7\n", "")


def test_w1_standard_input(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    with open(tmp_path / "program.py") as file:
        done = subprocess.run([sys.executable], stdin=file, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("return a + 1 7\n", "")
    piped = subprocess.run([sys.executable], input=PROGRAM, capture_output=True, text=True, check=False)
    assert "typed at Python's prompt, or piped into Python, which keeps no source" in piped.stderr


def test_w1_lambdas_without_columns(tmp_path):
    (tmp_path / "plain.py").write_text(
        "from dcpy.frontend.introspection.function_source import read_source\n"
        "f = lambda a: a + 1\n"
        "print(read_source(f).node.lineno, flush=True)\n"
        "g, h = lambda a: a * 2, lambda a: a * 3\n"
        "read_source(g)\n"
    )
    command = [sys.executable, "-X", "no_debug_ranges", str(tmp_path / "plain.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "2\n"
    assert "there are several lambdas on this line" in done.stderr
