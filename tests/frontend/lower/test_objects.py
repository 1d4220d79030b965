"""Refusals: what programs do not do with objects, and what they say instead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import dcpy
from tests.support.oracles import assert_equal


@dataclass
class Box:
    x: np.ndarray
    t: float = 0.0
    history: Any = None

    def grow(self):
        self.t += 1.0
        return self.t

    def total(self):
        return self.x.sum()


@dataclass(frozen=True)
class Fixed:
    a: float
    x: np.ndarray


class Point(NamedTuple):
    x: np.ndarray
    y: float


class Plain:
    a = 1.0


class OwnNew(Box):
    def __new__(cls, x):
        return object.__new__(cls)


BOX = Box(np.ones(3))


def refusal(function, *arguments):
    """The first line, and the help."""
    with pytest.raises(dcpy.DcpyError) as caught:
        dcpy.program(function).to_sdfg(*arguments)
    lines = str(caught.value).split("\n")
    help_ = [line.strip() for line in lines if line.startswith("  = help: ")]
    return "\n".join([lines[0].partition(": ")[2], *help_])


def wrong_name(b):
    return b.totl()


def unknown_field(b):
    b.u = 1.0


def list_field(b):
    return b.history[0]


def global_object(x):
    BOX.t = x[0]


def plain_object(p):
    p.a = 2.0


def frozen(f):
    f.a = 2.0


def frozen_array(f):
    f.x += 2.0


def item_of_object(f):
    return f[0]


def named_item(p):
    p.y = 1.0


def in_parallel(b):
    for i in dcpy.map[0:3]:
        b.t = 2.0


def under_a_condition(b, c):
    return b.grow() if c > 0 else 2.0


def one_of_two(b, c):
    q = b if c > 0 else Box(b.x, 1.0)
    q.t += 1.0
    return q.t


def added(f):
    return 1.0 + f


def as_array(f):
    return np.array(f)


def is_it(f, g):
    return f is g


def missing_argument(x):
    return Box()


def own_constructor(x):
    return OwnNew(x)


def equality(a, b):
    return a == b


def a_set(b):
    b.history = {1, 2}


def depends_on_the_path(b, c):
    if c > 0:
        b.t = b.x


REFUSED = [
    (wrong_name, [BOX], "Box object has no attribute 'totl'\n= help: did you mean 'total'?"),
    (unknown_field, [BOX], "Box has no field 'u'\n= help: a program does not add fields: declare it in the class"),
    (list_field, [Box(np.ones(3), history={})], "the field 'b.history' is a dict, which a program cannot read\n"
     "= help: hold the values in arrays, or in fields of their own"),
    (list_field, [Box(np.ones(3), history=[1])], "the field 'b.history' is a list, but an array is needed\n"
     "= help: pass np.array(b.history)"),
    (global_object, [np.ones(2)], "the attribute 't' cannot be assigned here\n= help: pass the object as an argument"),
    (plain_object, [Plain()], "the attribute 'a' cannot be assigned here\n"
     "= help: make the class a dataclass (@dataclasses.dataclass), or create the object in the program"),
    (frozen, [Fixed(1.0, np.ones(2))], "cannot assign to field 'a'\n"
     "= help: make a changed copy: `dataclasses.replace(obj, a=...)`"),
    (frozen_array, [Fixed(1.0, np.ones(2))], "cannot assign to field 'x'\n"
     "= help: make a changed copy: `dataclasses.replace(obj, x=...)`"),
    (item_of_object, [Fixed(1.0, np.ones(2))], "an object of Fixed cannot be indexed"),
    (named_item, [Point(np.ones(2), 1.0)], "items of a tuple are never assigned\n"
     "= help: make a new tuple, or use a dataclass"),
    (in_parallel, [BOX], "iterations of a parallel map cannot assign the field 't', which they share\n"
     "= help: store into an array, assign the field after the map, or use a plain for loop"),
    (under_a_condition, [BOX, 1], "'b.t' is assigned in a part of an expression that is evaluated under a condition "
     "only\n= help: use an `if` statement"),
    (one_of_two, [BOX, 1], "the value of the conditional expression is one of 2 objects here, depending on "
     "the path taken\n= help: assign the fields of one object, or give each name a new object: "
     "`x = dataclasses.replace(...)`"),
    (added, [Fixed(1.0, np.ones(2))], "unsupported operands for +: 1.0 and an object of Fixed"),
    (as_array, [Fixed(1.0, np.ones(2))], "cannot make an array of an object of Fixed\n"
     "= help: pass a number or an array"),
    (is_it, [Fixed(1.0, np.ones(2)), Fixed(1.0, np.ones(2))], "whether an object of Fixed is the same object is not "
     "known\n= help: compare its fields"),
    (missing_argument, [BOX.x], "Box(): missing a required argument: 'x'"),
    (own_constructor, [BOX.x], "a program cannot make an object of OwnNew\n"
     "= help: make the object outside of the program, and pass it as an argument"),
    (equality, [BOX, Box(BOX.x)], "an object of Box is compared with an object of Box\n"
     "= help: compare their fields, or `a is b`"),
    (a_set, [BOX], "a program cannot return a set\n"
     "= help: return numbers, arrays, None, or tuples of them"),
    (depends_on_the_path, [BOX, 1], "the field 'b.t': 'b.t' is an array float64[N] or a scalar float64 here, depending "
     "on the path taken\n= help: use different names, or give both paths the same type"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "arguments", "message"), REFUSED, ids=lambda part: getattr(part, "__name__", ""))
def test_refusals(function, arguments, message):
    assert refusal(function, *arguments) == message


def test_fields_that_are_not_read_may_be_anything_and_are_no_arguments():
    def f(b):
        return b.x.sum()

    for history in ([1], {}, "text", object(), np.array(["a"])):
        assert dcpy.program(f).to_sdfg(Box(np.ones(3), history=history)).arguments == ["b_x"]


def test_the_text_shows_parts_as_containers_and_new_fields_as_results(tmp_path):
    def f(b, pair):
        b.t = b.x[0]
        return pair[0] + pair[1][0]

    sdfg = dcpy.program(f).to_sdfg(BOX, (1.0, (np.ones(2),)))
    first = str(sdfg).split("\n", maxsplit=1)[0]
    assert first == (
        "sdfg @f(b_x: f64[N], pair_0: f64, pair_1_0: f64[M]) symbols(N: size, M: size) "
        "-> (__return: array, __return_1: scalar) as (0, (1,)) {"
    )
    assert str(dcpy.parse(str(sdfg))) == str(sdfg)
    sdfg.save(tmp_path / "f.sdfg")
    assert str(dcpy.load(tmp_path / "f.sdfg")) == str(sdfg)


def test_attributes_by_name():
    def named(box, fixed, point):
        total = getattr(box, "t") + getattr(fixed, "a") + getattr(point, "y")  # noqa: B009
        found = hasattr(box, "total"), hasattr(fixed, "x"), hasattr(fixed, "t"), hasattr(point, "y")
        return total, getattr(box, "total")(), found, getattr(fixed, "missing", total)  # noqa: B009

    arguments = Box(np.ones(3)), Fixed(2.0, np.ones(2)), Point(np.ones(2), 5.0)
    got = dcpy.program(named).to_sdfg(*arguments).interpret(*arguments)
    assert_equal(got, named(*arguments))


def test_the_name_of_an_attribute_is_a_string():
    def by_data(box):
        return getattr(box, box.t)

    assert refusal(by_data, Box(np.ones(3))) == """\
the name of an attribute must be a string that is known at compile time, but is a scalar float64
= help: branch on the condition, and write the attribute in each branch: `y = x.max() if largest else x.min()`"""
