"""The page about the textual form: its programs are read, and are canonical."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dcpy.ir.text import parse_sdfg, print_sdfg
from dcpy.ir.verify import verify

PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "textual-form.md"
PROGRAMS = re.findall(r"```text\n(.*?)\n```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
HEAD = re.compile(r" symbols\(.*?\)")


@pytest.mark.parametrize("text", PROGRAMS, ids=lambda text: re.search(r"@(\w+)", text).group(1))
def test_programs_of_the_page_are_canonical(text):
    sdfg = parse_sdfg(text)
    verify(sdfg)
    printed = print_sdfg(sdfg)
    assert HEAD.sub("", printed) == HEAD.sub("", text)
    assert print_sdfg(parse_sdfg(printed)) == printed
