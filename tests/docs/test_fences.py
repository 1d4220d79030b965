"""Every piece of Python and every command in the documents runs."""

from __future__ import annotations

import shlex

import pytest

from dcpy.cli import main, sdfgcc
from docs.fences import FENCE, commands, outputs
from docs.generate import DOCS, PAGES
from tests.support.registries import forget_targets

ROOT = DOCS.parent
MADE = {*PAGES}  # the tutorial is made by running it, the others hold no code of their own


def pages_with_code() -> list[str]:
    written = [*ROOT.glob("*.md"), *ROOT.glob("examples/*.md")]
    written += [path for path in DOCS.rglob("*.md") if str(path.relative_to(DOCS)) not in MADE]
    texts = {str(path.relative_to(ROOT)): path.read_text() for path in sorted(written)}
    return [name for name, text in texts.items() if FENCE.search(text) or any(commands(text))]


@pytest.mark.cc
@pytest.mark.parametrize("page", pages_with_code())
def test_what_a_page_shows_runs(page, tmp_path, monkeypatch, capsys):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    forget_targets(monkeypatch)
    text = (ROOT / page).read_text()
    outputs(text, tmp_path / "page.py")
    for command in commands(text):
        program, *arguments = shlex.split(command)
        run = {"dcpy": main.main, "sdfgcc": sdfgcc.main}[program]
        assert run(arguments) == 0, capsys.readouterr().err


def test_each_fence_has_its_own_output(tmp_path):
    page = "```python\nx = 1\n```\nand\n```python\nprint(x)\n```\n"
    assert outputs(page, tmp_path / "page.py") == ["", "1\n"]


def test_commands_are_found_without_their_comments():
    assert list(commands("```sh\ndcpy passes   # all of them\nls\n```\n")) == ["dcpy passes"]
