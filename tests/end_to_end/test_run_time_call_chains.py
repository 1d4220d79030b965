"""Run-time call chains: an exception that compiled code raises in a function says through which lines it was called."""

import dataclasses
import json
import linecache
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dcpy
from dcpy import driver
from dcpy.base.errors import ParseError
from dcpy.base.source import CALLS_KEPT, SrcSpan
from dcpy.ir.files.json import from_json, to_json
from dcpy.ir.interp import run
from dcpy.runtime.distributed.error_propagation import retold, told


def item(a, i):
    return a[i] + 1


def doubled(a, i):
    return item(a, i) * 2


def positive(x):
    if x < 0:
        raise ValueError(f"{int(x)} is negative")
    return x


def quotient(x, y):
    return x // y


def added(a, b):
    return a + b


@dataclasses.dataclass
class Row:
    a: np.ndarray

    def at(self, i):
        return item(self.a, i)


def items(a, n):
    for i in range(n):
        yield a[i] * 2


def larger_items(a, n):
    for x in items(a, n):
        yield x + 1


def straight(a, n):
    return doubled(a, n)


def in_loop(a, n):
    total = 0.0
    for i in range(n + 1):
        total += doubled(a, i)
    return total


def in_map(a, n):
    b = np.zeros(n + 1)
    for i in dcpy.map[0 : n + 1]:
        b[i] = item(a, i)
    return b.sum()


def in_lambda(a, n):
    last = lambda k: item(a, k)  # noqa: E731
    return last(n) + 1


def in_method(a, n):
    row = Row(a)
    return row.at(n) * 3


def in_generator(a, n):
    total = 0.0
    for x in items(a, n + 1):
        total += x
    return total


def in_generators(a, n):
    return sum([x for x in larger_items(a, n + 1)])


def in_nested(a, n):
    def one(k):
        return a[k]

    return one(n) + one(0)


def in_applied(a, n):
    rows = np.apply_along_axis(lambda row: positive(row[n - 1]) + row, 0, a)
    return rows[0]


def by_raise(a, n):
    total = 0.0
    for i in range(n):
        total += positive(a[i])
    return total


def by_division(a, n):
    return quotient(n, n - 3) * 1.0


def by_shape(a, n):
    return added(a, np.zeros(n + 1)).sum()


FORMS = {
    straight: ["item <- return item(a, i) * 2", "doubled <- return doubled(a, n)"],
    in_loop: ["item <- return item(a, i) * 2", "doubled <- total += doubled(a, i)"],
    in_map: ["item <- b[i] = item(a, i)"],
    in_lambda: ["item <- last = lambda k: item(a, k)  # noqa: E731", "<lambda> <- return last(n) + 1"],
    in_method: ["item <- return item(self.a, i)", "at <- return row.at(n) * 3"],
    in_generator: ["items <- for x in items(a, n + 1):"],
    in_generators: [
        "items <- for x in items(a, n):",
        "larger_items <- return sum([x for x in larger_items(a, n + 1)])",
    ],
    in_nested: ["one <- return one(n) + one(0)"],
    in_applied: [
        "positive <- rows = np.apply_along_axis(lambda row: positive(row[n - 1]) + row, 0, a)",
        "<lambda> <- rows = np.apply_along_axis(lambda row: positive(row[n - 1]) + row, 0, a)",
    ],
    by_raise: ["positive <- total += positive(a[i])"],
    by_division: ["quotient <- return quotient(n, n - 3) * 1.0"],
    by_shape: ["added <- return added(a, np.zeros(n + 1)).sum()"],
}
IDS = [form.__name__ for form in FORMS]
OPERAND = np.array([1.0, 2.0, -1.0])


def chain(error):
    """The calls that an exception tells of: names of functions, and the lines that call them."""
    text = "\n".join((str(error), *getattr(error, "__notes__", ())))
    found = re.findall(r"^  = note: in (\S+), called at ([^:]+):(\d+):\d+$", text, re.M)
    folders = {Path(__file__).name: __file__}
    return [f"{name} <- {linecache.getline(folders.get(file, file), int(line)).strip()}" for name, file, line in found]


def raised(call, *arguments):
    with pytest.raises((IndexError, ValueError, ZeroDivisionError)) as caught:
        call(*arguments)
    return caught.value


@pytest.mark.cc
@pytest.mark.parametrize("auto", [False, True], ids=["plain", "optimized"])
def test_compiled_code_tells_the_chain(auto):
    def program(a, n, which):
        if which == 0:
            return straight(a, n)
        if which == 1:
            return in_loop(a, n)
        if which == 2:
            return in_map(a, n)
        if which == 3:
            return in_lambda(a, n)
        if which == 4:
            return in_method(a, n)
        if which == 5:
            return in_generator(a, n)
        if which == 6:
            return in_generators(a, n)
        if which == 7:
            return in_nested(a, n)
        if which == 8:
            return in_applied(a, n)
        if which == 9:
            return by_raise(a, n)
        if which == 10:
            return by_division(a, n)
        return by_shape(a, n)

    compiled = dcpy.program(program, auto_optimize=auto)
    for which, (form, expected) in enumerate(FORMS.items()):
        error = raised(compiled, OPERAND, 3, which)
        *inner, outermost = chain(error)
        assert inner == expected
        assert outermost == f"{form.__name__} <- return {form.__name__}(a, n)"
        with pytest.raises(type(error)):
            form(OPERAND, 3)


@pytest.mark.parametrize("form", FORMS, ids=IDS)
def test_the_interpreter_tells_the_chain_and_files_keep_it(form):
    @dcpy.program
    def program(a, n):
        return form(a, n)

    sdfg = program.to_sdfg(OPERAND, 3)
    document = to_json(sdfg)
    back = from_json(json.loads(json.dumps(document)))
    assert to_json(back) == document
    optimized = from_json(document)
    driver.auto_optimize(optimized)
    for each in (sdfg, back, optimized):
        error = raised(run, each, {"a": OPERAND, "n": 3})
        assert chain(error) == [*FORMS[form], f"{form.__name__} <- return form(a, n)"]


@pytest.mark.cc
def test_a_function_with_one_body_for_its_calls_ends_the_chain():
    """What is called so often that it stays a function of the C++ does not know its caller."""

    def mixed(a, b, k):
        c = np.sin(a) * b + np.cos(b)
        for _ in range(3):
            c = c * 0.5 + a
        return c * 0.5 + item(b, int(k[0]))

    @dcpy.program
    def program(a, k):
        b = a.copy()
        b = mixed(mixed(mixed(mixed(b, a, k), a, k), a, k), a, k)
        b = mixed(mixed(mixed(mixed(b, a, k), a, k), a, k), a, k)
        b = mixed(mixed(mixed(mixed(b, a, k), a, k), a, k), a, k)
        b = mixed(mixed(mixed(mixed(b, a, k), a, k), a, k), a, k)
        return mixed(mixed(mixed(mixed(b, a, k), a, k), a, k), a, k)

    error = raised(program, OPERAND, np.array([3]))
    assert chain(error) == ["item <- return c * 0.5 + item(b, int(k[0]))"]
    assert "  = note: in mixed" in "\n".join(error.__notes__).splitlines()


SECOND = """
import sys
sys.path.insert(0, {folder!r})
import numpy as np, dcpy
from test_run_time_call_chains import chain, in_loop
{lines}
@dcpy.program
def program(a, n):
    return in_loop(a, n)
try:
    program(np.ones(3), 3)
except IndexError as error:
    print("\\n".join(error.__notes__))
"""


@pytest.mark.cc
def test_a_program_from_the_cache_tells_the_chain_where_the_function_stands_now(tmp_path):
    def printed(lines):
        path = tmp_path / "second.py"
        path.write_text(SECOND.format(folder=str(Path(__file__).parent), lines="\n" * lines))
        env = dict(os.environ, DCPY_CACHE_DIR=str(tmp_path / "cache"))
        done = subprocess.run([sys.executable, path], capture_output=True, text=True, env=env, check=True)
        return done.stdout

    libraries = lambda: sorted(path.name for path in (tmp_path / "cache").rglob("*.so"))  # noqa: E731
    first, made = printed(0), libraries()
    moved = printed(5)
    assert "in doubled, called at test_run_time_call_chains.py" in first
    places = re.findall(r"in in_loop, called at second.py:(\d+):5", first + moved)
    assert int(places[1]) == int(places[0]) + 5
    assert libraries() == made


def test_long_chains_stay_short_while_bodies_are_copied():
    span = SrcSpan("a.py", 1)
    for number in range(3 * CALLS_KEPT):
        span = span.within(((f"f{number}", SrcSpan("a.py", number + 2)),))
    assert len(span.calls) == CALLS_KEPT
    assert span.within(span.calls[-2:]) is span


def test_other_ranks_are_told_the_chain():
    error = dcpy.DcpyError("wrong", span=SrcSpan("a.py", 1, 0, 1, 2))
    error.called("f", SrcSpan("a.py", 5, 0, 5, 2))
    error.called("g", SrcSpan("a.py", 9, 0, 9, 2))
    assert str(retold(json.loads(json.dumps(told(error))))) == str(error)


@pytest.mark.parametrize("calls", [["f"], [["f"]], [["f", 1]], [[1, None]], [["f", {"span": ["a.py", "x"]}]], 3])
def test_a_damaged_chain_in_a_file_is_refused(calls):
    def program(a: dcpy.float64[4]):
        return a + 1

    document = to_json(dcpy.program(program).to_sdfg())
    document["sdfgs"][0]["span"]["span"].append(calls)
    with pytest.raises(ParseError):
        from_json(document)
