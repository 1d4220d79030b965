"""Scans for any target: a map over the lines around a loop along each of them."""

from __future__ import annotations

from dcpy.ir.symbolic import Expr
from dcpy.libraries.api import Element, Fragment, Operand, expands
from dcpy.libraries.contraction.contraction import accumulator_dtype
from dcpy.libraries.scan.expand.lines import Lines, Point
from dcpy.libraries.scan.expand.sequential_scans import scan_in_loops
from dcpy.libraries.scan.nodes import Scan


@expands(Scan, "maps", fuses=False)
def scan_maps(node: Scan, f: Fragment) -> None:
    """One loop for each line."""
    scan_in_loops(f, lines_of(node, f, *operands(node, f)))


def operands(node: Scan, f: Fragment) -> tuple[Operand, Operand]:
    """Return the operand, and the array of running values: in place, where both are the same."""
    x = f.input("x")
    return x, x if node.inputs["x"] == node.outputs["out"] else f.output("out")


def lines_of(node: Scan, f: Fragment, x: Operand, out: Operand) -> Lines:
    """The lines along the axis of a node. Sums of short floats are taken in double precision."""

    def at(operand: Operand, point: Point, k: Expr) -> Element:
        return operand.at(*point[: node.axis], k, *point[node.axis :])

    def read(f: Fragment, target: Element, point: Point, k: Expr, wcr: str) -> None:
        f.put(target, at(x, point, k), wcr=wcr)

    def write(f: Fragment, point: Point, k: Expr, value: Element) -> None:
        f.put(at(out, point, k), value)

    def first(f: Fragment, target: Element, point: Point) -> None:
        if "initial" in node.inputs:
            f.put(target, f.input("initial").at(*point))
        else:
            lines.put_neutral(f, target)

    sizes = (*x.shape[: node.axis], *x.shape[node.axis + 1 :])
    dtype = accumulator_dtype(node.op, out.dtype)
    lines = Lines(sizes, x.shape[node.axis], node.op, dtype, read, write, first)
    return lines
