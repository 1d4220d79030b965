"""The text of tasklets, and what is refused, with the reason and a rewrite."""

import numpy as np
import pytest

import dcpy
from tests.support.lowering import body, refusal

X = np.arange(6.0)
A = np.arange(12.0).reshape(3, 4)
FACTORS = np.array([1.0, 2.0])


# -- text ------------------------------------------------------------------------------------------------------------


def test_one_expression_is_one_tasklet():
    def f(a, b):
        for i in dcpy.map[0 : a.shape[0]]:
            with dcpy.tasklet:
                x << a[i]
                y >> b[i]
                y = x * 2 + 1

    assert body(f, X, X.copy()) == (
        "state {\n"
        "  map i = 0:N {\n"
        "    tasklet tasklet (x <- a[i]) -> (y -> b[i]) { y = x * 2.0 + 1.0 }\n"
        "  }\n"
        "}"
    )


def test_locals_are_lines_where_they_are_used_twice():
    def f(a, b):
        @dcpy.map(_[0 : a.shape[0]])
        def square(i):
            x << a[i]
            y >> b[i]
            once = x - 1
            twice = once * 2
            y = twice * twice

    assert body(f, X, X.copy()) == (
        "state {\n"
        "  map i = 0:N {\n"
        "    tasklet square (x <- a[i]) -> (y -> b[i]) { twice_v = (x - 1.0) * 2.0; y = twice_v * twice_v }\n"
        "  }\n"
        "}"
    )


def test_several_results_are_one_tasklet():
    def f(a, b):
        @dcpy.map(_[0 : a.shape[0]])
        def both(i):
            x << a[i]
            p >> a[i]
            q >> b(1, lambda s, t: s + t)[i]
            p = x + 1
            q = p

    assert body(f, X, X.copy()) == (
        "state {\n"
        "  map i = 0:N {\n"
        "    tasklet both (x <- a[i]) -> (p -> a[i], q -> b[i] (add)) { p_v = x + 1.0; p = p_v; q = p_v }\n"
        "  }\n"
        "}"
    )


def test_names_that_are_symbols_too_get_a_number():
    def f(a, b):
        for i in dcpy.map[0 : a.shape[0]]:
            with dcpy.tasklet:
                N << a[i]
                y >> b[i]
                y = N + i

    def g(a, b):
        for i in dcpy.map[0 : a.shape[0]]:
            with dcpy.tasklet:
                x << a[i]
                y >> b[i]
                y = x + a_size

    assert "tasklet (N <- a[i]) -> (y -> b[i]) { y = N + f64(i) }" in body(f, X, X.copy())
    assert "name 'a_size' is not defined" in refusal(g, X, X.copy())


def test_a_scope_is_a_map_over_a_region():
    def f(a, s):
        @dcpy.mapscope(_[0 : a.shape[0]])
        def rows(i):
            with dcpy.tasklet:
                o >> s[i]
                o = 0.0

            @dcpy.map(_[0 : a.shape[1]])
            def add(j):
                x << a[i, j]
                o >> s(1, lambda p, q: p + q)[i]
                o = x

    assert body(f, A, np.zeros(3)) == (
        "state {\n"
        "  map i = 0:N {\n"
        "    state {\n"
        "      tasklet tasklet () -> (o -> s[i]) { o = 0.0 }\n"
        "    }\n"
        "    state {\n"
        "      map j = 0:M {\n"
        "        tasklet add (x <- a[i, j]) -> (o -> s[i] (add)) { o = x }\n"
        "      }\n"
        "    }\n"
        "  }\n"
        "}"
    )


# -- refusals --------------------------------------------------------------------------------------------------------


def undeclared_array(a, b):
    with dcpy.tasklet:
        o >> b[0]
        o = a[0]


def undeclared_number(a, alpha):
    with dcpy.tasklet:
        x << a[0]
        o >> a[1]
        o = x * alpha


def undeclared_global(a):
    with dcpy.tasklet:
        x << a[0]
        o >> a[1]
        o = x * FACTORS[0]


def undeclared_local(a):
    t = a + 1
    with dcpy.tasklet:
        x << a[0]
        o >> a[1]
        if x > 0:
            o = t[0]
        else:
            o = x


def never_assigned(a):
    with dcpy.tasklet:
        x << a[0]
        o >> a[1]
        t = x


def not_always_assigned(a):
    with dcpy.tasklet:
        x << a[0]
        o >> a[1]
        if x > 0:
            o = x


def written_input(a):
    with dcpy.tasklet:
        x << a[0:2]
        o >> a[3]
        x[0] = 1
        o = x[1]


def a_return(a):
    @dcpy.tasklet
    def t():
        x << a[0]
        return x


def a_break(a):
    for i in range(3):
        with dcpy.tasklet:
            x << a[i]
            o >> a[i]
            o = x
            if x > 1:
                break


def parameters(a):
    @dcpy.tasklet
    def t(x):
        o >> a[0]
        o = x


def twice(a):
    with dcpy.tasklet:
        x << a[0]
        x << a[1]
        o >> a[2]
        o = x


def nested(a):
    with dcpy.tasklet:
        x << a[0]
        with dcpy.tasklet:
            o >> a[1]
            o = 1


def other_language(a):
    with dcpy.tasklet(language=dcpy.Language.CPP):
        o >> a[0]
        """o = 1;"""


def other_keyword(a):
    with dcpy.tasklet(code_global="#include <cmath>"):
        o >> a[0]
        o = 1


def no_python(a):
    with dcpy.tasklet:
        o >> a[0]
        """o = 1; // done"""


def a_consume_scope(a):
    @dcpy.consume(a)
    def work(x):
        o >> a[0]
        o = x


def array_for_an_element(a):
    with dcpy.tasklet:
        x << a[:]
        o >> a[4]
        o = x


def no_memory(a):
    n = "text"
    with dcpy.tasklet:
        x << n
        o >> a[4]
        o = 1


def a_number_that_is_perhaps_written(a):
    s = np.float64(0)
    with dcpy.tasklet:
        x << a[0]
        o >> s(-1)
        if x > 1:
            o = x
    return s


def complex_result(a):
    with dcpy.tasklet:
        x << a[0]
        o >> a[1]
        o = x * 1j


def ranges_and_parameters(a):
    @dcpy.map(_[0:3, 0:2])
    def t(i):
        o >> a[i]
        o = 1


def no_ranges(a):
    @dcpy.map
    def t(i):
        o >> a[i]
        o = 1


REFUSED = [
    (undeclared_array, (X, X), "the tasklet reads 'a', which no memlet moves in"),
    (undeclared_number, (X, 2.0), "declare it: `alpha_in << alpha`"),
    (undeclared_global, (X,), "the tasklet reads 'FACTORS', which no memlet moves in"),
    (undeclared_local, (X,), "the tasklet reads 't', which no memlet moves in"),
    (never_assigned, (X,), "the tasklet never assigns 'o', which it writes"),
    (not_always_assigned, (X,), "assign 'o' on every path, or say that it may not be written: `>> data(-1)[...]`"),
    (written_input, (X,), "declare an output: `x_out >> a[0:2]`"),
    (a_return, (X,), "a tasklet returns nothing"),
    (a_break, (X,), "break out of a tasklet"),
    (parameters, (X,), "the tasklet 't' has parameters"),
    (twice, (X,), "two memlets of the tasklet are called 'x'"),
    (nested, (X,), "a tasklet inside of a tasklet"),
    (other_language, (X,), "a tasklet does not take the language 'CPP'"),
    (other_keyword, (X,), "a tasklet does not take code_global="),
    (no_python, (X,), "the text of this tasklet is not Python"),
    (a_consume_scope, (X,), "'work' does not consume a stream like this"),
    (array_for_an_element, (X,), "the output 'o' is one element, and an array float64[N] is assigned to it"),
    (no_memory, (X,), "a memlet moves elements of arrays, or a number, not 'text'"),
    (a_number_that_is_perhaps_written, (X,), "make it memory: `s = dcpy.define_local_scalar(dcpy.float64)`"),
    (complex_result, (X,), "a complex number does not fit into float64"),
    (ranges_and_parameters, (X,), "'t' has 1 parameters for 2 ranges of the map"),
    (no_ranges, (X,), "'t' has 1 parameters for 0 ranges of the map"),
]


@pytest.mark.parametrize(("function", "arguments", "message"), REFUSED, ids=[f.__name__ for f, *_ in REFUSED])
def test_refused(function, arguments, message):
    assert message in refusal(function, *arguments)


def test_outside_of_programs_the_words_say_so():
    with pytest.raises(dcpy.DcpyError, match=r"dcpy\.tasklet has a meaning inside of a program only"):
        with dcpy.tasklet:
            pass
    with pytest.raises(dcpy.DcpyError, match="inside of a program only"):
        dcpy.tasklet(len)
    with pytest.raises(TypeError, match=r"@dcpy\.map decorates a function inside of a program"):
        dcpy.map(len)
