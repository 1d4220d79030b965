"""AugmentedAssignmentToWCR and its inverse: shape, value, refusal."""

from __future__ import annotations

import pytest

from dcpy.transforms.simplify.dataflow.augmented_assignment_to_wcr import AugmentedAssignmentToWCR
from dcpy.transforms.simplify.dataflow.wcr_to_augmented_assignment import WcrToAugmentedAssignment
from tests.support.expect import expect, parse

HEAD = "sdfg @f(A: f64[N], C: f64[N, N], s: f64[], p: bool[], b: bool[N], k: i64[N]) symbols(N: size)"


def program(blocks):
    return parse(f"{HEAD} {{ {blocks} }}")


def in_map(tasklet):
    return f"state {{ map i = 0:N {{ {tasklet} }} }}"


@pytest.mark.parametrize(
    ("plain", "combining"),
    [
        ("(x <- s, y <- A[i]) -> (o -> s) { o = x + y }", "(y <- A[i]) -> (o -> s (add)) { o = y }"),
        ("(x <- s, y <- A[i]) -> (o -> s) { o = y * y * x }", "(y <- A[i]) -> (o -> s (mul)) { o = y * y }"),
        ("(x <- s, y <- A[i]) -> (o -> s) { o = max(x, y) }", "(y <- A[i]) -> (o -> s (max)) { o = y }"),
        ("(x <- p, y <- b[i]) -> (o -> p) { o = x or y }", "(y <- b[i]) -> (o -> p (or)) { o = y }"),
        ("(x <- s, y <- A[i]) -> (o -> s) { o = x - y * y }", "(y <- A[i]) -> (o -> s (add)) { o = -(y * y) }"),
        ("(x <- s, y <- A[i]) -> (o -> s) { o = x + y - 2.0 }", "(y <- A[i]) -> (o -> s (add)) { o = y - 2.0 }"),
        ("(x <- s, y <- A[i]) -> (o -> s) { o = x - y + 1.0 }", "(y <- A[i]) -> (o -> s (add)) { o = -y + 1.0 }"),
        (
            "(x <- s, y <- A[i]) -> (o -> s) { z = y + 1.0  o = x + z }",
            "(y <- A[i]) -> (o -> s (add)) { z = y + 1.0  o = z }",
        ),
    ],
)
def test_combines_where_iterations_of_a_map_collide(plain, combining):
    sdfg = program(in_map("tasklet " + plain))
    expect(AugmentedAssignmentToWCR(), on=sdfg).becomes(f"{HEAD} {{ {in_map('tasklet ' + combining)} }}")


def test_combines_over_a_loop_if_asked_to():
    before = """loop i = 0:N { loop j = 0:N {
                  state { tasklet (x <- A[i], y <- C[i, j]) -> (o -> A[i]) { o = x + y * y } } } }"""
    expect(AugmentedAssignmentToWCR(), on=program(before)).is_refused("no two iterations of a map around it")
    expect(AugmentedAssignmentToWCR(loops=True), on=program(before)).becomes(f"""{HEAD} {{
        loop i = 0:N {{ loop j = 0:N {{
          state {{ tasklet (y <- C[i, j]) -> (o -> A[i] (add)) {{ o = y * y }} }} }} }} }}""").same_values(N=[0, 3])


REFUSALS = {
    "no two iterations of a map around it update the same element": in_map(
        "tasklet (x <- A[i], y <- s) -> (o -> A[i]) { o = x + y }"
    ),
    "the tasklet does not read the element s that it writes": in_map(
        "tasklet (x <- A[0], y <- A[i]) -> (o -> s) { o = x + y }"
    ),
    "the new value is not an operation on s and something else": in_map(
        "tasklet (x <- s, y <- A[i]) -> (o -> s) { o = y - x }"
    ),
    "the tasklet does not end in a plain write": in_map("tasklet (x <- s) -> (o -> s (add)) { o = x }"),
}


@pytest.mark.parametrize("reason", REFUSALS)
def test_refuses(reason):
    expect(AugmentedAssignmentToWCR(), on=program(REFUSALS[reason])).is_refused(reason)


@pytest.mark.parametrize("code", ["o = x + x", "o = min(y, x)", "z = x  o = x + z", "o = x + y * x"])
def test_refuses_what_is_not_one_exact_operation(code):
    sdfg = program(in_map(f"tasklet (x <- s, y <- A[i]) -> (o -> s) {{ {code} }}"))
    expect(AugmentedAssignmentToWCR(), on=sdfg).is_refused("the new value is not an operation on s")


def test_refuses_a_loop_in_which_something_else_touches_the_element():
    sdfg = program(
        """loop i = 0:N { state { tasklet (x <- s, y <- A[i]) -> (o -> s) { o = x + y }
                                  tasklet (x <- s) -> (o -> A[i]) { o = x } } }"""
    )
    expect(AugmentedAssignmentToWCR(loops=True), on=sdfg).is_refused("'s' is also touched by tasklet in the loop")


def row(summand):
    """A loop that adds to an element of a matrix what is computed from other elements."""
    return f"""loop i = 1:N {{ loop j = 0:i {{
        state {{ tasklet (x <- C[i, 0], y <- {summand}) -> (o -> C[i, 0]) {{ o = x + y }} }} }} }}"""


@pytest.mark.parametrize("summand", ["C[j, 0]", "C[i, j + 1]", "C[0, 0]", "C[i - 1, j]"])
def test_other_elements_of_the_array_may_be_touched(summand):
    """If there is a proof that they are others in all iterations."""
    expect(AugmentedAssignmentToWCR(loops=True), on=program(row(summand))).becomes(f"""{HEAD} {{
        loop i = 1:N {{ loop j = 0:i {{
          state {{ tasklet (y <- {summand}) -> (o -> C[i, 0] (add)) {{ o = y }} }} }} }} }}""").same_values(N=[1, 4])


@pytest.mark.parametrize("summand", ["C[i, j]", "C[j + 1, 0]", "C[2, 0]"])
def test_refuses_where_another_iteration_may_read_the_sum(summand):
    sdfg = program(row(summand))
    expect(AugmentedAssignmentToWCR(loops=True), on=sdfg).is_refused("'C' is also touched by tasklet in the loop")


def test_refuses_where_data_choose_what_is_read():
    sdfg = program(row("C[p0, 0]").replace("state {", "let p0 = k[j] state {"))
    expect(AugmentedAssignmentToWCR(loops=True), on=sdfg).is_refused("'C' is also touched by tasklet in the loop")


# -- the inverse -------------------------------------------------------------------------------------------------------


def test_reads_and_writes_where_nothing_collides():
    expect(
        WcrToAugmentedAssignment(), on=program(in_map("tasklet (y <- C[i, i]) -> (o -> A[i] (add)) { o = y * y }"))
    ).becomes(
        f"{HEAD} {{ {in_map('tasklet (old <- A[i], y <- C[i, i]) -> (o -> A[i]) { o = old + y * y }')} }}"
    ).same_values(N=[0, 4])


@pytest.mark.parametrize(
    "nodes",
    [
        "tasklet (y <- A[i]) -> (o -> s (add)) { o = y }",
        "tasklet (y <- A[i]) -> (o -> C[i // 2, 0] (add)) { o = y }",
        "tasklet (y <- s) -> (o -> A[i] (add)) { o = y } tasklet (y <- s) -> (o -> A[N - 1 - i] (add)) { o = y }",
        "let j = k[i] state { tasklet (y <- s) -> (o -> A[j] (add)) { o = y } }",
    ],
)
def test_keeps_combining_where_iterations_may_collide(nodes):
    sdfg = program(in_map(nodes))
    expect(WcrToAugmentedAssignment(), on=sdfg).is_refused("iterations of a map around it may write the same element")


def test_a_container_of_one_iteration_has_no_collisions():
    start = "data t: f64 transient tasklet () -> (o -> t) { o = 0.0 }"
    before = in_map(f"{start} tasklet (y <- A[i]) -> (o -> t (add)) {{ o = y }}")
    after = in_map(f"{start} tasklet (old <- t, y <- A[i]) -> (o -> t) {{ o = old + y }}")
    expect(WcrToAugmentedAssignment(), on=program(before)).becomes(f"{HEAD} {{ {after} }}")
