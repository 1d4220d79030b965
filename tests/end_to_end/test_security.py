"""Files from strangers: what they cannot do by being loaded, looked at, saved or compiled."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import dcpy
from dcpy import driver, viewer
from dcpy.base.options import resolve_options
from dcpy.base.printable_text import printable
from dcpy.base.source import SrcSpan
from dcpy.codegen.annotated_source import listings
from dcpy.codegen.emit.comments import comment
from dcpy.codegen.generate import c_header, generate, with_messages
from dcpy.ir import types
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.expressions.scalar import Ref
from dcpy.ir.files.json import from_json, to_json
from dcpy.ir.nodes import ForeignCall, Tasklet
from dcpy.programs.signatures import signature_of
from dcpy.transforms.cpu.lowering import lower_for_cpu

M = dcpy.symbol("M")
PROGRAM = """sdfg @f(A: f64[N]) {
    check N > 0 else ValueError "empty"
    state { map i = 0:N { tasklet (a <- A[i]) -> (o -> A[i]) { o = a + 1 } } } }"""
HOSTILE = (
    "x.py\n#error out", "x.py */ #error out", "x\\", "x??/", "x.py\r#error", "*//*", "\\\n#error", "/*", "\u2028#error",
    "x.py\x0b#error", "x.py\x00", "\ud800", "\u202e", "*" * 300 + "/", "?\\?/", "* /*//",
)  # fmt: skip


def placed(text):
    """The program with hostile places, made by hand: no reader takes them."""
    sdfg = dcpy.parse(PROGRAM)
    span = SrcSpan(text, 1)
    sdfg.span = span
    for element in (*sdfg.body.walk_blocks(), *sdfg.body.walk_nodes()):
        element.span = span
    next(iter(sdfg.body.blocks)).message = text
    return sdfg


def code_of(text):
    """C++ as compilers see it: lines joined at backslashes, without comments, empty lines, and what is in strings."""
    for newline in ("\r\n", "\r", "\x0b", "\x0c"):
        text = text.replace(newline, "\n")
    text = re.sub(r"(\\|\?\?/)[ \t]*\n", "", text)
    parts = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
    return parts.sub(lambda match: '""' if match[0][0] == '"' else " ", text).split()


@pytest.mark.parametrize("text", HOSTILE)
def test_s1_no_place_leaves_its_comment(text):
    """S1: a line break in the file of a span ended the comment, and the rest ran when the library was loaded."""
    harmless, hostile = lowered(placed("x.py")), lowered(placed(text))
    ((_, found),), ((_, expected),) = (listings(with_messages(generate(sdfg))) for sdfg in (hostile, harmless))
    assert code_of(found) == code_of(expected)
    for sdfg in (hostile, placed(text)):
        signature = generate(lowered(sdfg)).signature
        assert code_of(c_header(sdfg, signature)) == code_of(c_header(harmless, signature))


def lowered(sdfg):
    made = copy_sdfg(sdfg)
    lower_for_cpu(made)
    return made


@pytest.mark.parametrize("text", HOSTILE)
def test_s1_comments_stay_on_one_line(text):
    shown = comment(text)
    assert shown.isprintable()
    assert not any(mark in shown for mark in ("*/", "/*", "\\", "??"))
    assert printable(text).isprintable()


@pytest.mark.parametrize("text", [text for text in HOSTILE if not text.isprintable()])
def test_s1_places_that_are_not_printable_are_refused(text, tmp_path):
    document = to_json(placed("x.py"))
    broken = json.loads(json.dumps(document).replace('"x.py"', json.dumps(text)))
    with pytest.raises(dcpy.ParseError, match=r"not printable|no file can hold"):
        from_json(broken)
    with pytest.raises(dcpy.InvalidSdfg, match=r"not printable|no file can hold"):
        placed(text).validate()


@pytest.mark.parametrize("name", ["../../out", "/var/out", "a/b", "..", "", "a b", "x" * 300, "a\x00b", "\uff46"])
def test_s2_names_are_names_when_they_are_read(name, tmp_path, monkeypatch):
    """S2: ``load(f).view()`` wrote outside of the folder for the name ``../../x``."""
    folder = tmp_path / "deep" / "here"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    document = to_json(dcpy.parse(PROGRAM))
    document["sdfgs"][0]["name"] = name
    (tmp_path / "x.sdfg").write_text(json.dumps(document))
    with pytest.raises(dcpy.ParseError, match=r"names\.identifiers"):
        dcpy.load(tmp_path / "x.sdfg")
    with pytest.raises(dcpy.ParseError, match=r"names\.identifiers"):
        dcpy.parse(PROGRAM.replace("@f", f"@{json.dumps(name)}"))
    made = dcpy.parse(PROGRAM)
    made.name = name
    with pytest.raises(dcpy.InvalidSdfg, match=r"names\.identifiers"):
        made.view()
    assert list(folder.iterdir()) == []
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["deep", "here", "x.sdfg"]


def test_s2_pages_are_written_where_they_should(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert str(dcpy.parse(PROGRAM).view()) == "f.html"
    assert dcpy.parse(PROGRAM).view(tmp_path / "sub.html").is_file()
    assert sorted(os.listdir(tmp_path)) == ["f.html", "sub.html"]


def test_excerpts_are_of_python_sources_only(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("a secret\n")
    assert SrcSpan(str(secret), 1).excerpt() == ""
    assert SrcSpan("/dev/zero", 1).render() == "  --> zero:1:1"
    assert SrcSpan("/dev/zero.py\x00", 1).excerpt() == ""
    source = tmp_path / "a.py"
    source.write_text("\tx = '\x1b[2J'\n")
    assert SrcSpan(str(source), 1, 1, 1, 10**12).render().endswith("| \tx = '<U+001B>[2J'\n   |  ^^^^^^^^^^^^^^^^^^^")


@pytest.mark.parametrize(
    "text",
    [
        '{"dcpy": 1, "dcpy": 1, "sdfgs": []}', '{"dcpy": NaN}', '{"dcpy": 1, "sdfgs": [Infinity]}', "[" * 100_000,
        '{"dcpy": ' + "1" * 5000 + "}", '{"dcpy": 1, "sdfgs": ' + "[" * 400 + "]" * 400 + "}", "\x00", "",
    ],
)  # fmt: skip
def test_files_that_are_no_documents_are_refused(text, tmp_path):
    (tmp_path / "x.sdfg").write_text(text)
    with pytest.raises(dcpy.ParseError):
        dcpy.load(tmp_path / "x.sdfg")


def test_s7_names_of_files_without_nul(tmp_path):
    """S7: a NUL in a file's name was a bare ValueError."""
    with pytest.raises(dcpy.ParseError, match="no name of a file"):
        dcpy.load("a\x00.sdfg")


@pytest.mark.parametrize(
    "code",
    [
        "o = " + "(" * 5000 + "a" + ")" * 5000, "o = " + "-" * 5000 + "a", "o = a" + " + a" * 5000,
        "o = a + " + "9" * 5000, "o = a + f64(index(9**9**9))",
        "o = f64(index(" + "(N + 1)*" * 2000 + "N))", "o = i8(1e300)", "o = i64(inf)", "o = \x00",
    ],
)  # fmt: skip
def test_texts_that_exhaust_are_refused(code):
    text = PROGRAM.replace("o = a + 1", code)
    with pytest.raises(dcpy.DcpyError):
        dcpy.parse(text).validate()


def test_regions_nest_only_so_deep(tmp_path):
    def nested(depth):
        inner = "state { tasklet () -> (o -> A[0]) { o = 1.0 } }"
        for number in range(depth):
            inner = f"loop i{number} = 0:2 {{ {inner} }}"
        return f"sdfg @f(A: f64[4]) {{ {inner} }}"

    with pytest.raises(dcpy.ParseError, match="nested more than"):
        dcpy.parse(nested(60))
    with pytest.raises(dcpy.ParseError):
        dcpy.parse(nested(5000))
    deep = dcpy.parse(nested(12))
    deep.save(tmp_path / "deep.sdfg")
    assert str(dcpy.load(tmp_path / "deep.sdfg")) == str(deep)


@pytest.mark.cc
def test_s1_the_exploit_of_the_review(tmp_path):
    """S1: this document passed `validate`, and its initializer ran when the library was loaded."""
    place = 'x.py\nstatic int out = [] { __builtin_puts("INJECTED-AND-RUN"); return 0; }();\n//'
    document = json.dumps(to_json(placed("x.py"))).replace('"x.py"', json.dumps(place))
    (tmp_path / "evil.sdfg").write_text(document)
    run = subprocess.run(
        [sys.executable, "-c", f"import dcpy\ndcpy.load({str(tmp_path / 'evil.sdfg')!r}).compile()"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "INJECTED-AND-RUN" not in run.stdout
    assert "ParseError" in run.stderr
    safe = placed("x.py")
    array = np.zeros(3)
    safe.compile()(array)
    assert array.tolist() == [1.0, 1.0, 1.0]


def foreign(call, environment=""):
    return f"sdfg @f(x: f64[4]) {{ state {{ foreign () -> (o -> x[0:4]) {environment} {{ {call} }} }} }}"


@pytest.mark.parametrize(
    ("call", "environment", "reason"),
    [
        ("__builtin_trap()", "", "called from no environment"),
        ("system(&o)", "", "called from no environment"),
        ("system(&o)", "from openblas", "declares no function 'system'"),
        ('"std::abort"()', "from openblas", "declares no function 'std::abort'"),
        ("__builtin_printf(&o)", "from numpy.random", "declares no function '__builtin_printf'"),
        ("sizeof(&o)", "from fftw", "sizeof"),
        ('"dcpy_pcg64<system>"(&o)', "from numpy.random", "declares no function 'system'"),
        ("run(&o)", "from nowhere", "no environment is called 'nowhere'"),
    ],
)
def test_s3_foreign_calls_name_what_their_environment_declares(call, environment, reason):
    """S3: a file could name any C function, ``__builtin_trap`` or ``system``, with an empty environment."""
    sdfg = dcpy.parse(foreign(call, environment))
    for refuse in (sdfg.validate, sdfg.compile, lambda: sdfg(np.zeros(4))):
        with pytest.raises(dcpy.InvalidSdfg, match=r"foreign\.declared") as caught:
            refuse()
        assert reason in str(caught.value)


def test_s3_what_expansions_make_may_be_compiled():
    @dcpy.program
    def products(A: dcpy.float64[M, M]):
        return np.sort(A @ A), np.linalg.inv(A), np.random.default_rng(1).permutation(M)

    expanded = products.to_sdfg().expand_library_nodes()
    expanded.validate()
    assert any(isinstance(node, ForeignCall) for node in expanded.body.walk_nodes())
    from_json(to_json(expanded)).body  # noqa: B018  (a reader takes it)


@pytest.mark.cc
@pytest.mark.parametrize("strides", ["-1", "0", "-2", "N - 7"])
def test_s7_memory_that_is_allocated_has_room(strides):
    """S7: a transient of the stride -1 ended in ``double free or corruption``."""
    text = f"""sdfg @f(x: f64[N]) symbols(N: size) {{ data t: f64[N] strides ({strides}) transient @heap
        state {{ copy x[0:N] -> t[0:N] copy t[0:N] -> x[0:N] }} }}"""
    with pytest.raises(dcpy.InvalidSdfg, match=r"memory\.strides"):
        dcpy.parse(text)(np.zeros(9))
    padded = dcpy.parse(text.replace(f"strides ({strides})", "strides (3)"))
    x = np.arange(9.0)
    padded(x)
    assert x.tolist() == list(range(9))


@pytest.mark.cc
def test_s7_sizes_without_end_give_no_memory():
    text = """sdfg @f(x: f64[1], n) symbols(n: i64) { data t: f64[n, n, n] transient @heap
              state { copy x[0:1] -> t[0, 0, 0:1] } }"""
    for n in (2**31, 2**40, 2**62):
        with pytest.raises(MemoryError):
            dcpy.parse(text)(np.zeros(1), n)


@pytest.mark.parametrize("size", [2**62, 2**63, 2**64, 10**30])
def test_s7_huge_numbers_are_refused(size):
    for text in (
        f"sdfg @f(x: f64[4]) {{ data t: f64[{size}] transient @heap state {{ copy x[0] -> t[0] }} }}",
        f"sdfg @f(x: f64[4]) {{ data t: f64 transient state {{ map i = 0:{size} {{ copy x[0] -> t }} }} }}",
        f"sdfg @f(x: f64[N + {size}]) symbols(N: size) {{ state {{ copy x[0] -> x[1] }} }}",
    ):
        try:
            artifact = driver.artifact_of(valid(text), signature_of(dcpy.parse(text)), resolve_options())
        except dcpy.DcpyError:
            continue
        assert "map i" in text  # which may run as long as it likes, and raises where it cannot count so far
        assert size < 2**63 or "OverflowError" in {check.exception for check in artifact.signature.checks}


def valid(text):
    sdfg = dcpy.parse(text)
    sdfg.validate()
    return sdfg


def test_calls_that_never_end_are_refused_when_they_are_read():
    with pytest.raises(dcpy.ParseError, match="calls itself"):
        dcpy.parse("sdfg @f() { call @g () } sdfg @g() { call @f () }")
    chain = " ".join(f"sdfg @f{n}() {{ call @f{n + 1} () }}" for n in range(3000))
    with pytest.raises(dcpy.ParseError, match="nested more than"):
        dcpy.parse(f"{chain} sdfg @f3000() {{ }}")


def test_what_cannot_be_shown_is_refused():
    document = to_json(dcpy.parse(PROGRAM.replace("a + 1", "a + 1.5")))
    sdfg = dcpy.SDFG.of(from_json(json.loads(json.dumps(document).replace("1.5", "1" + "0" * 400))))
    for show in (str, dcpy.SDFG._repr_html_, dcpy.SDFG.view):
        with pytest.raises(dcpy.InvalidSdfg):
            show(sdfg)


def test_s1_a_program_never_stands_for_a_function_of_the_c_library():
    """S1: who links a library with a program called `system` would call that instead of the C library's."""
    sdfg = dcpy.parse(PROGRAM.replace("@f", "@system"))
    header = c_header(sdfg, signature_of(sdfg))
    assert "int32_t system_1(" in header
    assert not re.search(r"\bsystem\(", header)


def test_s1_names_that_cannot_be_encoded_are_shown():
    """S1: half of a surrogate pair in a name stopped the picture of a program with an error of the file system."""
    sdfg = dcpy.parse(PROGRAM)
    (tasklet,) = (node for node in sdfg.body.walk_nodes() if isinstance(node, Tasklet))
    tasklet.code = (("o", Ref("\ud800", types.float64)),)
    page = viewer.view_html(sdfg)
    assert "\\ud800" in page
    page.encode("utf-8")


def test_s1_a_size_that_no_argument_tells_is_refused():
    """S1: compiling a program whose symbol nobody gives was a ValueError of the dispatcher."""
    sdfg = dcpy.parse("sdfg @f(A: f64[2]) symbols(T: i64) { loop i = 0:T { copy A[0] -> A[1] } }")
    sdfg.symbols["T"] = types.int64
    with pytest.raises(dcpy.CodegenError, match="the value of T follows from no argument of 'f'"):
        signature_of(sdfg)


def test_s1_constants_that_their_dtype_cannot_hold_are_refused():
    sdfg = dcpy.parse("sdfg @f(A: f32[2]) { data c: f32[2] transient copy c[0:2] -> A[0:2] }")
    sdfg.constants["c"] = np.array([1.5, 2.5], np.float32)
    document = json.dumps(to_json(sdfg))
    assert "2.5" in document
    with pytest.raises(dcpy.ParseError, match="too large"):
        from_json(json.loads(document.replace("2.5", "1e300")))
