"""Prototypes of C functions: read, spelled, and held against calls."""

from __future__ import annotations

import pytest

from dcpy.base.errors import DcpyError
from dcpy.base.library_environment import Environment
from dcpy.base.prototypes import CType, Prototype, prototype
from dcpy.ir.library.foreign_functions import refusal
from tests.support.expect import parse


@pytest.mark.parametrize(
    "text",
    [
        "double f(const double *, int);",
        "void nothing();",
        "uint64_t *many(const void *, bool, size_t, char **);",
        "int64_t draw(void *, double);",
    ],
)
def test_texts_round_trip(text):
    assert str(prototype(text)) == text


def test_what_is_read_is_data():
    assert prototype(" double f( const double* , int ) ") == Prototype(
        "f", CType("double"), (CType("double", const=True, pointers=1), CType("int"))
    )
    assert prototype("int f(void);").parameters == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("double f", "is no prototype"),
        ("double f(double) { return 1; }", "is no prototype"),
        ("double f(struct point);", "'struct point' in 'double f(struct point);' is no type here"),
        ("system(const char *);", "'' in 'system(const char *);' is no type here"),
        ("int f(int x);", "'int x' in"),
        ("int f(int (*)(int));", "is no prototype"),
    ],
)
def test_what_is_none_is_refused(text, message):
    with pytest.raises(DcpyError) as caught:
        prototype(text)
    assert message in str(caught.value)


def test_a_call_has_the_arguments_that_the_function_takes():
    sdfg = parse("""
        sdfg @f(x: f64[4], y: f64[1]) {
          state { foreign (x <- x[0:4]) -> (y -> y[0]) from mine { y = norm(&x, i32(4), i32(1)) } }
        }""")
    (call,) = sdfg.body.walk_nodes()
    known = {"mine": Environment("mine", prototypes=(prototype("double norm(const double *, int);"),))}
    assert refusal(call, known) == "norm takes 2 arguments, not 3"
    known = {"mine": Environment("mine", prototypes=(prototype("double norm(const double *, int, int);"),))}
    assert refusal(call, known) == ""
