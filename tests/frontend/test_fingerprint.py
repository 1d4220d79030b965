"""The key of warm starts: it changes with everything that the function's meaning depends on."""

import numpy as np
import pytest

from dcpy.frontend.fingerprint import fingerprint as describe

SCALE = 2.0


def helper(x):
    return x + 1


def fingerprint(function):
    return describe(function)[0]


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
    _, reads = describe(kernel)
    assert [(read.source[2], read.value) for read in reads] == [("SCALE", SCALE), ("helper", helper)]
