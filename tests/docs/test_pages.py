"""The pages in the repository say what the code says now, and their links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dcpy import plugins
from dcpy.transforms.catalog import TRANSFORMATIONS
from docs.generate import COMMITTED, DOCS, MADE_FOR_THE_SITE, page
from examples import user_library

ROOT = DOCS.parent
PAGES = [*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *ROOT.glob("examples/*.md")]
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


RUN_TO_BE_MADE = [pytest.param(name, marks=pytest.mark.cc) for name in COMMITTED if name.startswith("tutorials/")]
READ_FROM_CODE = [name for name in COMMITTED if not name.startswith("tutorials/")]


@pytest.mark.parametrize("name", RUN_TO_BE_MADE + READ_FROM_CODE)
def test_generated_pages_are_up_to_date(name):
    assert (DOCS / name).read_text() == page(name), "run python -m docs.generate"


@pytest.mark.parametrize("name", COMMITTED)
def test_generated_pages_tell_nothing_of_the_machine(name):
    text = (DOCS / name).read_text()
    assert re.search(r"0x[0-9a-f]{6,}|/usr/|\.venv", text) is None
    assert str(ROOT) not in text


MADE = {DOCS / name for name in MADE_FOR_THE_SITE}


def pages_with_links() -> list[Path]:
    return sorted(path for path in PAGES if path not in MADE and LINK.search(path.read_text()))


@pytest.mark.parametrize("path", pages_with_links(), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path):
    code_taken_out = re.sub(r"```.*?```", "", path.read_text(), flags=re.DOTALL)
    targets = [(path.parent / link).resolve() for link in LINK.findall(code_taken_out)]
    assert [target for target in targets if target not in MADE and not target.exists()] == []


def test_all_pages_are_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text()
    pages = {str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")}
    assert {page for page in pages if page not in navigation and not page.startswith("decisions/0")} == set()


def test_the_reference_lists_what_is_dcpys_own():
    before = page("reference/numpy.md")
    user_library.register()
    assert page("reference/numpy.md") == before


def test_the_readme_counts_no_more_than_there_is():
    plugins.load()
    text = (DOCS.parent / "README.md").read_text()
    mistakes = (DOCS / "reference/mistakes.md").read_text().count("\n## ")
    (shown,) = map(int, re.findall(r"\[(\d+) of them\]\(docs/reference/mistakes.md\)", text))
    (transformations,) = map(int, re.findall(r"more than\s+(\d+) \[transformations\]", text))
    assert 0.9 * mistakes <= shown <= mistakes
    assert 0.9 * len(list(TRANSFORMATIONS)) <= transformations < len(list(TRANSFORMATIONS))
