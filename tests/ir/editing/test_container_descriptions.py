"""Container descriptions: messages, warnings and remarks have the names of the program, and describe all others."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pytest

import dcpy
from dcpy.ir.data import View
from dcpy.ir.editing.container_descriptions import description, readable

OTHERS = re.compile(r"__return|tmp_?\d*\b|\w+_view|__tmp")


def ordered(a, b):
    c = np.sort(a)
    total = (a * b + 1).sum()
    for i in range(1, len(a)):
        b[i] = b[i - 1] * 2 + c[i] + total
    y = a.reshape(2, -1)[0] + b[: a.shape[0] // 2]
    for i in range(3):
        y = y + np.sin(y)
    return np.cumsum(b), y[::-1]


def graph(function, *arguments):
    return dcpy.program(function).to_sdfg(*arguments)


def containers(sdfg):
    return [(name, desc) for region in sdfg.body.walk_regions() for name, desc in region.containers.items()]


def test_names_of_the_program_stay():
    sdfg = graph(ordered, np.ones(8), np.ones(8))
    assert {name: description(sdfg, name) for name in ("a", "b", "c")} == {"a": "'a'", "b": "'b'", "c": "'c'"}
    assert readable("'a' and 'nothing' in a[i]", sdfg) == "'a' and 'nothing' in a[i]"


def test_no_container_is_called_what_the_program_does_not_say():
    sdfg = graph(ordered, np.ones(8), np.ones(8))
    for name, _ in containers(sdfg):
        assert not OTHERS.search(re.sub(r"`.*`", "", description(sdfg, name))), name


def test_results_views_and_temporaries():
    def program(a, b):
        return (np.exp(a) @ b).sum() + np.sort(a * 3)[0], a + b

    sdfg = graph(program, np.ones(8), np.ones(8))
    told = {name: description(sdfg, name) for name, _ in containers(sdfg)}
    assert told["__return_1"] == "result 2"
    assert any(text.startswith("a temporary of `return (np.exp(a) @ b).sum()") for text in told.values())
    assert readable("reads __return_1[i0, 2], not a[i0]", sdfg) == "reads result 2 at [i, 2], not a[i]"


def test_views_are_parts_of_what_they_show():
    def program(a):
        return np.cumsum(a.reshape(2, -1), axis=0)

    sdfg = graph(program, np.ones(8))
    views = [name for name, desc in containers(sdfg) if isinstance(desc, View) and desc.of == "a"]
    assert views
    assert {description(sdfg, name) for name in views} == {"a part of 'a'"}


def test_temporaries_that_are_gone_have_no_name():
    sdfg = graph(ordered, np.ones(8), np.ones(8))
    assert readable("'tmp_97' is recomputed where it is read", sdfg) == "a temporary is recomputed where it is read"


@dataclass
class Waves:
    height_now: np.ndarray
    speed: float


def damped(waves: Waves, height):
    for i in range(1, len(height)):
        waves.height_now[i] = waves.height_now[i - 1] * waves.speed + height[i]


def test_fields_are_written_with_a_point():
    sdfg = graph(damped, Waves(np.ones(8), 0.5), np.ones(8))
    field = next(name for name in sdfg.arguments if name.endswith("now"))
    assert readable(f"writes {field}[i]", sdfg) == "writes waves.height_now[i]"
    assert description(sdfg, field) == "'waves.height_now'"
    assert description(sdfg, "height") == "'height'"
    said = dcpy.program(damped).explain(Waves(np.ones(8), 0.5), np.ones(8))
    assert "iteration i writes waves.height_now[i], iteration i + 1 reads waves.height_now[i - 1]" in said


def test_the_text_of_an_sdfg_has_names_of_its_own():
    sdfg = dcpy.parse("sdfg @f(x: f64[N]) symbols(N: size) { data tmp: f64[N] transient  state { copy x -> tmp } }")
    assert description(sdfg, "tmp") == "'tmp'"
    assert readable("reads tmp[0]", sdfg) == "reads tmp[0]"


@pytest.mark.parametrize("options", [{}, {"device": "gpu", "gpu_backend": "simulator"}], ids=["cpu", "gpu"])
def test_explanations_have_names_of_the_program(options):
    text = str(dcpy.program(ordered, auto_optimize=True, **options).explain(np.ones(8), np.ones(8)))
    reasons = [line for line in text.splitlines() if ":" in line and " at " in line]
    assert reasons
    assert "__return_1[" not in text
    assert "'tmp" not in text
