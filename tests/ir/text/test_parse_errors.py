"""What cannot be read is refused at its place."""

from __future__ import annotations

import pytest

from dcpy.base.errors import ParseError
from dcpy.ir.text import parse_sdfg

BAD = {
    # the body of sdfg @f(A: f64[N], n)    what is said, and the text under the caret
    "$": ("unexpected '$'", "$"),
    "copy A[0:N] A[0:N]": ("expected '->', found 'A'", "A"),
    "copy B[0] -> A[0]": ("no container is called 'B' here", "B"),
    "tasklet () -> (o -> A[0]) { o = q + 1 }": ("'q' is no connector, symbol or container here", "q"),
    "tasklet () -> (o -> A[0]) { o = frobnicate(1.0) }": ("no operation or dtype is called 'frobnicate'", "frobnicate"),
    "tasklet () -> (o -> A[0]) { o = exp(1.0, 2.0) }": ("exp takes 1 arguments, not 2", "exp"),
    "tasklet () -> (o -> A[0], o -> A[1]) { }": ("connector 'o' is there twice", "o"),
    "copy A[exp(n)] -> A[0]": ("exp is not possible in an integer expression over symbols", "exp"),
    "copy A[1.5] -> A[0]": ("expected an integer expression over symbols", "1.5"),
    "if A[0] < A[1] < 2 { }": ("comparisons do not chain", "<"),
    "if A[0:2] < 1 { }": ("one element is needed here, not a range", "A"),
    "map i = 0 { }": ("expected a range: start:stop or start:stop:step", "0"),
    "map i = 0:N @fast { }": ("no schedule is called 'fast'", "fast"),
    "data x: f65": ("no dtype is called 'f65'", "f65"),
    "data x: f64 @disk": ("no memory space and no allocation is called 'disk'", "disk"),
    "data x: f64 data x: f64": ("'x' is declared twice", "x"),
    "view v: f64[2] of B": ("'v' shows 'B', which is no container here", "v"),
    "view v: f64[2] of A[0, 0]": ("'v' does not fit the shape of 'A'", "v"),
    "view v: f64[2] of v": ("'v' shows 'v', which is no container here", "v"),
    "reference r: f64[N]": ("there is no reference in an SDFG any more", "reference"),
    "structure p: P {x: f64}": ("there is no structure in an SDFG any more", "structure"),
    "break data x: f64": ("containers are declared before the first block of their region", "data"),
    "state { loop i = 0:N { } }": ("'loop' begins no node", "loop"),
    "blas.gem () -> ()": ("no library node is called 'blas.gem'", "blas.gem"),
    "call @g ()": ("no SDFG called 'g' is defined here", "g"),
    "check n < 2 else IndexError 3": ("expected a message in double quotes, found '3'", "3"),
    "constant c: f64[2] = {1.0}": ("'c' has 1 elements, which do not fill its shape", "c"),
    "state {": ("'}' begins no node", None),
}


@pytest.mark.parametrize("body", BAD)
def test_is_refused_at_its_place(body):
    message, token = BAD[body]
    text = f"sdfg @f(A: f64[N], n) {{\n  {body}\n}}"
    if token is None:
        text = text.rstrip("}")
        message = "the end begins no node"
    with pytest.raises(ParseError) as caught:
        parse_sdfg(text)
    assert caught.value.message == message
    if token is not None:
        span = caught.value.span
        line = text.splitlines()[span.line - 1]
        assert line[span.column : span.end_column] == token
        assert f" {span.line} | {line}" in str(caught.value)


@pytest.mark.parametrize(
    "text", ["", "sdfg", "sdfg @f", "sdfg @f(", "sdfg @f() {", "42", "sdfg @f() { } sdfg @f() { }"]
)
def test_a_broken_frame_is_refused(text):
    with pytest.raises(ParseError):
        parse_sdfg(text)
