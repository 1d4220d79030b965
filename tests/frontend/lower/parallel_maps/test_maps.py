"""Parallel maps: private names, conflict resolution, refusals."""

import numpy as np

import dcpy
from tests.support.lowering import body, refusal, refused_line, same

M = np.arange(12.0).reshape(3, 4)


def test_a_map_over_two_ranges():
    def f(a, b):
        for i, j in dcpy.map[0 : a.shape[0], 0 : a.shape[1]]:
            x = a[i, j] * 2
            if x > 9:
                b[i, j] = x
            else:
                b[i, j] = -x

    same(f, M, np.zeros_like(M))


def test_sums_become_conflict_resolutions():
    def f(c):
        alpha = 0
        for i, j in dcpy.map[0 : c.shape[0], 0 : c.shape[1]]:
            alpha += c[i, j]
        return alpha

    same(f, M)
    same(f, M.astype(np.float32))
    assert body(f, M) == (
        "data alpha: f64 transient\n"
        "data __return: f64[]\n"
        "state {\n"
        "  tasklet () -> (out -> alpha) { out = 0.0 }\n"
        "}\n"
        "state {\n"
        "  map i = 0:N, j = 0:M {\n"
        "    tasklet (c_in <- c[i, j]) -> (out -> alpha (add)) { out = c_in }\n"
        "  }\n"
        "}\n"
        "state {\n"
        "  tasklet (alpha_in <- alpha) -> (out -> __return) { out = alpha_in }\n"
        "}"
    )


def test_elements_that_iterations_share():
    def f(a, h):
        for i, j in dcpy.map[0 : a.shape[0], 0 : a.shape[1]]:
            h[j] += a[i, j]
        for i, j in dcpy.map[0 : a.shape[0], 0 : a.shape[1]]:
            a[i, j] += 1
        for k in dcpy.map[0 : a.shape[0]]:
            h -= a[k]

    same(f, M, np.zeros(4))
    text = body(f, M, np.zeros(4))
    assert text.count("(add)") == 2


def test_names_of_the_body_are_private():
    def f(a, b):
        for i in dcpy.map[0 : a.shape[0]]:
            t = 0.0
            for j in range(a.shape[1]):
                t += a[i, j]
            b[i] = t

    same(f, M, np.zeros(3))
    assert "data t: f64 transient" in body(f, M, np.zeros(3)).split("map")[1]


def test_assignments_to_shared_names_are_refused():
    def f(a):
        s = 0.0
        for i in dcpy.map[0:3]:
            s = s + a[i, 0]
        return s

    def g(a):
        s = 0.0
        for i in dcpy.map[0:3]:
            s = a[i, 0]
        return s

    assert refusal(f, M) == (
        "error[frontend.unsupported]: iterations of a parallel map cannot read 's', which they assign and share\n"
        "  = help: accumulate with `s += ...`, read it after the map, or use a plain for loop"
    )
    assert refused_line(f, M) == "s = s + a[i, 0]"
    assert refusal(g, M) == (
        "error[frontend.unsupported]: iterations of a parallel map cannot assign 's', which they share\n"
        "  = note: iterations may run at the same time, so no value is the last one\n"
        "  = help: use another name inside the map, accumulate with `s += ...`, or use a plain for loop"
    )
    assert refused_line(g, M) == "s = a[i, 0]"


def test_names_of_the_body_have_no_value_afterwards():
    def f(a):
        for i in dcpy.map[0:3]:
            x = a[i, 0]
        return x

    assert "'x' has no value after a parallel map" in refusal(f, M)


def test_leaving_a_map_is_refused():
    def f(a):
        for i in dcpy.map[0:3]:
            if a[i, 0] > 1:
                return 1
        return 0

    assert "return inside a parallel map" in refusal(f, M)


def test_calls_inside_a_map_are_evaluated_in_place():
    def add(h, x):
        h[0] += x

    def f(a, h):
        for i in dcpy.map[0:3]:
            add(h, a[i, 1])

    same(f, M, np.zeros(1))
    assert "(add)" in body(f, M, np.zeros(1))
