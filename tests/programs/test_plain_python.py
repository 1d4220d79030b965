"""Programs as plain Python: by the option, by its variable, and while `dcpy.disable` is entered."""

import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import dcpy

pytestmark = pytest.mark.cc
SEEN = []


@dcpy.program
def doubled(x, *, factor=2):
    """Double."""
    return x * factor


@dcpy.program
def variadic(*numbers):
    return numbers[0] + numbers[1]


@dcpy.program
def keywords(a, **more):
    return a + more["b"]


@dcpy.program
def steps(n):
    for k in range(n):
        yield 1 * k


def noting(x):
    SEEN.append(sys._getframe(0).f_code.co_name)
    return x + 1


class Owner:
    @dcpy.method
    def scaled(self, x):
        return x * 3


def is_python(program, *arguments):
    """Whether a call passes a frame of Python's function."""
    found = []
    sys.setprofile(lambda frame, event, _: found.append(frame.f_code.co_name))
    try:
        program(*arguments)
    finally:
        sys.setprofile(None)
    return program.function.__name__ in found


def test_programs_run_in_python_for_a_while():
    x = np.ones(3)
    doubled(x)
    known = doubled.specializations
    assert not is_python(doubled, x)
    with dcpy.disable():
        assert is_python(doubled, x)
        assert doubled.specializations == known
        assert isinstance(doubled(np.ones(2, np.int8)), np.ndarray)
        assert doubled.specializations == known
        assert (variadic(1, 2), keywords(1, b=3), list(steps(3)), Owner().scaled(2)) == (3, 4, [0, 1, 2], 6)
        assert doubled.__doc__ == "Double."
        assert isinstance(doubled, dcpy.Program)
    assert not is_python(doubled, x)
    assert type(doubled) is dcpy.Program
    assert (variadic(1, 2), keywords(1, b=3), list(steps(3)), Owner().scaled(2)) == (3, 4, [0, 1, 2], 6)


def test_what_cannot_be_compiled_runs():
    program = dcpy.program(noting)
    with dcpy.disable():
        assert program(1) == 2
        made = dcpy.program(noting)  # made meanwhile
        assert made(1) == 2
    assert SEEN == ["noting", "noting"]
    assert type(made) is dcpy.Program


def test_it_is_entered_several_times():
    with dcpy.disable():
        with dcpy.disable():
            pass
        assert is_python(doubled, np.ones(2))
    with pytest.raises(KeyError), dcpy.disable():
        raise KeyError
    assert not is_python(doubled, np.ones(2))


def test_it_holds_for_all_threads():
    found = []
    with dcpy.disable():
        thread = threading.Thread(target=lambda: found.append(is_python(doubled, np.ones(2))))
        thread.start()
        thread.join()
    assert found == [True]


def test_by_the_option():
    program = dcpy.program(doubled.function, disable=True)
    assert is_python(program, np.ones(2))
    with dcpy.disable():
        pass
    assert is_python(program, np.ones(2))
    assert "x" in program.to_sdfg(np.ones(2)).arguments  # which is as of others


def test_plain_programs_are_pickled_as_others():
    with dcpy.disable():
        assert pickle.loads(pickle.dumps(doubled)) is doubled


def test_by_the_variable(tmp_path):
    (tmp_path / "script.py").write_text(
        "import sys\nimport dcpy\n\n@dcpy.program\ndef f(x):\n"
        "    return sys._getframe(0).f_code.co_name, x\n\nprint(f(2))\n"
    )
    environment = {**subprocess.os.environ, "DCPY_DISABLE": "1"}
    command = [sys.executable, str(tmp_path / "script.py")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "('f', 2)\n"
    assert done.stderr == ""
