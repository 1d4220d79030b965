"""Printable texts: all texts in an SDFG can be shown, on one line, and written to a file.

Places, labels and names of functions come into messages, comments of generated code and pages of HTML, and they may
come from a file that a stranger wrote. What a program itself prints or raises may have line breaks in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any

from dcpy.base.printable_text import printable
from dcpy.base.source import SrcSpan
from dcpy.ir.nodes import Node
from dcpy.ir.region import Block
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.verify.rule import Findings, rule
from dcpy.ir.verify.subjects import Declaration, Scope

LONGEST = 4096  # characters of a text that is no message: as many as a path may have
LARGEST_PLACE = 2**31


@rule("texts.program", Sdfg)
def programs_say_what_can_be_shown(sdfg: Sdfg, scope: Scope) -> Findings:
    """The place and the history of an SDFG are printable, and its constant results can be written to a file."""
    yield from _place(sdfg.span)
    yield from _unfit("an entry of the history", sdfg.history)
    for result in sdfg.results:
        yield from _unfit("a constant result", _strings(result.value), is_free=True)


@rule("texts.blocks", Block)
def blocks_say_what_can_be_shown(block: Block, scope: Scope) -> Findings:
    """The texts of a block are printable, apart from the message of an exception, and its place is one."""
    yield from _texts_of(block)


@rule("texts.nodes", Node)
def nodes_say_what_can_be_shown(node: Node, scope: Scope) -> Findings:
    """The texts of a node (labels, functions, environments, properties) are printable, and its place is one."""
    yield from _texts_of(node)


@rule("texts.containers", Declaration)
def containers_say_what_can_be_shown(subject: Declaration, scope: Scope) -> Findings:
    """The texts of a container's declaration are printable, and its place is one."""
    yield from _place(subject.desc.span)
    yield from _unfit("the group of an argument", [getattr(subject.desc, "alias", "")])


def _texts_of(element: Block | Node) -> Findings:
    """Yield errors in the texts that an element's fields hold: strings, strings in tuples, keys of tables."""
    yield from _place(element.span)
    free = element.free_texts
    for field in fields(element):
        texts = [text for text in _strings(getattr(element, field.name)) if text]
        yield from _unfit(f"the {field.name} of a {element.kind}", texts, is_free=field.name in free)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple | list | dict):  # of a table, the keys
        yield from (part for part in value if isinstance(part, str))


def _unfit(what: str, texts: Iterable[str], *, is_free: bool = False) -> Findings:
    for text in texts:
        if is_free and not _can_be_written(text):
            yield f"{what} has characters that no file can hold: {printable(text)!r}"
        elif not is_free and not text.isprintable():
            yield f"{what} is not printable: {printable(text)!r}"
        elif not is_free and len(text) > LONGEST:
            yield f"{what} has {len(text)} characters; {LONGEST} are the most"


def _can_be_written(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _place(span: SrcSpan | None) -> Findings:
    if span is None:
        return
    yield from _unfit("the file of a place", [span.file])
    yield from _unfit("a function around a place", [name for name, _ in span.calls])
    for _, at in span.calls:
        yield from _place(at)
    numbers = (span.line, span.column, span.end_line, span.end_column)
    if any(not 0 <= number < LARGEST_PLACE for number in numbers):
        yield f"a place in the source has the numbers {', '.join(map(str, numbers))}"
