"""Places that move with their functions."""

import pytest

from dcpy.base.source import SrcSpan
from dcpy.codegen import artifact
from dcpy.codegen.artifact import Check, Signature
from dcpy.runtime.storage.records import NoFaithfulJson, as_json, from_json
from dcpy.runtime.storage.relative_spans import placed, relative_to

TEXT = """def g(x):
    return x

def f(x):
    y = (x +
         1)
    def inner(z):
        return z[
            0]
    return inner(y)
"""


def codes_of(file, above=0):
    namespace = {}
    exec(compile("\n" * above + TEXT, file, "exec"), namespace)
    return namespace["f"].__code__, namespace["g"].__code__


def test_w13_places_follow_their_functions():
    codes, moved = codes_of("/a/one.py"), codes_of("/b/two.py", above=7)
    for span in (
        SrcSpan("/a/one.py", 2, 4, 2, 12),
        SrcSpan("/a/one.py", 5, 4, 6, 11),
        SrcSpan("/a/one.py", 9, 12),
        SrcSpan("/a/one.py", 4),
    ):
        place = relative_to(codes, span)
        assert placed(codes, place) == span
        end = span.end_line + 7 if span.end_line else 0
        assert placed(moved, place) == SrcSpan("/b/two.py", span.line + 7, span.column, end, span.end_column)


def test_w13_places_in_no_function_are_not_kept():
    codes = codes_of("/a/one.py")
    for span in (SrcSpan("/a/one.py", 3), SrcSpan("/a/one.py", 11), SrcSpan("/a/other.py", 5)):
        assert relative_to(codes, span) is None


def test_w13_signatures_are_kept_with_places():
    codes, moved = codes_of("/a/one.py"), codes_of("/b/two.py", above=7)
    check = Check("IndexError", "index {0}", SrcSpan("/a/one.py", 8, 15, 8, 19))
    signature = Signature("f", (artifact.ScalarArg("x", "float64"),), checks=(check,))
    described = as_json(signature, codes)
    assert "one.py" not in repr(described)
    assert from_json(described, moved).checks[0].span == SrcSpan("/b/two.py", 15, 15, 15, 19)
    with pytest.raises(NoFaithfulJson):
        as_json(signature, codes[1:])
    with pytest.raises(IndexError):
        from_json(as_json(Signature("f", (), checks=(Check("E", "", SrcSpan("/a/one.py", 2)),)), codes), codes[:1])
