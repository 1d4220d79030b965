"""Each word of the glossary names something that the code has."""

import re
from importlib import import_module
from importlib.util import find_spec

import pytest

from docs.generate import DOCS

ROWS = re.findall(r"^\| (?!word)(.+?) \| .+? \| `([\w.]+)` \|$", (DOCS / "explanation/glossary.md").read_text(), re.M)


def is_in_the_code(path: str) -> bool:
    """Return whether a dotted path below dcpy is a module, a class or function of one, or a field of a class."""
    module, names = f"dcpy.{path}", []
    while not _is_module(module):
        module, _, name = module.rpartition(".")
        names.insert(0, name)
    place = import_module(module)
    for name in names:
        if name not in getattr(place, "__dataclass_fields__", {}) and not hasattr(place, name):
            return False
        place = getattr(place, name, None)
    return True


def _is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def test_every_row_says_where_its_word_is():
    text = (DOCS / "explanation/glossary.md").read_text()
    lines = [line for line in text.split("\n") if re.match(r"\| (?!word)", line)]
    assert len(ROWS) == len(lines) > 10


@pytest.mark.parametrize(("word", "path"), ROWS)
def test_the_word_names_something_that_the_code_has(word, path):
    assert is_in_the_code(path), f"{word}: no dcpy.{path}"


@pytest.mark.parametrize("path", ["ir.nodes.NoSuchClass", "ir.nodes.Map.no_such_field", "no_such_room.x"])
def test_what_the_code_does_not_have_is_found_out(path):
    assert not is_in_the_code(path)
