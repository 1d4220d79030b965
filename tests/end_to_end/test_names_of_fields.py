"""Names of fields: those of methods and attributes of lists, dictionaries and arrays are names like others."""

from __future__ import annotations

import dataclasses
import linecache

import numpy as np
import pytest

import dcpy

SOURCE = """
class Plain:
    def __init__(self, {name}):
        self.{name} = {name}

    def add(self, {name}):
        return self.{name} + {name}

    def grow(self, {name}):
        self.{name} = self.{name} + {name}
        self.{name} += 1.0

    def scaled(self, {name}=2.0):
        return self.{name} * {name}

    def local(self):
        {name} = self.{name}
        return {name}[0] + sum([{name} * 2 for {name} in self.{name}])


@dataclasses.dataclass
class Data:
    {name}: np.ndarray

    def grow(self, {name}):
        self.{name} = self.{name} + {name}
        return self.{name}.sum() + self.{name}.shape[0]


class Holder:
    def __init__(self):
        self.{name} = []

    def put(self, {name}):
        for value in {name}:
            self.{name}.append(value)
        return len(self.{name})


def plain(x):
    made = Plain(x)
    made.grow(x)
    return made.{name} + made.add({name}=x) + made.scaled() + made.scaled({name}=3.0) + made.local()


def data(x):
    made = Data(x)
    return made.grow(x) + made.{name}


def holder(x):
    made = Holder()
    count = made.put((x[0], x[1]))
    made.put([x[2]])
    return sum(made.{name}) + count


def passed(x, given):
    return given.add(x) + given.scaled({name}=x) + given.local()


def alike(x):
    {name} = Plain(x)
    {name}.grow({name}.{name})
    return {name}.{name} + getattr({name}, "{name}")
"""
NAMES = ("items", "keys", "values", "append", "pop", "shape", "T", "size", "ndim", "dtype", "flat", "data", "real")


def functions(name):
    file, text = f"<fields called {name}>", SOURCE.format(name=name)
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    found = {"__name__": "fields", "dataclasses": dataclasses, "np": np}
    exec(compile(text, file, "exec"), found)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_fields_have_any_names(name):
    made = functions(name)
    for title in ("plain", "data", "holder", "alike"):
        x = np.array([1.0, 2.0, 4.0])
        expected = made[title](x.copy())
        assert np.allclose(dcpy.program(made[title]).to_sdfg(x).interpret(x), expected), title


@pytest.mark.cc
@pytest.mark.parametrize("name", ["items", "shape"])
def test_objects_that_are_passed_do_too(name):
    made, x = functions(name), np.array([1.0, 2.0, 4.0])
    given = made["Plain"](x)
    assert np.allclose(dcpy.program(made["passed"])(x, given), made["passed"](x, given))


def test_why_an_object_of_a_plain_class_is_not_changed():
    made, x = functions("items"), np.ones(3)

    def program(x, given):
        given.grow(x)
        return x

    with pytest.raises(dcpy.FrontendError) as caught:
        dcpy.program(program).to_sdfg(x, made["Plain"](x))
    assert "Plain is not a dataclass, so its objects from outside the program are constants" in str(caught.value)
    assert "or create the object in the program" in str(caught.value)


def test_arrays_still_have_a_shape_to_set():
    def program(x):
        y = x * 2
        y.shape = (3, 1)
        return y

    assert dcpy.program(program).to_sdfg(np.ones(3)).interpret(np.ones(3)).shape == (3, 1)
