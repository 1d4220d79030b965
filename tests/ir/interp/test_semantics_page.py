"""The programs of docs/explanation/semantics.md parse, verify and run."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from dcpy.ir.data import Array
from dcpy.ir.interp import interpret
from dcpy.ir.nodes import Call, Copy, ForeignCall, LibraryNode, Map, Tasklet
from dcpy.ir.region import Block
from dcpy.ir.text import parse_sdfg
from dcpy.ir.verify import verify

PAGE = (Path(__file__).parents[3] / "docs/explanation/semantics.md").read_text()
PROGRAMS = re.findall(r"```sdfg\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("text", PROGRAMS, ids=[re.search(r"@(\w+)", text)[1] for text in PROGRAMS])
def test_programs_of_the_page(text):
    sdfg = parse_sdfg(text)
    verify(sdfg)
    arguments = {"a": 2.0} if "a" in sdfg.containers else {}
    for name, desc in sdfg.containers.items():
        if isinstance(desc, Array) and not desc.transient:
            shape = [size.subs({"N": 4, "M": 4}).constant for size in desc.shape]
            arguments[name] = np.zeros(shape, desc.dtype.numpy)
    interpret(sdfg, arguments, strict=True)


def test_every_element_has_a_section():
    nodes = (Tasklet, Copy, Map, Call, LibraryNode, ForeignCall)
    classes = (cls for cls in (*nodes, *Block.__subclasses__()) if cls.__module__.startswith("dcpy."))
    kinds = {cls.kind for cls in classes} | {"let"}
    anchors = set(re.findall(r"\{ #(\w+) \}", PAGE))
    assert kinds - {"assign", "continue", "return"} <= anchors
