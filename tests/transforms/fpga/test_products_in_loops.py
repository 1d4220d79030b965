"""Stacks of products go one by one through a systolic array."""

import pytest

from dcpy.transforms.fpga.products_in_loops import ProductsInLoops
from tests.support.passes import Passed

STACK = """sdfg @f(A: f64[3, N, 4], B: f64[3, 4, M], C: f64[3, N, M]) symbols(N: size, M: size) {{
    {head} {{ {body} }} {foot} }}"""
PRODUCT = "blas.matmul (a <- A[l, 0:N, 0:4], b <- B[l, 0:4, 0:M]) -> (c -> C[l, 0:N, 0:M])"


def test_maps_of_products_are_loops():
    Passed(STACK.format(head="state { map l = 0:3", body=PRODUCT, foot="}"), ProductsInLoops()).becomes(
        STACK.format(head="loop l = 0:3", body=f"state {{ {PRODUCT} }}", foot="")
    ).same_values(N=[0, 3], M=[2])


@pytest.mark.parametrize(
    "text",
    [
        STACK.format(head="state { map l = 0:3", body=f"{PRODUCT} copy A[l, 0, 0] -> C[l, 0, 0]", foot="}"),
        STACK.format(head="state { map l = 0:3", body="copy A[l, 0, 0] -> C[l, 0, 0]", foot="}"),
        STACK.format(head="state { map l = 0:3", body=PRODUCT, foot="}").replace(
            "4]", "K]").replace("4,", "K,").replace(":4", ":K").replace("symbols(", "symbols(K: size, "),
        STACK.format(
            head="state { map l = 0:3", foot="}",
            body="blas.matmul (a <- A[l, 0:N, 0:4], b <- B[l, 0:4, 0]) -> (c -> C[l, 0:N, 0])",
        ),
    ],
    ids=["beside others", "no product", "terms of a symbol", "of a vector"],
)  # fmt: skip
def test_other_maps_stay(text):
    Passed(text, ProductsInLoops()).becomes(text)
