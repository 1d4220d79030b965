"""Sources: found, refused where there are none, compared with what Python runs."""

import importlib.util
import sys

import pytest

from dcpy.base.errors import FrontendError
from dcpy.frontend.source import read_source


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


def test_functions_without_a_file_are_refused():
    namespace = {}
    exec("def f(a):\n    return a", namespace)
    with pytest.raises(FrontendError, match="the source of 'f' cannot be read"):
        read_source(namespace["f"])


def test_builtin_functions_are_refused():
    with pytest.raises(FrontendError, match="is not a Python function"):
        read_source(len)


def test_a_file_that_changed_after_import(tmp_path):
    path = tmp_path / "changing.py"
    path.write_text("import math\n\ndef f(a):\n    return math.sqrt(a)\n")
    module = load(path)
    assert read_source(module.f).node.name == "f"
    path.write_text("import math\n\ndef f(a):\n    return math.sin(a) * 2\n")
    with pytest.raises(FrontendError, match="changed after it was imported"):
        read_source(module.f)


def test_lambdas_are_found_by_line():
    f = lambda x: x * 2  # noqa: E731
    assert read_source(f).node.args.args[0].arg == "x"
    g, h = lambda x: x, lambda x: -x
    with pytest.raises(FrontendError, match="several lambdas on this line"):
        read_source(g)
    assert h(1) == -1
