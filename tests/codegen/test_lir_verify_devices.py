"""The verifier's rules on devices: each with LIR that breaks it."""

from __future__ import annotations

import pytest

from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Infix, Intrinsic, Item, Literal, Name, Prefix, SizeOf, integer
from dcpy.codegen.lir.types import INDEX, STATUS, TRUTH, Basic, Pointer
from dcpy.codegen.lir.verify import problems
from dcpy.ir.data import Space
from dcpy.ir.types import float64

HERE, THERE = Name("here", Pointer(float64)), Name("there", Pointer(float64, space=Space.GLOBAL))
TILE = Name("tile", Pointer(float64, space=Space.SHARED))
N, THREAD, BLOCK = Name("n", INDEX), Intrinsic("thread_x", (), INDEX), Intrinsic("block_x", (), INDEX)
ERRORS = tree.Parameter("errors", Pointer(INDEX, space=Space.GLOBAL))
PARAMS = tuple(tree.Parameter(one.name, one.type) for one in (THERE, N))
SIZE = Infix("*", N, SizeOf(float64, Basic.SIZE), Basic.SIZE)
ONE = Literal(1.0, float64)
SET = tree.Assign(Item(THERE, THREAD, float64), ONE)
BARRIER = tree.BlockBarrier()
DIVERGENT = "a barrier that some threads of the block may not reach"
BLOCKS = (integer(1), integer(1), N)
KERNEL = tree.Kernel("k", PARAMS, (SET,), (1, 1, 8))


def below(left, right=N):
    return Infix("<", left, right, TRUTH)


def of_host(*body):
    params = (*PARAMS, tree.Parameter("here", HERE.type))
    function = tree.Function("f", Basic.VOID, params, body)
    return [problem.message for problem in problems(tree.Module("m", (function,), kernels=(KERNEL,)), {})]


def of_kernel(*body, params=PARAMS, threads=(1, 1, 8)):
    kernel = tree.Kernel("k", params, body, threads)
    return [problem.message for problem in problems(tree.Module("m", (), kernels=(kernel,)), {})]


def test_what_is_right():
    assert of_host(
        tree.DeviceBuffer("own", float64, N),
        tree.Transfer(THERE, HERE, SIZE),
        tree.TransferBox(Prefix("&", Item(THERE, N, float64), THERE.type), HERE, float64, (N,), (integer(2),), (N,)),
        tree.Launch("k", BLOCKS, (1, 1, 8), (THERE, N)),
    ) == []
    assert of_kernel(
        tree.SharedBuffer("tile", float64, 8),
        tree.If(((below(THREAD), (tree.Assign(Item(TILE, THREAD, float64), ONE),)),)),
        BARRIER,
        tree.If(((below(BLOCK), (BARRIER, SET)),)),
        tree.Loop("i", BLOCK, N, integer(1), (BARRIER, SET, BARRIER)),
    ) == []


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (tree.Assign(Item(THERE, N, float64), ONE), r"the host touches there[n], in the global memory"),
        (tree.Declare("x", float64, Item(THERE, N, float64)), "the host touches there[n], in the global memory"),
        (tree.SharedBuffer("s", float64, 1), "a SharedBuffer outside of kernels"),
        (BARRIER, "a BlockBarrier outside of kernels"),
        (tree.Transfer(THERE, HERE, N), "the size of a transfer is i64, not size"),
        (tree.Transfer(N, HERE, SIZE), "a transfer from *f64 to i64"),
        (tree.Launch("k", BLOCKS, (1, 1, 8), (HERE, N)), "argument 0 is *f64, not *global f64, in k(here, n)"),
        (tree.Launch("k", BLOCKS, (1, 1, 8), (THERE,)), "1 arguments for 2 parameters, in k(there)"),
        (tree.Launch("q", BLOCKS, (1, 1, 8), ()), "the function 'q' is not declared, in q()"),
        (tree.TransferBox(THERE, HERE, float64, (N,), (), (N,)),
         "a transfer has so many sizes, and other numbers of strides"),
    ],
)  # fmt: skip
def test_what_a_host_may_not_do(statement, message):
    assert message in of_host(statement)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ((tree.HeapBuffer("b", float64, N),), "a HeapBuffer in a kernel"),
        ((tree.Return(),), "a Return in a kernel"),
        ((tree.Launch("k", BLOCKS, (1, 1, 8), (THERE, N)),), "a Launch in a kernel"),
        ((tree.Loop("i", integer(0), N, integer(1), (SET,), marks=(tree.Simd(),)),),
         "a loop in a kernel is marked as Simd"),
        ((tree.If(((below(THREAD), (BARRIER,)),)),), DIVERGENT),
        ((tree.Declare("i", INDEX, THREAD), tree.If(((below(Name("i", INDEX)), (BARRIER,)),))),
         DIVERGENT),
        ((tree.Loop("i", THREAD, N, integer(1), (BARRIER,)),), DIVERGENT),
        ((tree.CheckFail(below(N, N), Literal(1, STATUS)),),
         "a check in a kernel tells the device, and leaves an attempt"),
    ],
)  # fmt: skip
def test_what_a_kernel_may_not_do(body, message):
    assert message in of_kernel(*body)


def test_what_an_iteration_makes_the_next_one_sees():
    go = Name("go", INDEX)
    body = (
        tree.Declare("go", INDEX, integer(0)),
        tree.Loop("i", integer(0), N, integer(1), (
            tree.If(((below(go), (BARRIER,)),)),
            tree.Assign(go, THREAD),
        )),
    )  # fmt: skip
    assert of_kernel(*body) == [DIVERGENT]


def test_a_failed_check_that_leaves_past_a_barrier():
    fail = tree.CheckFail(below(THREAD), Literal(1, STATUS), leaves="end", order=(integer(1), integer(0)))
    assert of_kernel(tree.Attempt("end", (fail, BARRIER)), params=(*PARAMS, ERRORS)) == [
        DIVERGENT
    ]
    assert of_kernel(tree.Attempt("end", (fail,)), BARRIER, params=(*PARAMS, ERRORS)) == []


def test_a_failed_check_without_its_place_in_the_program():
    fail = tree.CheckFail(below(THREAD), Literal(1, STATUS), leaves="end")
    assert any("has an order" in said for said in of_kernel(tree.Attempt("end", (fail,)), params=(*PARAMS, ERRORS)))


def test_parameters_and_threads():
    assert "the parameter 'here' points into the host memory" in of_kernel(
        params=(tree.Parameter("here", HERE.type),)
    )
    assert "2048 threads in a block" in of_kernel(SET, threads=(2, 32, 32))
