"""Decision records: titles, opening sentences and supersessions agree with their index."""

import re
from pathlib import Path

import pytest

DECISIONS = Path(__file__).parents[2] / "docs" / "decisions"
RECORDS = sorted(DECISIONS.glob("0*.md"))
INDEX = (DECISIONS / "index.md").read_text()
ENTRY = re.compile(r"^\* \[(\d{4})\]\(([\w-]+\.md)\) \*\*(.+?)\.\*\* (.+)$", re.MULTILINE)
REFERENCE = re.compile(r"\[(\d{4})\]\((\d{4})-[\w-]+\.md\)")


def entries():
    return {name: (number, title, line) for number, name, title, line in ENTRY.findall(INDEX)}


def paragraphs(path):
    """Return the paragraphs of a record, each on one line."""
    return [" ".join(part.split()) for part in path.read_text().split("\n\n")]


def slug(title):
    return re.sub(r"[^a-z0-9]+", "-", title.lower().replace("'", "")).strip("-")


def superseding(text):
    """Return the numbers of the records that, by this text, supersede another one."""
    marks = re.findall(r"\*Superseded(?: in part)? by (.+?)\*", " ".join(text.split()))
    return [number for mark in marks for number, _ in REFERENCE.findall(mark)]


def test_each_record_is_in_the_index_once():
    links = re.findall(r"^\* \[\d{4}\]\(([\w-]+\.md)\)", INDEX, re.MULTILINE)
    assert sorted(links) == [path.name for path in RECORDS]
    assert len(entries()) == len(RECORDS)
    assert len({path.name[:4] for path in RECORDS}) == len(RECORDS)


def test_chapters_of_the_index_are_in_the_order_of_numbers():
    for chapter in INDEX.split("\n## ")[1:]:
        numbers = [number for number, *_ in ENTRY.findall(chapter)]
        assert numbers, chapter.splitlines()[0]
        assert numbers == sorted(numbers), chapter.splitlines()[0]


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.name[:4])
def test_a_record_is_called_and_begins_as_its_entry(path):
    number, title, line = entries()[path.name]
    heading, opening, *rest = paragraphs(path)
    assert heading == f"# {number}: {title}"
    assert path.name == f"{number}-{slug(title)}.md"
    assert line.split(" *Superseded")[0] == opening
    mark = rest[0] if rest[0].startswith("*Superseded") else ""
    assert superseding(line) == superseding(mark)
    assert ("Superseded" in line) == bool(superseding(mark))
    assert len(" ".join(rest).replace(mark, "").split()) <= 500, "more than a page"


@pytest.mark.parametrize("path", [*RECORDS, DECISIONS / "index.md"], ids=lambda path: path.name[:4])
def test_references_to_records_name_their_number(path):
    references = REFERENCE.findall(path.read_text())
    assert [shown for shown, target in references if shown != target] == []


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.name[:4])
def test_only_later_records_supersede_one(path):
    assert [by for by in superseding(path.read_text()) if by <= path.name[:4]] == []
