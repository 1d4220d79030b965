"""What is assumed of symbols: written down, read back, checked for sense, known to questions, kept by callers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcpy.base.assumptions import Assumption
from dcpy.base.errors import ArgumentShapeError, InvalidSdfg, ParseError
from dcpy.ir.analysis.dataflow.value_ranges import free_ranges, ranges_at
from dcpy.ir.analysis.polyhedral.footprints import Footprint
from dcpy.ir.analysis.polyhedral.integer_sets import covers, overlap
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.files.json import from_json, to_json
from dcpy.ir.interp import run
from dcpy.ir.subsets import parse_subset
from dcpy.ir.symbolic import Ranges, ceil_div, min_of, parse_expr, sym
from dcpy.ir.text import parse_sdfg, print_sdfg
from dcpy.ir.verify import problems, verify

N, M, i = sym("N"), sym("M"), sym("i")
ALL = "N: size{least = 1, most = 4096, multiple_of = 8, typical = 1000}, k: i64{least = -3}"
TEXT = f"""sdfg @f(A: f64[N], k) symbols({ALL}) {{
  state {{
    tasklet () -> (o -> A[0]) {{ o = 1.0 }}
  }}
}}"""


def of(text: str) -> str:
    """The text of an SDFG with these symbols."""
    return TEXT.replace(ALL, text)


def test_text_and_json_keep_what_is_assumed():
    sdfg = parse_sdfg(TEXT)
    assert sdfg.assumed == {"N": Assumption(1, 4096, 8, 1000), "k": Assumption(least=-3)}
    assert print_sdfg(sdfg) == TEXT
    for other in (from_json(to_json(sdfg)), copy_sdfg(sdfg)):
        assert print_sdfg(other) == TEXT
        assert other.assumed is not sdfg.assumed


def test_a_document_says_nothing_where_nothing_is_assumed():
    plain = parse_sdfg(of("N: size, k: i64"))
    (content,) = to_json(plain)["sdfgs"]
    assert "assumed" not in content
    assert from_json(to_json(plain)).assumed == {}


@pytest.mark.parametrize(
    ("symbols", "message"),
    [
        ("N: size{least = 9, most = 8}, k", "no value is at least 9 and at most 8"),
        ("N: size{most = -1}, k", "no value is at least 0 and at most -1"),
        ("N: size{least = 1, most = 7, multiple_of = 8}, k", "no multiple of 8 is at least 1 and at most 7"),
        ("N: size{multiple_of = 0}, k", "values cannot be multiples of 0"),
        ("N: size{most = 10, typical = 11}, k", "the typical value 11 is more than 10"),
        ("N: size{multiple_of = 8, typical = 9}, k", "the typical value 9 is not a multiple of 8"),
        ("N: size, k: i64{most = 9223372036854775808}", "does not fit into 64 bits"),
        ("N: size{lowest = 1}, k", "the symbol 'N' has no parameter 'lowest'"),
        ("N: size{least = 1, least = 2}, k", "the symbol 'N' has two values of 'least'"),
    ],
)
def test_what_cannot_hold_is_an_error_where_it_is_written(symbols, message):
    with pytest.raises(ParseError, match=message) as error:
        parse_sdfg(of(symbols))
    assert error.value.span is not None
    assert error.value.span.line == 1


def test_a_document_with_what_cannot_hold_is_refused():
    document = to_json(parse_sdfg(TEXT))
    document["sdfgs"][0]["assumed"]["dict"]["N"]["assumption"]["most"] = 0
    with pytest.raises(InvalidSdfg, match="no value is at least 1 and at most 0"):
        verify(from_json(document))
    document["sdfgs"][0]["assumed"]["dict"]["N"]["assumption"]["most"] = "many"
    with pytest.raises(ParseError, match="most cannot be str 'many'"):
        from_json(document)


def test_two_assumptions_hold_together():
    assert Assumption(1, None, 4, 100).and_also(Assumption(0, 50, 6, 7)) == Assumption(1, 50, 12)
    assert Assumption(1, None, 4, 12).and_also(Assumption(0, 50, 6, 7)) == Assumption(1, 50, 12, 12)
    assert Assumption(1, 9).and_also(Assumption(10)).problem() == "no value is at least 10 and at most 9"


# -- questions ---------------------------------------------------------------------------------------------------------

RANGES = Ranges().bind("N", 1, 4096, 8).bind("M", 0).bind("i", 0, N - 1, 8)


@pytest.mark.parametrize("value", ["N - 8", "4096 - N", "N - i - 8", "N - min(i + 8, N)", "2*N - 16"])
def test_what_follows(value):
    assert RANGES.proves_nonneg(parse_expr(value))


@pytest.mark.parametrize("value", ["N - 9", "4088 - N", "N - i - 9", "M - 8", "N + M - 9"])
def test_what_does_not_follow(value):
    assert not RANGES.proves_nonneg(parse_expr(value))


@pytest.mark.parametrize(
    ("value", "simple"),
    [
        (N % 8, "0"),
        (N % 4, "0"),
        ((N + 3) % 8, "3"),
        (N % 16, "N % 16"),
        (N // 8 * 8, "N"),
        (ceil_div(N, 8), "N // 8"),
        (ceil_div(N, 8) * 8 - N, "0"),
        ((N + 3) // 8, "N // 8"),
        (min_of(i + 8, N), "i + 8"),
        (M % 8, "M % 8"),
    ],
)
def test_remainders_are_known(value, simple):
    assert str(RANGES.simplify(value)) == simple


@given(
    value=st.sampled_from(["N % 8", "N // 4", "(N + 3) % 8", "8*(N // 8) - N", "min(N, M*6 + 1)", "(3*M - N) // 4"]),
    n=st.integers(0, 50),
    m=st.integers(-20, 20),
)
def test_simpler_expressions_have_the_same_values(value, n, m):
    expr = parse_expr(value)
    known = Ranges().bind("N", 0, None, 8).bind("M", None, None, 2)
    values = {"N": 8 * n, "M": 2 * m}
    assert known.simplify(expr).evaluate(values) == expr.evaluate(values)
    assert expr.evaluate(values) % max(known.multiple_of(expr), 1) == 0
    if known.proves_nonneg(expr):
        assert expr.evaluate(values) >= 0


def test_integer_sets_know_multiples():
    """Multiples of 8 and what is one further on never meet."""
    left = Footprint(parse_subset("8*i"), (("i", parse_subset("0:M").dims[0]),))
    right = Footprint(parse_subset("N + 1"))
    plain = Ranges().bind("N", 0).bind("M", 0)
    assert overlap(left, right, plain).is_yes
    assert overlap(left, right, plain.bind("N", 0, None, 8)).is_no


def test_samples_are_values_that_are_allowed():
    known = Ranges().bind("N", 1, 15, 8)  # 8, and nothing else
    assert overlap(Footprint(parse_subset("N")), Footprint(parse_subset("8")), known).is_yes
    assert not overlap(Footprint(parse_subset("N")), Footprint(parse_subset("7")), known).is_yes


def test_a_write_of_whole_groups_covers_an_array_of_whole_groups():
    groups = Footprint(parse_subset("8*g:8*g + 8"), (("g", parse_subset("0:N // 8").dims[0]),))
    whole = Footprint(parse_subset("0:N"))
    assert not covers([groups], whole, Ranges().bind("N", 0)).is_yes
    assert covers([groups], whole, Ranges().bind("N", 0, None, 8)).is_yes


def test_branches_and_steps_tell_multiples():
    sdfg = parse_sdfg("""
        sdfg @f(A: f64[N]) symbols(N: size) {
          if N % 8 == 0 and N > 0 {
            loop t = 0:N:8 { state { tasklet () -> (o -> A[t]) { o = 1.0 } } }
          } else { state { tasklet () -> (o -> A[0]) { o = 2.0 } } }
        }""")
    (branch,) = sdfg.body.blocks
    inside = ranges_at(next(node for node in branch.cases[0][1].walk_nodes()))
    assert inside.proves_nonneg(N - 8)
    assert inside.proves_le(sym("t") + 8, N)
    assert not ranges_at(branch.otherwise.blocks[0]).proves_nonneg(N - 8)


def test_a_symbol_that_changes_keeps_nothing():
    sdfg = parse_sdfg("""
        sdfg @f(A: f64[N], k) symbols(N: size, k) {
          let n = k
          if n % 8 == 0 {
            let n = n + 1
            state { tasklet () -> (o -> A[n]) { o = 1.0 } }
          }
        }""")
    node = next(node for node in sdfg.body.walk_nodes())
    assert str(ranges_at(node).simplify(sym("n") % 8)) == "n % 8"


def test_free_symbols_are_what_is_assumed_of_them():
    ranges = free_ranges(parse_sdfg(TEXT))
    assert ranges.proves_le(N, 4096)
    assert ranges.proves_nonneg(sym("k") + 3)
    assert not ranges.proves_nonneg(sym("k"))


# -- callers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "k", "message"),
    [
        (15, 0, "argument 'A' has the size 15 along axis 0, but N is assumed to be .*: 15 is not a multiple of 8"),
        (0, 0, "0 is less than 1"),
        (8000, 0, "8000 is more than 4096"),
        (8, -4, "k is -4, but k is assumed to be at least -3: -4 is less than -3"),
    ],
)
def test_the_interpreter_refuses_what_breaks_it(size, k, message):
    with pytest.raises(ArgumentShapeError, match=message):
        run(parse_sdfg(TEXT), {"A": np.zeros(size), "k": k})


def test_the_interpreter_runs_what_keeps_it():
    A = np.zeros(16)
    run(parse_sdfg(TEXT), {"A": A, "k": -3})
    assert A[0] == 1


def test_the_interpreter_refuses_what_fails_a_guard():
    sdfg = parse_sdfg(TEXT.replace(f"symbols({ALL})", "symbols(N: size, k) assumes(N >= k + 4)"))
    run(sdfg, {"A": np.zeros(4), "k": 0})
    with pytest.raises(ArgumentShapeError, match="assumes that N - k - 4 is not negative, but N is 4, k is 1"):
        run(sdfg, {"A": np.zeros(4), "k": 1})


def called(least: int, multiple: int) -> list[str]:
    """What is wrong with a call that passes on a symbol of which so much is assumed."""
    sdfg = parse_sdfg(f"""
        sdfg @f(A: f64[M]) symbols(M: size{{least = {least}, multiple_of = {multiple}}}) {{
          call @g (A = A[0:M]) with (N = M) }}
        sdfg @g(A: f64[N]) symbols(N: size{{least = 1, most = 4096, multiple_of = 8}}) assumes(N >= 4) {{
          tasklet () -> (o -> A[0]) {{ o = 1.0 }} }}""")
    sdfg.assumed["M"] = sdfg.assumed["M"].and_also(Assumption(most=100))
    return [problem.message for problem in problems(sdfg) if problem.rule == "call.assumptions"]


def test_who_calls_keeps_what_is_assumed():
    assert called(1, 16) == []
    assert called(5, 1) == ["@g assumes that 'N' is from 1 to 4096 and a multiple of 8, but it gets M, of which that is"
                            " not known"]  # fmt: skip
    assert called(0, 2) == [*called(5, 1), "@g assumes that N - 4 is not negative, which is not known of what it gets"]
