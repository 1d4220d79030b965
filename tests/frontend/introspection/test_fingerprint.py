"""The key of warm starts: it changes with everything that the function's meaning depends on."""

import numpy as np
import pytest

from dcpy.frontend.introspection.fingerprint import fingerprint as describe

SCALE = 2.0


def helper(x):
    return x + 1


def fingerprint(function):
    return describe(function).key


def kernel(x):
    return np.exp(helper(x)) * SCALE


def test_is_stable():
    assert fingerprint(kernel) == fingerprint(kernel) != ""


def test_changes_with_a_global_constant(monkeypatch):
    before = fingerprint(kernel)
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert fingerprint(kernel) != before


def test_tells_numbers_of_other_types_apart(monkeypatch):
    before = fingerprint(kernel)
    monkeypatch.setitem(globals(), "SCALE", 2)
    assert fingerprint(kernel) != before


def test_changes_with_a_called_function(monkeypatch):
    before = fingerprint(kernel)
    monkeypatch.setitem(globals(), "helper", lambda x: x + 2)
    assert fingerprint(kernel) != before


def test_changes_with_a_free_variable():
    def make(n):
        def inner(x):
            return x * n

        return inner

    assert fingerprint(make(1)) != fingerprint(make(2))


class Settings:
    scale = 2.0


@pytest.mark.parametrize("value", [object(), np.ones(3), Settings, Settings()])
def test_global_arrays_classes_and_unknown_objects_make_no_key(monkeypatch, value):
    monkeypatch.setitem(globals(), "SCALE", value)
    assert fingerprint(kernel) == ""


def test_reads_name_what_must_stay():
    known = describe(kernel)
    assert [(read.source[2], read.value) for read in known.reads] == [("SCALE", SCALE), ("helper", helper)]


def test_w13_files_lines_and_names_of_modules_are_no_part_of_it():
    def made(text, name):
        namespace = {"np": np, "__name__": name}
        exec(compile(text, f"/somewhere/{name}.py", "exec"), namespace)
        return namespace["f"]

    text = "def f(x):\n    y = np.exp(x)\n    return [y + k for k in range(2)]\n"
    key = fingerprint(made(text, "one"))
    assert key == fingerprint(made("\n\n# said\n" + text, "another")) != ""
    assert key != fingerprint(made(text.replace("exp(x)\n", "exp(x)\n\n"), "one"))  # messages name its lines
    assert key != fingerprint(made(text.replace("y = np", "y  = np"), "one"))
    assert describe(kernel).codes == (kernel.__code__, helper.__code__)
