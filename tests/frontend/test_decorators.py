"""W2: decorators of nested functions are applied as Python applies them, or refused at their place."""

import functools
import operator
import re

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import FrontendError, ProgramError
from tests.support.oracles import check_same


def twice(f):
    def g(x):
        return f(f(x))

    return g


def scaled(k, by=1.0):
    def apply(f):
        @functools.wraps(f)
        def g(*args, **keywords):
            return f(*args, **keywords) * k + by

        return g

    return apply


def plus(f, x, n=1):
    return f(x) + n


def test_w2_a_decorator():
    def program(x):
        @twice
        def inner(x):
            return x + 1

        return inner(x)

    check_same(program, np.arange(3.0), compiled=False)


def test_w2_stacked_and_with_arguments():
    def program(x):
        @scaled(3, by=0.5)
        @twice
        @scaled(k=2)
        def inner(x, y=2):
            return x * y

        return inner(x)

    check_same(program, np.arange(3.0), compiled=False)


@twice
@scaled(2)
@twice
@scaled(3, by=2)
def outside(x):
    return x - 1


def test_w2_closures_of_one_definition_call_one_another():
    """Neither `twice` nor `scaled` calls itself: each decorated function has variables of its own."""

    def program(x):
        return outside(x)

    def inside(x):
        @twice
        @twice
        def f(y):
            return y * 2

        return f(x)

    check_same(program, np.arange(3.0), compiled=False)
    check_same(inside, np.arange(3.0), compiled=False)


def down(f, n):
    def g(x):
        return down(f, n - 1)(x) if n != 0 else f(x)

    return g


def fact(n):
    return n * fact(n - 1)


def test_w2_recursion_is_still_refused():
    with pytest.raises(FrontendError, match="'fact' calls itself"):
        dcpy.program(lambda x: fact(x)).to_sdfg(3)
    with pytest.raises(FrontendError, match="calls itself"):
        dcpy.program(lambda x: down(abs, -1)(x)).to_sdfg(np.ones(3))
    known = dcpy.program(lambda x: down(abs, 5)(x)).to_sdfg(-np.ones(3))
    np.testing.assert_array_equal(known.interpret(-np.ones(3)), 1)


def test_w2_decorators_made_inside_and_read_when_python_reads_them():
    def program(x):
        n = x.shape[0]

        def local(f):
            return lambda y: f(y) + n

        @local
        def inner(x):
            return x + n

        n = 100
        return inner(x)

    check_same(program, np.arange(3.0), compiled=False)


def test_w2_lambdas_partials_and_names_bound_on_the_way():
    def program(x):
        @lambda f: f(x)
        def total(z):
            return z.sum()

        found = 0.0
        for i in range(3):

            @functools.partial(scaled, by=i)(k := 2)
            def f(y):
                return y + i

            found += f(x).sum()

        @functools.partial(functools.partial, plus)
        def g(y):
            return y * 2

        return total, found, k, g(x), g(x, n=3)

    check_same(program, np.arange(3.0), compiled=False)


def test_w2_the_order_of_evaluation_is_pythons():
    """Decorators are evaluated before defaults, from above; they are applied from below."""

    def program(x):
        def noted(n):
            x[0] = x[0] * 10 + n

            def apply(f):
                x[0] = x[0] * 10 + n
                return f

            return apply

        def default():
            x[0] = x[0] * 10 + 3
            return 7.0

        @noted(1)
        @noted(2)
        def f(y=default()):  # noqa: B008
            return y

        return f() + x[0]

    check_same(program, np.zeros(2), compiled=False)


def test_w2_those_that_keep_the_meaning():
    def program(x):
        @functools.wraps(twice)
        def f(y):
            return y + 1

        @functools.lru_cache(maxsize=8)
        @dcpy.program
        def g(n):
            return n * 2

        @functools.cache
        def h(n):
            return n * 3

        return f(x), f(x) * h(2)

    check_same(program, np.arange(3.0), compiled=False)
    options = dcpy.program(with_options).to_sdfg(np.arange(3.0)).interpret(np.arange(3.0))
    np.testing.assert_array_equal(options, np.arange(3.0) + 1)


def with_options(x):
    @dcpy.program(simplify=False)
    def f(y):
        return y + 1

    return f(x)


def test_w2_names_of_defaults_and_decorators_live_until_then():
    def program(x):
        if x[0] > 0:
            s, k = 3.0, 2
        else:
            s, k = 4.0, 5

        @scaled(k)
        def f(y, t=s):
            return y * t

        s = k = 0
        return f(x)

    check_same(program, np.arange(3.0), compiled=False)
    check_same(program, np.arange(3.0) + 1, compiled=False)


class Slots:
    __slots__ = ()


table, made = operator.itemgetter(0), operator.methodcaller


def undefined(x):
    @missing  # noqa: F821
    def f(y):
        return y

    return f(x)


def callback(x):
    @dcpy.callback
    def f(y):
        return y

    return f(x)


def number(x):
    k = 3

    @k
    def f(y):
        return y

    return f(x)


def unknown(x):
    @table
    def f(y):
        return y

    return f(x)


def unknown_call(x):
    @made("parallel")
    def f(y):
        return y

    return f(x)


def properties(x):
    @property
    def f(y):
        return y

    return x


def too_many(x):
    @plus
    def f(y):
        return y

    return f(x)


REFUSED = [
    (undefined, "missing", "name 'missing' is not defined", ProgramError),
    (callback, "dcpy.callback", "@dcpy.callback cannot be applied: a Python function that", FrontendError),
    (number, "k", "the decorator @k cannot be applied: 3() is not supported", FrontendError),
    (unknown, "table", "the decorator @table cannot be applied: ", FrontendError),
    (unknown_call, "made('parallel')", "the decorator @made('parallel') cannot be applied: ", FrontendError),
    (properties, "property", "the decorator @property cannot be applied: ", FrontendError),
    (too_many, "plus", "the decorator @plus cannot be applied: plus() missing 1 required argument", FrontendError),
]


@pytest.mark.parametrize(("function", "shown", "message", "kind"), REFUSED, ids=[r[0].__name__ for r in REFUSED])
def test_w2_what_cannot_be_applied_is_refused_at_its_place(function, shown, message, kind):
    with pytest.raises(kind, match=re.escape(message)) as caught:
        dcpy.program(function).to_sdfg(np.ones(3))
    span = caught.value.span
    assert span.excerpt()[span.column : span.end_column].replace('"', "'") == shown
    assert kind is ProgramError or caught.value.help
    assert " at 0x" not in str(caught.value)


def test_w15_classes_of_objects_are_refused_with_the_rewrite():
    def instantiated(x):
        return Slots()

    with pytest.raises(FrontendError) as caught:
        dcpy.program(instantiated)(np.ones(3))
    assert "make it a dataclass" in caught.value.help
