"""docs/reference/mistakes.md: each mistake gives the message that the page shows, each rewrite NumPy's value.

``pytest tests/docs/test_mistakes.py --update-golden`` writes the messages into the page: review the diff.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import traceback
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import dcpy
from docs.generate import DOCS
from tests.support.oracles import assert_equal

PAGE = DOCS / "reference" / "mistakes.md"
SECTION = re.compile(
    r"^## (?P<title>.*?)\n\n```py\n(?P<mistake>.*?)```\n\n```text\n(?P<message>.*?)```\n\n"
    r"(?P<words>.*?)\n\n```py\n(?P<rewrite>.*?)```\n",
    re.MULTILINE | re.DOTALL,
)
pytestmark = [pytest.mark.cc, pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")]


@dataclass(frozen=True)
class Mistake:
    title: str
    mistake: str
    message: str
    words: str
    rewrite: str


def mistakes() -> list[Mistake]:
    text = PAGE.read_text()
    found = [Mistake(**match.groupdict()) for match in SECTION.finditer(text)]
    assert len(found) == text.count("\n## "), "a section of the page is not of the form that the others have"
    return found


def each_mistake() -> Any:
    return pytest.mark.parametrize("mistake", mistakes(), ids=lambda m: m.title.replace("`", ""))


def run(code: str, folder: Any, module: Any = dcpy) -> Any:
    """Runs code as a file called program.py; returns the value of its last line."""
    folder.mkdir(exist_ok=True)
    path = folder / "program.py"
    path.write_text(code)
    tree = ast.parse(code)
    names = {"np": np, "dcpy": module, "N": dcpy.symbol("N"), "M": dcpy.symbol("M"), "__name__": "program"}
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, str(path), "exec"), names)
    return None if last is None else eval(compile(ast.Expression(last.value), str(path), "eval"), names)


def shown(error: BaseException) -> str:
    """What Python prints of an exception that nobody catches, the same for all versions of Python."""
    lines = ["Traceback (most recent call last):"]
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename != __file__:
            name = frame.filename.rpartition("/")[2]
            lines += [f'  File "{name}", line {frame.lineno}, in {frame.name}', f"    {frame.line}"]
    return "\n".join([*lines, *"".join(traceback.format_exception_only(error)).splitlines()]) + "\n"


@each_mistake()
def test_what_a_mistake_gives(mistake, tmp_path, monkeypatch, request):
    monkeypatch.delenv("DCPY_FULL_TRACEBACKS", raising=False)
    with pytest.raises(Exception) as caught:  # noqa: PT011  (the whole text is compared)
        run(mistake.mistake, tmp_path / "mistake")
    text = shown(caught.value)
    if request.config.getoption("--update-golden"):
        page = PAGE.read_text()
        old, new = (f"{mistake.mistake}```\n\n```text\n{message}```\n" for message in (mistake.message, text))
        assert page.count(old) == 1
        PAGE.write_text(page.replace(old, new))
        return
    assert text == mistake.message


@each_mistake()
def test_what_to_write_instead_works(mistake, tmp_path):
    def interpreted(function: Any = None, **options: Any) -> Any:
        if function is None:
            return lambda found: interpreted(found, **options)
        program = dcpy.program(function, **options)

        def call(*args: Any, **kwargs: Any) -> Any:
            sdfg = program.to_sdfg(*args, **kwargs)
            return sdfg.interpret(*args, **kwargs)

        call.to_sdfg, call.compile = program.to_sdfg, lambda *args: call
        return call

    def plain(function: Any = None, **options: Any) -> Any:
        if function is None:
            return lambda found: found
        function.compile = lambda *args: function
        function.to_sdfg = lambda *args: SimpleNamespace(compile=function.compile)
        return function

    public = {name: getattr(dcpy, name) for name in dir(dcpy) if not name.startswith("_")}
    ours = SimpleNamespace(**{**public, "program": interpreted})
    numpy = SimpleNamespace(**{**public, "program": plain})
    assert_equal(run(mistake.rewrite, tmp_path / "ours", ours), run(mistake.rewrite, tmp_path / "numpy", numpy))


def test_there_are_many():
    assert len(mistakes()) >= 50


def test_what_an_uncaught_error_prints(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np\nimport dcpy\n\n@dcpy.program\ndef f(x):\n    return x + y\n\n"
        "f(np.ones(3))\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "DCPY_FULL_TRACEBACKS"}
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, env=environment, check=False)
    files = re.findall(r'File "(.*)", line (\d+)', run.stderr)
    assert files == [(str(script), "8")]
    assert "dcpy.NameError: error[frontend.raises]: name 'y' is not defined" in run.stderr


def test_the_cause_stays_reachable(tmp_path):
    unknown = next(mistake for mistake in mistakes() if mistake.title == "A function that dcpy does not know")
    with pytest.raises(dcpy.FrontendError) as caught:
        run(unknown.mistake, tmp_path / "mistake")
    cause = caught.value.__cause__
    assert isinstance(cause, dcpy.FrontendError)
    assert cause.message in caught.value.notes[0]


def test_messages_spell_types_as_annotations_do():
    """`float64[N]`, never the `f64[N]` of the textual IR: a user writes the one, and has not seen the other."""
    said = [line for match in SECTION.finditer(PAGE.read_text()) for line in match["message"].splitlines()]
    said = [line for line in said if "error[" in line or line.lstrip().startswith(("= note", "= help"))]
    assert sum("float64" in line for line in said) >= 5
    assert [line for line in said if re.search(r"(?<!<)\b[fiuc](8|16|32|64|128)(\[|\b)", line)] == []
