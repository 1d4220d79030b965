"""TrivialMapElimination: shape, value, refusal."""

from __future__ import annotations

from dcpy.transforms.simplify.control_flow.trivial_map_elimination import TrivialMapElimination
from tests.support.expect import expect, parse

HEAD = "sdfg @f(A: f64[N], B: f64[N]) symbols(N: size)"


def program(nodes):
    return parse(f"{HEAD} {{ {nodes} }}")


def test_replaces_a_map_of_one_point_by_its_body():
    expect(
        TrivialMapElimination(),
        on=program(
            """state { map i = 2:3, j = i:i + 1 { data t: f64 transient
                         tasklet (a <- A[i]) -> (o -> t) { o = a }
                         tasklet (a <- t) -> (o -> B[j]) { o = a + f64(i) } } }"""
        ),
    ).becomes(f"""{HEAD} {{ data t: f64 transient
        state {{ tasklet (a <- A[2]) -> (o -> t) {{ o = a }}
                 tasklet (a <- t) -> (o -> B[2]) {{ o = a + f64(index(2)) }} }} }}""").same_values(N=[4])


def test_drops_the_parameters_that_have_one_value():
    expect(
        TrivialMapElimination(),
        on=program("state { map i = 1:2, j = 0:N { tasklet (a <- A[i]) -> (o -> B[j]) { o = a } } }"),
    ).becomes(f"{HEAD} {{ state {{ map j = 0:N {{ tasklet (a <- A[1]) -> (o -> B[j]) {{ o = a }} }} }} }}").same_values(
        N=[2, 5]
    )


def test_splits_the_state_around_a_body_with_control_flow():
    expect(
        TrivialMapElimination(),
        on=program(
            """state { tasklet () -> (o -> A[0]) { o = 1.0 }
                       map i = 0:1 { if A[i] > 0.0 { state { tasklet () -> (o -> B[i]) { o = 2.0 } } } }
                       tasklet () -> (o -> A[1]) { o = 3.0 } }"""
        ),
    ).becomes(f"""{HEAD} {{
        state {{ tasklet () -> (o -> A[0]) {{ o = 1.0 }} }}
        if A[0] > 0.0 {{ state {{ tasklet () -> (o -> B[0]) {{ o = 2.0 }} }} }}
        state {{ }}
        state {{ tasklet () -> (o -> A[1]) {{ o = 3.0 }} }} }}""").same_values(N=[2])


def test_erases_a_map_that_never_runs():
    expect(
        TrivialMapElimination(), on=program("state { map i = 3:0 { tasklet () -> (o -> A[i]) { o = 1.0 } } }")
    ).becomes(f"{HEAD} {{ state {{ }} }}").same_values(N=[3])


def test_refuses_what_may_have_more_points():
    expect(
        TrivialMapElimination(), on=program("state { map i = 0:N { tasklet () -> (o -> A[i]) { o = 1.0 } } }")
    ).is_refused("no parameter is proved to have just one value")
