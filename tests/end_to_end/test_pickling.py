"""Programs go to other processes as Python's functions do: by name. W1: `multiprocessing` with spawn."""

import copy
import functools
import pickle
import subprocess
import sys

import numpy as np
import pytest

import dcpy

pytestmark = pytest.mark.cc
X = np.arange(3.0)


@dcpy.program
def double(a):
    return a * 2


def plain(a):
    return a * 3


made = dcpy.program(plain, ignore_type_hints=True, simplify=False)


@dcpy.program
def total(*arrays):
    s = 0.0
    for a in arrays:
        s += a.sum()
    return s


class Grid:
    """A class whose method is a program."""

    def __init__(self, k):
        self.k = k

    @dcpy.program
    def scaled(self, a):
        return a * self.k


def sent(found):
    return pickle.loads(pickle.dumps(found))


def test_w1_programs_are_sent_by_name():
    assert sent(double) is double
    assert sent(total) is total
    assert sent(Grid.scaled) is Grid.scaled
    np.testing.assert_array_equal(sent(functools.partial(double, X))(), X * 2)


def test_w1_a_program_under_another_name_is_made_again_from_its_function():
    again = sent(made)
    assert again.function is plain
    assert again.options == made.options
    np.testing.assert_array_equal(again(X), X * 3)


@pytest.mark.parametrize("found", [dcpy.program(lambda a: a), (lambda: dcpy.program(lambda a: a))()])
def test_w1_lambdas_are_no_more_sent_than_pythons(found):
    with pytest.raises((pickle.PicklingError, AttributeError)) as of_python:
        pickle.dumps(found.function)
    with pytest.raises(type(of_python.value), match="lambda"):
        pickle.dumps(found)


def test_w1_copies_of_a_program_are_the_program():
    for found in (double, made, dcpy.program(lambda a: a)):
        assert copy.copy(found) is found
        assert copy.deepcopy([found])[0] is found


SCRIPT = """
import multiprocessing, functools
import numpy as np
import dcpy


@dcpy.program
def double(a):
    return a * 2


def plain(a):
    return a + 1


more = dcpy.program(plain)


class Grid:
    def __init__(self, k):
        self.k = k

    @dcpy.program
    def scaled(self, a):
        return a * 5


if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        for f in (double, more, functools.partial(double, np.ones(2)), Grid(3).scaled):
            arguments = () if isinstance(f, functools.partial) and type(f) is functools.partial else (np.ones(3),)
            print(pool.apply(f, arguments), flush=True)
"""


def test_w1_multiprocessing_with_spawn(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run([sys.executable, str(tmp_path / "script.py")], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["[2. 2. 2.]", "[2. 2. 2.]", "[2. 2.]", "[5. 5. 5.]"], done.stderr
