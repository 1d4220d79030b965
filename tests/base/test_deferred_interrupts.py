"""Deferred interrupts: what must not be left half done ends first, then the handler runs."""

import signal
import subprocess
import sys
import threading

import pytest

from dcpy.base.deferred_interrupts import interrupts_deferred


@pytest.fixture(autouse=True)
def pythons_handler():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_the_block_ends_first():
    done = []

    def interrupted():
        with interrupts_deferred():
            signal.raise_signal(signal.SIGINT)
            done.append("all of it")

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert done == ["all of it"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_open_part_is_interrupted_by_what_came_before_it():
    done = []

    def interrupted():
        with interrupts_deferred() as interrupts:
            signal.raise_signal(signal.SIGINT)
            done.append("before")
            try:
                with interrupts.open():
                    done.append("inside")
            except KeyboardInterrupt:
                done.append("told")
            with pytest.raises(KeyboardInterrupt), interrupts.open():
                signal.raise_signal(signal.SIGINT)
            done.append("behind")

    interrupted()
    assert done == ["before", "told", "behind"]


def test_nothing_happens_without_a_signal():
    with interrupts_deferred():
        pass
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_change_no_handler():
    seen = []

    def work():
        with interrupts_deferred():
            seen.append(signal.getsignal(signal.SIGINT))

    worker = threading.Thread(target=work)
    worker.start()
    worker.join()
    assert seen == [signal.default_int_handler]


INTERRUPTED_IMPORT = """
import signal, sys

class Interrupting:  # a signal comes while islpy is being imported
    def find_spec(self, name, path=None, target=None):
        if name.startswith("islpy."):
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
from dcpy.ir.analysis.polyhedral.isl_sets import _islpy
try:
    _islpy()
except KeyboardInterrupt:
    sys.meta_path.pop(0)
print(_islpy().Set("{ [i] : 0 <= i < 3 }"))
"""


def test_islpy_is_whole_after_an_interrupt():
    run = subprocess.run([sys.executable, "-c", INTERRUPTED_IMPORT], capture_output=True, text=True, check=False)
    assert run.stdout.startswith("{ [i]"), run.stderr
