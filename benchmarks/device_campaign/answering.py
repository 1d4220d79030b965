"""A resident's own side: reads questions, and writes an answer to each; ``... answering MODULE NAME PIPE``.

MODULE has `Answers`, made with NAME, and called with each question. The process is killed when the seconds of a
question are over, even inside of a compiler, and leaves after an answer that says so: its device is broken.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sys
import warnings
from collections.abc import Iterator
from typing import Any

GRACE = 2.0  # seconds; whoever asked has killed it by then, if they are still there


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    """The process is killed when its time is over, even inside of a compiler that answers no other signal."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def main(module: str, name: str, pipe: str) -> None:
    """Answers until nobody asks any more."""
    warnings.simplefilter("ignore")
    answers = importlib.import_module(module).Answers(name)
    for line in sys.stdin:
        question: dict[str, Any] = json.loads(line)
        if "ahead" in question:
            with contextlib.suppress(Exception):
                answers.ahead(question["ahead"])
            continue
        with within(question.pop("seconds") + GRACE):
            answer = answers(question)
        write(int(pipe), json.dumps(answer).encode() + b"\n")
        if answer.get("leaves"):
            return


def write(pipe: int, text: bytes) -> None:
    """All of it: pipes take less than a whole answer at a time."""
    while text:
        text = text[os.write(pipe, text) :]


if __name__ == "__main__":
    main(*sys.argv[1:])
