"""The work of finding dependence chains grows as a body does; chains themselves: `test_nest_time`."""

from __future__ import annotations

import pytest

from dcpy.ir.analysis.costs import dependence_chains
from tests.ir.analysis.costs.test_nest_time import the_time


def body_of(count):
    data = " ".join(f"data t{k}: f64 transient" for k in range(count))
    terms = (f"tasklet (a <- x[i]) -> (o -> t{k}) {{ o = a * {k}.5 }}" for k in range(count))
    sums = (f"tasklet (a <- t{k}, b <- y[i]) -> (o -> y[i]) {{ o = a + b }}" for k in range(count))
    return f"loop i = 0:N {{ {data} state {{ {' '.join(terms)} {' '.join(sums)} }} }}"


def test_each_tasklet_is_asked_as_often_in_a_long_body(monkeypatch):
    asked = []
    connected = dependence_chains._connected
    monkeypatch.setattr(dependence_chains, "_connected", lambda *given: asked.append(1) or connected(*given))
    found = []
    for count in (20, 40):
        asked.clear()
        the_time(body_of(count))
        found.append(len(asked))
    assert 0 < found[1] < 2.2 * found[0]


@pytest.mark.parametrize(("before", "waits"), [("", True), ("tasklet () -> (o -> y[i + 1]) { o = 2.0 }", False)])
def test_what_the_same_iteration_has_written_is_no_chain(before, waits):
    product = "tasklet (a <- y[i + 1], b <- x[i]) -> (o -> y[i + 2]) { o = a * b }"
    assert (the_time(f"loop i = 0:N {{ state {{ {before} {product} }} }}", n=1000).bound == "chain") == waits
