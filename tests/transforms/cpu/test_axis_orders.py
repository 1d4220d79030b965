"""Maps whose accesses lie in the order of their parameters keep it, and no other order is priced."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy import driver
from dcpy.base.options import resolve_options
from dcpy.codegen.signature import default_signature
from dcpy.transforms.cpu import axis_orders


def priced(function, *arguments, monkeypatch):
    """Count the orders that the model of time looks at while a program is lowered."""
    asked, seconds = [], axis_orders.seconds_in_order
    monkeypatch.setattr(axis_orders, "seconds_in_order", lambda *given: asked.append(1) or seconds(*given))
    sdfg = dcpy.program(function).to_sdfg(*arguments)
    driver.artifact_of(sdfg, default_signature(sdfg), resolve_options())
    return len(asked)


@pytest.mark.parametrize("shape", [(5, 6), (4, 5, 6), (3, 4, 5, 6)])
def test_packed_arrays_are_not_priced(shape, monkeypatch):
    def f(a, b):
        return np.sqrt(a) * b + 1.0

    assert priced(f, np.ones(shape), np.ones(shape[-1]), monkeypatch=monkeypatch) == 0


def test_transposed_arrays_are(monkeypatch):
    def f(a, b):
        a[:] = b.T * 2.0

    assert priced(f, np.ones((5, 6)), np.ones((6, 5)), monkeypatch=monkeypatch) > 0
