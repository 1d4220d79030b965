"""Kernels that start processes are checked: arguments, parameters that nobody takes, queues with one end."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dcpy.base.errors import CodegenError
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Call, Name
from dcpy.codegen.lir.types import INDEX, STATUS, Basic, Fifo, Pointer, Reference
from dcpy.codegen.lir.verify_networks import network_problems, require_networks
from dcpy.codegen.lower.fpga.device_unit import Hardware
from dcpy.ir.types import float32, float64

QUEUE = Fifo(float32, 2)


def process(name, *params):
    return tree.Function(name, Basic.VOID, tuple(tree.Parameter(*param) for param in params), ())


GIVE = process("give", ("n", INDEX), ("s", Reference(QUEUE)), ("x", Pointer(float32)))
TAKE = process("take", ("n", INDEX), ("s", Reference(QUEUE)), ("y", Pointer(float32)))
N, S = Name("N", INDEX), Name("s", QUEUE)
X, Y = Name("x", Pointer(float32)), Name("y", Pointer(float32))


def kernel(given=(N, S, X), taken=(N, S, Y), params=(N, X, Y), second="take"):
    starts = [tree.Spawn("k", Call(name, args, STATUS)) for name, args in (("give", given), (second, taken))]
    body = (tree.ProcessNetwork("k"), tree.Queues("s", float32, N, N), *starts)
    return tree.Function("k", Basic.VOID, tuple(tree.Parameter(one.name, one.type) for one in params), body)


def said(**changes):
    return list(network_problems(kernel(**changes), (GIVE, TAKE)))


def test_what_is_right():
    assert said() == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"params": (N, X)}, "'y' is neither a parameter nor a queue"),
        ({"params": (N, X, Y, Name("M", INDEX))}, "nobody takes the parameter 'M'"),
        ({"given": (N, S)}, "'give' takes 3 arguments, and gets 2"),
        ({"given": (N, S, N)}, "'x' of 'give' is *f32, and gets i64"),
        ({"given": (N, Name("s", Fifo(float64, 2)), X)}, "'s' of 'give' is fifo<f32"),
        ({"taken": (N, Name("t", QUEUE), Y)}, "'t' is neither a parameter nor a queue"),
        ({"second": "rest"}, "the process 'rest' is not there"),
        ({"params": (replace(N, type=Basic.VOID), X, Y)}, "the parameter 'N' is void, and used as i64"),
        ({"taken": (N, Name("t", QUEUE), Y)}, "the queue 's' has 1 ends"),
    ],
)
def test_what_is_wrong(changes, message):
    assert any(message in one for one in said(**changes)), said(**changes)


def test_it_is_an_error_of_the_compiler():
    hardware = Hardware(functions=[GIVE, TAKE], kernels=[kernel(params=(N, X))])
    with pytest.raises(CodegenError, match="k: 'y' is neither a parameter nor a queue"):
        require_networks(hardware.kernels, hardware.functions)
