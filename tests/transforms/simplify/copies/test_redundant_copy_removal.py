"""RedundantCopyRemoval: both sides, their shapes, values and refusals."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dcpy.ir.nodes import LibraryNode
from dcpy.transforms.api import explain
from dcpy.transforms.simplify.copies.redundant_copy_removal import RedundantCopyRemoval
from tests.support.expect import expect, parse

HEAD = "sdfg @f(A: f64[N], B: f64[N], C: f64[N, N]) symbols(N: size)"


def program(blocks, data="data t: f64[N] transient", head=HEAD):
    return parse(f"{head} {{ {data} {blocks} }}")


def removed(nodes, after, data="data t: f64[N] transient"):
    return expect(RedundantCopyRemoval(), on=program(f"state {{ {nodes} }}", data)).becomes(
        f"{HEAD} {{ state {{ {after} }} }}"
    )


def test_computes_in_place():
    removed(
        "map i = 0:N { tasklet (x <- A[i]) -> (o -> t[i]) { o = x + 1 } } copy t[0:N] -> C[2, 0:N]",
        "map i = 0:N { tasklet (x <- A[i]) -> (o -> C[2, i]) { o = x + 1 } }",
    ).same_values(N=[3, 4])


def test_an_element_may_depend_on_its_old_value():
    removed(
        "map i = 0:N { tasklet (x <- A[i]) -> (o -> t[i]) { o = x + 1 } } copy t[0:N] -> A[0:N]",
        "map i = 0:N { tasklet (x <- A[i]) -> (o -> A[i]) { o = x + 1 } }",
    ).same_values(N=[0, 5])


def test_what_fills_the_temporary_in_steps_is_redirected():
    removed(
        """map i = 0:N { tasklet () -> (o -> t[i]) { o = 0.0 } }
           map j = 0:N, k = 0:N { tasklet (x <- C[j, k]) -> (o -> t[j] (add)) { o = x } }
           copy t[0:N] -> A[0:N]""",
        """map i = 0:N { tasklet () -> (o -> A[i]) { o = 0.0 } }
           map j = 0:N, k = 0:N { tasklet (x <- C[j, k]) -> (o -> A[j] (add)) { o = x } }""",
    ).same_values(N=[0, 3])


def test_reads_in_place():
    removed(
        """copy A[0:N] -> t[0:N]
           map i = 0:N { if t[i] > 0.0 { state { tasklet (x <- t[N - 1 - i]) -> (o -> B[i]) { o = x } } } }""",
        "map i = 0:N { if A[i] > 0.0 { state { tasklet (x <- A[N - 1 - i]) -> (o -> B[i]) { o = x } } } }",
    ).same_values(N=[0, 5])


def test_copies_of_copies_collapse():
    removed(
        "copy A[0:N] -> t[0:N] copy t[0:N] -> u[0:N] copy u[0:N] -> B[0:N]",
        "copy A[0:N] -> B[0:N]",
        "data t: f64[N] transient data u: f64[N] transient",
    ).same_values(N=[0, 3])


def test_a_copy_onto_itself_goes():
    removed("copy A[0:N] -> A[0:N]", "", "").same_values(N=[3])


def test_row_31_an_overlapping_assignment_keeps_its_temporary():
    """Assignments that overlap: ``a[1:] = a[:-1]`` and ``a[1:] += a[:-1]``."""
    short = "data t: f64[N - 1] transient"
    move = program("state { copy A[0:N - 1] -> t[0:N - 1] copy t[0:N - 1] -> A[1:N] }", short)
    expect(RedundantCopyRemoval(), on=move).is_refused("reads A[0:N - 1] and writes A[1:N] may be the same element")
    add = program(
        """state { map i = 0:N - 1 { tasklet (x <- A[i + 1], y <- A[i]) -> (o -> t[i]) { o = x + y } }
                   copy t[0:N - 1] -> A[1:N] }""",
        short,
    )
    expect(RedundantCopyRemoval(), on=add).is_refused("iteration i reads A[i], iteration i - 1 writes A[i + 1]")


FILL = "map i = 0:N { tasklet (x <- B[i]) -> (o -> t[i]) { o = x } }"
WRITE_SIDE = {
    "'t' may not be filled before it is read or copied": (
        "map i = 1:N { tasklet (x <- B[i]) -> (o -> t[i]) { o = x } } copy t[0:N] -> A[0:N]"
    ),
    "reads A[0] happens between": FILL + "tasklet (x <- A[0]) -> (o -> B[0]) { o = x } copy t[0:N] -> A[0:N]",
    "'t' is used after the copy": FILL + "copy t[0:N] -> A[0:N] tasklet (x <- t[0]) -> (o -> B[0]) { o = x }",
    "t[0:N - 1] is not all of 't'": FILL + "copy t[0:N - 1] -> A[0:N - 1]",
    "the copy combines values, or may not happen": FILL + "copy t[0:N] -> A[0:N] (add)",
    "an exception on the way would leave 'A' half written": (
        'map i = 0:N { check B[i] > 0.0 else ValueError "no" state { tasklet (x <- B[i]) -> (o -> t[i]) { o = x } } }'
        "copy t[0:N] -> A[0:N]"
    ),
}


@pytest.mark.parametrize("reason", WRITE_SIDE)
def test_refuses_to_compute_in_place(reason):
    expect(RedundantCopyRemoval(), on=program(f"state {{ {WRITE_SIDE[reason]} }}")).is_refused(reason)


def test_a_library_call_never_writes_what_it_reads():
    sdfg = program("state { copy t[0:N] -> A[0:N] }")
    state = sdfg.body.blocks[0]
    whole = state.nodes[0].dst
    state.insert(0, LibraryNode({"a": whole}, {"b": replace(whole, container="t")}))
    assert "reads A[0:N] and writes A[0:N] may be the same element" in explain(sdfg, RedundantCopyRemoval())


READ_SIDE = {
    "writes A[0] happens between": (
        "copy A[0:N] -> t[0:N] tasklet () -> (o -> A[0]) { o = 1.0 }"
        "map i = 0:N { tasklet (x <- t[i]) -> (o -> B[i]) { o = x } }"
    ),
    "iteration i reads A[N - i - 1], another one writes A[i]": (
        "copy A[0:N] -> t[0:N] map i = 0:N { tasklet (x <- t[N - 1 - i]) -> (o -> A[i]) { o = x } }"
    ),
    "'t' is written elsewhere too": (
        "copy A[0:N] -> t[0:N] tasklet () -> (o -> t[0]) { o = 1.0 } "
        "map i = 0:N { tasklet (x <- t[i]) -> (o -> B[i]) { o = x } }"
    ),
    "'t' is used in another state": (
        "copy A[0:N] -> t[0:N] } state { map i = 0:N { tasklet (x <- t[i]) -> (o -> B[i]) { o = x } }"
    ),
}


@pytest.mark.parametrize("reason", READ_SIDE)
def test_refuses_to_read_in_place(reason):
    expect(RedundantCopyRemoval(), on=program(f"state {{ {READ_SIDE[reason]} }}")).is_refused(reason)


def test_refuses_where_another_argument_may_overlap():
    head = "sdfg @f(A: f64[N] alias g, B: f64[N] alias g) symbols(N: size)"
    sdfg = program(f"state {{ {FILL} copy t[0:N] -> A[0:N] }}", head=head)
    expect(RedundantCopyRemoval(), on=sdfg).is_refused("iteration i")


def test_what_a_while_loop_reads_again_keeps_its_old_value():
    """The second iteration would read what the first one wrote in place."""
    text = """map i = 0:N {
        data c: f64 transient
        data s: f64 transient
        state { copy A[i] -> s tasklet () -> (o -> c) { o = 0.0 } }
        while c < B[i] {
          tasklet (a <- A[i], b <- s) -> (o -> s) { o = a + b }
          tasklet (a <- s) -> (o -> t[i]) { o = a }
          tasklet (a <- c) -> (o -> c) { o = a + 1.0 }
        }
        state { copy s -> t[i] }
      }
      copy t[0:N] -> A[0:N]"""
    report = explain(program(f"state {{ {text} }}"), RedundantCopyRemoval())
    assert "write side: " in report
    assert "reads A[i] and writes A[i] in another iteration" in report


ACROSS = "data t: f64[N] transient data u: f64[N + k] transient"
FILL_T = "map i = 0:N { tasklet (x <- A[i]) -> (o -> t[i]) { o = 2.0*x } }"
SHOW_U = "map j = 0:N { tasklet (x <- u[j]) -> (o -> B[j]) { o = x } }"
BETWEEN = 'check A[0] < 9.0 else ValueError "large" let m = N'


def across(between, first=FILL_T, last="copy t[0:N] -> u[0:N]", data=ACROSS):
    head = "sdfg @f(A: f64[N], B: f64[N], C: f64[k]) symbols(N: size, k: size)"
    return program(f"state {{ {first} }} {between} state {{ {last} }} state {{ {SHOW_U} }}", data, head)


def test_fills_its_home_before_a_check_and_an_assignment():
    """What a library call or a map makes, is checked, and then copied to where either branch puts its result."""
    found = expect(RedundantCopyRemoval(), on=across(BETWEEN)).becomes(
        "sdfg @f(A: f64[N], B: f64[N], C: f64[k]) symbols(N: size, k: size) {"
        " data u: f64[N + k] transient state { map i = 0:N { tasklet (x <- A[i]) -> (o -> u[i]) { o = 2.0*x } } }"
        f" {BETWEEN} state {{ }} state {{ {SHOW_U} }} }}"
    )
    found.same_values(N=[1, 4], k=[0, 2])


SET_T = "map i = 0:N { tasklet () -> (o -> t[i]) { o = 1.0 } }"
LOOK = 'check u[0] < 9.0 else ValueError "large"'
READ_T = "copy t[0:N] -> u[0:N] tasklet (x <- t[0]) -> (o -> C[0]) { o = x }"
ACROSS_REFUSED = {
    "in another state": across("if k > 2 { state { tasklet () -> (o -> u[0]) { o = 1.0 } } }"),
    "happens between": across(LOOK, f"{SET_T.replace('t[i]', 'u[i]')} {FILL_T}"),
    "symbol 'm' is assigned on the way": across("let m = k", last="copy t[0:N] -> u[m:N + m]"),
    "'t' is used in another state": across(BETWEEN, last=READ_T),
    "half written": across(BETWEEN, last="copy t[0:N] -> B[0:N]"),
}


@pytest.mark.parametrize("later", [SET_T, "tasklet (x <- t[0]) -> (o -> C[0]) { o = x }"])
def test_refuses_where_the_temporary_is_used_later(later):
    """What is written into it there, or read after the copy's target has changed, is not the target's."""
    on = program(
        f"state {{ {FILL_T} }} state {{ copy t[0:N] -> u[0:N] }} {BETWEEN} state {{ {later} }} state {{ {SHOW_U} }}",
        ACROSS,
        "sdfg @f(A: f64[N], B: f64[N], C: f64[k]) symbols(N: size, k: size)",
    )
    expect(RedundantCopyRemoval(), on=on).is_refused("'t' is used in another state")


@pytest.mark.parametrize("reason", ACROSS_REFUSED)
def test_refuses_across_blocks(reason):
    expect(RedundantCopyRemoval(), on=ACROSS_REFUSED[reason]).is_refused(reason)
