"""Programs that are long or deep: expressions of thousands of operations, chains of a thousand branches."""

import cProfile
import pstats

import numpy as np
import pytest

import dcpy
from tests.fuzz.program import define

X = np.linspace(0.1, 0.9, 5)


def of(body):
    """The function of one argument with this body."""
    return define("def f(a):\n" + "".join(f"    {line}\n" for line in body.split("\n")))


def chain(number, statement):
    """``if`` and `number` times ``elif``."""
    return "\n".join(f"{'elif' if k else 'if'} a == {k}:\n    {statement.format(k)}" for k in range(number))


TERMS = " + ".join(f"x*{k}.5" for k in range(200))
PROGRAMS = {
    "a lambda": (of(f"g = lambda x: {TERMS}\nreturn g(a)"), 1.5),
    "a comprehension": (of(f"return sum([{TERMS} for x in (a, 2*a) if {TERMS} > 5])"), 1.5),
    "a comprehension over an array": (of(f"return np.array([{TERMS} for x in a])"), X),
    "a generator": (of(f"return sum({TERMS} for x in (a, 2*a))"), 1.5),
    "a dictionary": (of(f"d = {{x: {TERMS} for x in range(3)}}\nreturn d[1] + a"), 1.5),
    "a slice": (of(f"x = a[0]\nreturn a[int(0*({TERMS})):2]"), X),
    "a test of while": (
        of(f"x = a\nk = 0\nwhile {TERMS} < 1e9:\n    x = x*2\n    k += 1\n    if k == 3:\n        continue\nreturn k"),
        1.5,
    ),
    "a test of while, else": (of(f"x = a\nwhile {TERMS} < 1e9:\n    x = x*2\nelse:\n    x = -x\nreturn x"), 1.5),
    "sum of 2000 numbers": (of("return " + " + ".join(f"a*{k}.5" for k in range(2000))), 1.5),
    "sum of 300 arrays": (of("return " + " + ".join(f"a*{k}.5" for k in range(300))), X),
    "sum of 1000 integers": (of("return " + " + ".join(f"a*{k}" for k in range(1000))), 3),
    "Horner's scheme": (of("return " + "(1.0 + a*" * 199 + "a" + ")" * 199), 0.5),
    "1000 elif that return": (of(chain(1000, "return {}.5") + "\nreturn -1.0"), 617),
    "1000 elif that assign": (of(chain(1000, "x = {}.5") + "\nelse:\n    x = -1.0\nreturn x"), 617),
    "1000 guards": (of("\n".join(f"if a == {k}:\n    return {k}.5" for k in range(1000)) + "\nreturn 0.5"), 617),
    "900 conditional expressions": (
        of("return " + "".join(f"{k}.5 if a == {k} else " for k in range(900)) + "0.5"),
        617,
    ),
    "1000 and": (of("return 1 if " + " and ".join(f"a != {k}" for k in range(1000)) + " else 0"), 617),
    "500 minus": (of("return " + "-" * 500 + "a"), 1.5),
    "300 methods": (of("return a" + ".copy()" * 300), X),
    "300 powers": (of("return " + "**".join("a" * 300)), 1.0),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_deep_programs_are_lowered(name):
    function, argument = PROGRAMS[name]
    sdfg = dcpy.program(function).to_sdfg(argument)
    assert np.allclose(sdfg.interpret(argument), function(argument), rtol=1e-12)
    sdfg.validate()


RUN = ("sum of 2000 numbers", "Horner's scheme", "1000 elif that assign", "1000 guards", "1000 and")


@pytest.mark.cc
@pytest.mark.parametrize("name", RUN)
def test_deep_programs_run(name):
    function, argument = PROGRAMS[name]
    assert np.allclose(dcpy.program(function)(argument), function(argument), rtol=1e-12)


def test_operands_are_evaluated_in_order():
    """What comes before a deep part is computed before it, names that it assigns included."""
    deep = "".join(f"({k} + " for k in range(60)) + "(y := a)" + ")" * 60
    function = of(f"y = 5.0\nreturn y * 100 + {deep} + y")
    assert dcpy.program(function).to_sdfg(2.0).interpret(2.0) == function(2.0)
    function = of(f"b = np.zeros(3)\nreturn b[int(a)] + {'-' * 60}a")
    with pytest.raises(IndexError):
        dcpy.program(function).to_sdfg(7.0).interpret(7.0)


def test_sides_of_a_chain_keep_what_tests_know():
    body = "if a > 10:\n    x = 1\nelif (b := a * 2) > 8:\n    x = b\nelif b > 4 and np.array([b, 1]).max() > 5:\n"
    body += "    x = 3\nelif b < 0:\n    x = -b\nelse:\n    x = 0\nreturn x"
    program, function = dcpy.program(of(body)).to_sdfg(1), of(body)
    assert [program.interpret(k) for k in (11, 5, 3, -4, 1)] == [function(k) for k in (11, 5, 3, -4, 1)]


def test_a_name_that_one_side_does_not_assign_has_no_value_there():
    body = "if a > 3:\n    x = 1\nelif a > 2:\n    pass\nelif a > 1:\n    x = 3\nelse:\n    x = 2\nreturn x"
    program = dcpy.program(of(body)).to_sdfg(1)
    assert [program.interpret(k) for k in (4, 2, 1)] == [1, 3, 2]
    with pytest.raises(UnboundLocalError, match="'x'"):
        program.interpret(3)


HEAVY = pytest.param("a*{0}.5*np.sin(a - {0})", marks=pytest.mark.heavy)


@pytest.mark.parametrize("form", ["a*{0}.5", HEAVY])
def test_twice_the_terms_take_at_most_2_2_times_the_steps(form):
    def steps(number):
        program = dcpy.program(of("return " + " + ".join(form.format(k) for k in range(number))))
        profile = cProfile.Profile()
        profile.runcall(lambda: program.to_sdfg(X).code())
        return pstats.Stats(profile).total_calls

    steps(3)
    assert steps(120) <= 2.2 * steps(60)
