"""The page of an SDFG: well formed, complete, self-contained, and safe with untrusted names."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings

from dcpy.base.source import SrcSpan
from dcpy.ir.text import parse_sdfg
from dcpy.viewer import notebook_html, view_html
from tests.ir.text.test_round_trip import PROGRAMS
from tests.support.sdfg_strategies import programs

SVG = "{http://www.w3.org/2000/svg}"
TEXT = """
    sdfg @f(A: f64[N], B: f64[N], T) symbols(N: size, T: i64) {
      data acc: f64 transient
      view v: f64[2] of A[0:2]
      loop t = 0:T {
        data c: f64 transient
        state body {
          map i = 0:N @parallel { tasklet work (a <- A[i]) -> (o -> acc (add)) { o = a + f64(t) } }
          copy v[0:2] -> B[0:2]
          call @g (x = B[0:N]) with (N = N)
        }
        if A[0] > 1.0 { break } else { let k = t + 1 }
      }
    }
    sdfg @g(x: f64[N]) symbols(N: size) { state { copy x[0] -> x[1] } }
"""


def drawings(page):
    return [ElementTree.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", page, re.DOTALL)]


def details(page):
    return json.loads(re.search(r'id="details">(.*?)</script>', page, re.DOTALL).group(1))


def of_class(drawing, css):
    return [group for group in drawing.iter(f"{SVG}g") if css in group.get("class", "").split()]


def texts(element):
    return [text.text for text in element.iter(f"{SVG}text")]


def test_every_element_is_drawn():
    main, callee = drawings(view_html(parse_sdfg(TEXT)))
    assert [texts(group) for group in of_class(main, "control")] == [["for t in 0:T"], ["if A[0] > 1.0"], ["else"]]
    assert [texts(group) for group in of_class(main, "state")] == [["body"]]
    assert [texts(group) for group in of_class(main, "map")] == [["map i = 0:N  @parallel"]]
    assert [texts(group) for group in of_class(main, "tasklet")] == [["work", "o = a + f64(t)"]]
    assert [texts(group) for group in of_class(main, "step")] == [["break"], ["let k = t + 1"]]
    assert [texts(group) for group in of_class(main, "call")] == [["call g"]]
    assert "A[0:N]" in [text for group in of_class(main, "memlet") for text in texts(group)]
    assert [group.get("data-container") for group in of_class(callee, "access")] == ["x", "x"]
    assert "data c: f64 transient" in texts(main)


def test_pointing_shows_fields_text_and_the_line_of_python(tmp_path):
    source = tmp_path / "program.py"
    source.write_text("first\n    acc += A[i] + t\n")
    sdfg = parse_sdfg(TEXT)
    for node in sdfg.body.walk_nodes():
        node.span = SrcSpan(str(source), 2, 4)
    page = view_html(sdfg)
    told = {entry["title"]: entry for entry in details(page)}
    assert told["tasklet"]["place"] == "program.py:2"
    assert told["tasklet"]["line"] == "acc += A[i] + t"
    assert ["name", "work"] in told["tasklet"]["rows"]
    assert told["map"]["text"].startswith("map i = 0:N @parallel {")
    assert ["schedule", "@parallel"] in told["map"]["rows"]
    assert told["acc"]["text"] == "data acc: f64 transient"
    assert str(tmp_path) not in page
    pointed = [int(group.get("data-info")) for svg in drawings(page) for group in svg.iter() if group.get("data-info")]
    assert sorted(set(pointed)) == list(range(len(details(page))))


def test_nothing_is_loaded_from_elsewhere():
    page = view_html(parse_sdfg(TEXT)).replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert not re.search(r"https?:|\bsrc=|<link|@import|url\((?!#tip\))", page)


EVIL = '</script></style><img src=x onerror="alert(1)">&\'`'


class Tags(HTMLParser):
    """All tags of a page, and whether each is closed."""

    def __init__(self, page):
        super().__init__()
        self.seen, self.open = [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_names_are_never_markup():
    name = json.dumps(EVIL)
    sdfg = parse_sdfg(f"""
        sdfg @main(A: f64[4] alias {name}) {{
          state {name} {{
            tasklet {name} (a <- A[0]) -> (o -> A[1]) {{ o = a }}
            foreign (a <- A[0:2]) -> (o -> A[1]) from {name} {{ f(&a) }}
            call @callee ()
          }}
          check A[0] > 0.0 else ValueError {name}
        }}
        sdfg @callee() {{ }}""")
    _, foreign, call = sdfg.body.walk_nodes()
    sdfg.name, foreign.function, call.sdfg.name = EVIL, EVIL, EVIL + "2"  # no reader takes these
    page = view_html(sdfg)
    tags = Tags(page)
    assert tags.open == []
    assert "img" not in tags.seen
    assert tags.seen.count("script") == 2
    assert any(entry["text"].find("onerror") >= 0 for entry in details(page))
    sdfg.body.blocks.clear()
    assert "img" not in Tags(notebook_html(sdfg)).seen


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_construct_has_a_picture(name):
    page = view_html(parse_sdfg(PROGRAMS[name]))
    assert Tags(page).open == []
    assert all(float(svg.get("width")) > 0 for svg in drawings(page))


@settings(max_examples=25)
@given(programs())
def test_random_programs_have_well_formed_pictures(sdfg):
    page = view_html(sdfg)
    assert Tags(page).open == []
    assert len(drawings(page)) >= 1
    assert page == view_html(sdfg)


def test_processes_stand_beside_each_other():
    sdfg = parse_sdfg("""
    sdfg @f(x: f64[4], y: f64[4]) {
      dataflow {
        stream s: f64 capacity 2 transient
        process give { loop i = 0:4 { copy x[i] -> s } }
        process take p = 0:1 endless { loop j = 0:4 { copy s -> y[j] } }
      }
    }
    """)
    page = view_html(sdfg)
    for text in ("dataflow", "process give", "process take p = 0:1 endless", "stream s: f64 capacity 2"):
        assert text in page
