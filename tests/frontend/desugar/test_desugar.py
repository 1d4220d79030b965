"""Core statements: loop else, statements after a return, refusals; and which names live on."""

import ast
import textwrap

import pytest

from dcpy.base.errors import FrontendError
from dcpy.frontend.desugar import core
from dcpy.frontend.desugar.liveness import Liveness
from dcpy.frontend.desugar.statements import Desugarer
from dcpy.frontend.introspection.function_source import Source


def desugared(text):
    node = ast.parse(textwrap.dedent(text)).body[0]
    return Desugarer(Source(None, node, "<test>")).function(node)


def shape(body):
    """The kinds of statements, nested."""
    return [type(s).__name__ if not s.bodies() else (type(s).__name__, *map(shape, s.bodies())) for s in body]


def test_what_follows_a_return_moves_into_the_other_side():
    found = desugared("""
        def f(n):
            if n:
                return 1
            n += 1
            return n
    """)
    assert shape(found.body) == [("If", ["Return"], ["Augment", "Return"])]


def test_loop_else_becomes_a_flag():
    found = desugared("""
        def f(a):
            for x in a:
                if x:
                    break
            else:
                a = 1
    """)
    assert shape(found.body) == ["Assign", ("For", [("If", ["Assign", "Break"], [])]), ("If", ["Assign"], [])]


def test_docstrings_annotations_and_pass_leave_nothing():
    found = desugared("""
        def f(a):
            "Says what it does."
            x: int
            pass
            y: int = a
    """)
    assert shape(found.body) == ["Assign"]


def test_names_that_a_loop_carries():
    found = desugared("""
        def f(a):
            s = 0
            for i in a:
                t = i * 2
                s = s + t
            return s
    """)
    loop = found.body[1]
    names = Liveness(found).loops[loop]
    assert names.bound == {"i", "t", "s"}
    assert names.head & names.bound == {"s"}
    assert names.after == {"s"}


def test_names_read_after_a_branch():
    found = desugared("""
        def f(n):
            if n:
                x, y = 1, 2
            else:
                x = 3
            return x
    """)
    branch = found.body[0]
    assert isinstance(branch, core.If)
    assert Liveness(found).after[branch] == {"x"}


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("try: pass\n    except ValueError: pass", "try is not supported"),
        ("class X: pass", "classes inside a program are not supported"),
        ("global x; x = 1", "a program cannot assign global variables"),
        ("await a", "async code is not supported"),
        ("match a:\n        case {1: x, **y}: pass", "the pattern .* is not supported"),
    ],
)
def test_refusals_have_a_rewrite(statement, message):
    with pytest.raises(FrontendError, match=message) as caught:
        desugared(f"def f(a):\n    {statement}\n")
    assert caught.value.help
    assert caught.value.span is not None
