"""Source texts: files, cells of notebooks, examples in docstrings and commands that define functions.

Nearly all of it comes from `linecache`, which files, module loaders (of zip files), IPython, doctest and later Pythons'
own prompts fill. What was given to ``python -c``, to ``python < file``, or to a magic of IPython, has to be fetched
where it was given. A text is a candidate: frontend/introspection/function_source.py compares what it says with what
Python runs.
"""

from __future__ import annotations

import linecache
import os
import stat
import sys
from collections.abc import Iterator
from types import FunctionType

from dcpy.base.notebooks import magic_cells
from dcpy.base.source import remember_text


def texts_of(function: FunctionType) -> Iterator[tuple[str, str]]:
    """Names and texts of what may hold the definition of a function; first what Python itself has read."""
    file = function.__code__.co_filename
    known = "".join(linecache.getlines(file, function.__globals__))
    if known:
        yield file, known
    linecache.checkcache(file)
    fresh = "".join(linecache.getlines(file, function.__globals__))
    if fresh and fresh != known:
        yield file, fresh
    for name, given in _given(file) if file.startswith("<") else ():
        remember_text(name, given)
        yield name, given
    for name, received in reversed(_RECEIVED):
        if file in (name, SENT_BY_VALUE):
            remember_text(name, received)
            yield name, received


#: what cloudpickle calls the file of a function that it sends
SENT_BY_VALUE = "<dynamic-code>"
#: files of other processes, with their texts, that came with programs from there
_RECEIVED: list[tuple[str, str]] = []


def receive_text(file: str, text: str) -> None:
    """Keep what another process says to be the text of a file, for functions that come from there."""
    if (file, text) not in _RECEIVED:
        _RECEIVED.append((file, text))


def why_unknown(file: str) -> tuple[str, str]:
    """Return why code that claims to come from `file` has no source, and what to do about it."""
    if file in ("<stdin>",) or file.startswith("<python-input"):
        return (
            "it was typed at Python's prompt, or piped into Python, which keeps no source",
            "define the function in a file, or in IPython or a notebook",
        )
    if file == SENT_BY_VALUE:
        return (
            "another process has sent it by value, without its text, which comes with programs only",
            "send the program that calls it, or import it from a module",
        )
    if file.startswith("<"):
        return (
            f"it was made from a string ({file}), and Python kept no text of it",
            "define it in a file; or give the text to Python's linecache under a name of its own:\n"
            '          linecache.cache["<made>"] = (len(text), None, text.splitlines(True), "<made>")\n'
            '          exec(compile(text, "<made>", "exec"))',
        )
    return f"it was defined in {file!r}, which is no file (any more)", "define the function in a file that is there"


def _given(file: str) -> Iterator[tuple[str, str]]:
    """Yield programs without a file that were passed to Python or IPython."""
    whole = _command() if file == "<string>" else _standard_input() if file == "<stdin>" else ""
    if whole:
        yield file, whole
    yield from magic_cells()


def _command() -> str:
    """The argument of ``python -c``."""
    if sys.argv[:1] != ["-c"]:
        return ""
    before = sys.orig_argv[1 : len(sys.orig_argv) - len(sys.argv) + 1]
    text = before[-1] if before else ""
    return text.partition("c")[2] if text.startswith("-") else text  # -c'...' may be one word


def _standard_input() -> str:
    """Return the text of the file that is standard input; a pipe cannot be read twice."""
    try:
        facts = os.fstat(0)
        if not stat.S_ISREG(facts.st_mode):
            return ""
        return os.pread(0, facts.st_size, 0).decode()
    except (OSError, UnicodeDecodeError):
        return ""
