"""Random numbers by the C functions that NumPy's ``Generator`` calls, in the order in which it calls them.

All loops are sequential: each call changes the state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, Index, Load, Ref, ScalarExpr, cast, op
from dcpy.ir.library.expansions import Expansion
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, ForeignCall
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, ZERO, Expr, product_of
from dcpy.libraries.api import Fragment, Operand, expands
from dcpy.libraries.random.environments import NAME
from dcpy.libraries.random.nodes import Draw, Permutation, RandomNode, Sample, Seed, Vectors

#: methods whose C function has another name than ``random_method``
FUNCTIONS = {"random": "random_standard_uniform", "binomial": "dcpy_binomial"}
FILLED = ("random", "standard_normal", "standard_exponential")  # there is a function that fills an array
BOUNDED = {1: "uint8", 2: "uint16", 4: "uint32", 8: "uint64"}  # itemsize -> the word in the names of functions

Argument = str | ScalarExpr
Memlets = dict[str, Memlet]


def _by_numpy(node: type[RandomNode] | type[Seed]) -> Callable[[Callable[..., None]], Expansion]:
    return expands(node, "numpy", environment=NAME)


def call(
    f: Fragment, function: str, arguments: Sequence[Argument], read: Memlets, out: Memlet, *, result: str = "",
    buffer: Memlets | None = None, allocates: bool = False,
) -> None:  # fmt: skip
    """``function(state, *arguments)``, which fills `out`, or with `result` gives the value of one element.

    Memlets by connector: `buffer` is read and written. One that `allocates` memory gives whether there was none.
    """
    node = f.node
    kept = {"state": node.inputs["state"], **(buffer or {})}
    own = isinstance(node, RandomNode) and node.own
    name = f"dcpy_pcg64<{function}>" if own else function
    outputs = kept | {"out": out}
    if allocates:
        failed, result = f.scalar("failed", types.bool_).memlet, "failed"
        outputs[result] = failed
    f.add(ForeignCall(name, ("state", *arguments), kept | read, outputs, NAME, result))
    if allocates:
        f.check(op("not", Load(failed.container, (), types.bool_)), "MemoryError", "no memory is left to draw")


@contextmanager
def each(f: Fragment, shape: Sequence[Expr]) -> Iterator[tuple[Expr, ...]]:
    """One point of the shape after the other, in C order."""
    with ExitStack() as stack:
        yield tuple(stack.enter_context(f.loop(Range(ZERO, extent), "i")) for extent in shape)


@_by_numpy(Draw)
def draw(node: Draw, f: Fragment) -> None:
    """One call that fills the array where there is such a function, else one call per element."""
    out = f.output("out")
    parameters = {name: f.input(name) for name in node.inputs if name != "state"}
    if not any(operand.shape for operand in parameters.values()):
        out = f.flat(out) or out
    if node.method == "integers":
        _integers(node, f, out, parameters["low"], parameters["last"])
        return
    precision = "_f" if out.dtype == types.float32 else ""
    function = FUNCTIONS.get(node.method, f"random_{node.method}")
    how = "" if node.how == "old" else node.how
    fill = f"{function}_{how}_fill{precision}" if how else f"{function}_fill{precision}"
    if node.method in FILLED and _is_packed(out):
        call(f, fill, (Index(out.shape[0]), "out"), {}, out.memlet)
        return
    arguments: list[ScalarExpr] = [Ref(name, operand.dtype) for name, operand in parameters.items()]
    if node.method == "uniform":  # the C function takes where it begins, and how far it reaches
        arguments[1] = op("sub", arguments[1], arguments[0])
    with each(f, out.shape) as point:
        element = out.at(*point).memlet
        if how:
            call(f, fill, (Index(ONE), "out"), {}, element)
        else:
            read = {name: at(operand, point) for name, operand in parameters.items()}
            call(f, function + precision, arguments, read, element, result="out")


def _is_packed(out: Operand) -> bool:
    """Return whether it is one dimension without gaps, as `Fragment.flat` gives it."""
    return len(out.shape) == 1 and out.strides[0] is ONE


def at(operand: Operand, point: tuple[Expr, ...]) -> Memlet:
    """The element at a point; the same one everywhere of a scalar."""
    return operand.at(*(point if operand.shape else ())).memlet


def _integers(node: Draw, f: Fragment, out: Operand, low: Operand, last: Operand) -> None:
    """Numbers of a dtype between two of it. Short ones are cut from 32 bits, of which a buffer keeps the rest."""
    word = "bool" if out.dtype == types.bool_ else BOUNDED[out.dtype.itemsize]
    unsigned = types.uint8 if word == "bool" else types.BY_NAME[f"u{8 * out.dtype.itemsize}"]
    first: ScalarExpr = cast(Ref("low", low.dtype), unsigned)
    reach = op("sub", cast(Ref("last", last.dtype), unsigned), first)
    masked = Const(node.how == "old", types.bool_)  # NumPy's other method, which `RandomState` uses
    if not low.shape and not last.shape and _is_packed(out):
        filled = (first, reach, Index(out.shape[0]), masked, "out")
        call(f, f"random_bounded_{word}_fill", filled, {"low": at(low, ()), "last": at(last, ())}, out.memlet)
        return
    buffer = {} if word == "uint64" else _empty_buffer(f)
    mask = _mask(reach) if node.how else Const(0, unsigned)
    arguments = (first, reach, mask, masked, *buffer)
    function = f"random_{'buffered_' if buffer else ''}bounded_{word}"
    with each(f, out.shape) as point:
        read = {"low": at(low, point), "last": at(last, point)}
        call(f, function, arguments, read, out.at(*point).memlet, result="out", buffer=buffer)


def _mask(reach: ScalarExpr) -> ScalarExpr:
    """The least number of ones only that is not smaller."""
    found, places = reach, 1
    while places < 8 * reach.dtype.itemsize:
        found = op("bitor", found, op("rshift", found, Const(places, reach.dtype)))
        places *= 2
    return found


def _empty_buffer(f: Fragment) -> Memlets:
    """Create the buffer of unused bits: how many numbers are left in them, and the bits."""
    left, bits = f.array("left", types.int32, (1,)), f.array("bits", types.uint32, (1,))
    for part in (left, bits):
        f.put(part.at(0), 0)
    return {"left": left.memlet, "bits": bits.memlet}


# -- seeds and orders ------------------------------------------------------------------------------------------------


@_by_numpy(Seed)
def seed(node: Seed, f: Fragment) -> None:
    """NumPy's ``SeedSequence`` and the start of PCG64, from random.h."""
    entropy, state = packed(f, f.input("entropy")), node.outputs["state"]
    inputs = {"entropy": entropy.memlet}
    arguments = ("entropy", Index(entropy.shape[0]), "state")
    f.add(ForeignCall("dcpy_pcg64_seed", arguments, inputs, {"state": state}, NAME))


@_by_numpy(Permutation)
def permutation(node: Permutation, f: Fragment) -> None:
    """Each row is shuffled."""
    with packed_output(f, "order") as order:
        *rows, count = f.output("order").shape
        call(f, "dcpy_permutations", (Index(product_of(*rows)), Index(count), "out"), {}, order.memlet)


@_by_numpy(Vectors)
def vectors(node: Vectors, f: Fragment) -> None:
    """One call for all rows, of functions in random.h."""
    rows, length = f.output("out").shape
    with packed_output(f, "out") as out:
        first, *rest = [name for name in node.inputs if name != "state"]
        arguments: list[Argument] = [Index(rows), Index(length)]
        read: Memlets = {}
        for name in (first, *rest):
            operand = f.input(name)
            read[name] = packed(f, operand).memlet if operand.shape else at(operand, ())
            arguments.append(name if operand.shape else Ref(name, operand.dtype))
        if node.method == "multinomial":  # how far it is to the next row's probabilities
            arguments.append(Index(length if len(f.input(rest[0]).shape) > 1 else ZERO))
        how = f"_{node.how}" if node.how else ""
        each_row = "s" if node.method == "multinomial" and f.input(first).shape else ""
        call(f, f"dcpy_{node.method}{each_row}{how}", (*arguments, "out"), read, out.memlet,
             allocates=node.method == "dirichlet")  # fmt: skip


@_by_numpy(Sample)
def sample(node: Sample, f: Fragment) -> None:
    """Three algorithms, as in NumPy: with weights, few of many, and many."""
    with packed_output(f, "order") as order:
        population, count = f.input("population"), Index(order.shape[0])
        read = {"population": at(population, ())}
        number, function = Ref("population", population.dtype), "dcpy_sample"
        arguments: tuple[Argument, ...] = (number, count, Const(node.shuffle, types.bool_), "out")
        if "p" in node.inputs:
            read["p"] = packed(f, f.input("p")).memlet
            function, arguments = "dcpy_sample_weighted", (number, "p", count, "out")
        call(f, function, arguments, read, order.memlet, allocates=True)


def packed(f: Fragment, operand: Operand) -> Operand:
    """All elements of an input in one dimension without gaps: a copy where it has some."""
    flat = f.flat(operand)
    if flat is not None or _is_packed(operand):
        return flat or operand
    copy = f.array("packed", operand.dtype, operand.shape)
    f.add(Copy(operand.memlet, copy.memlet))
    return f.flat(copy) or copy


@contextmanager
def packed_output(f: Fragment, connector: str) -> Iterator[Operand]:
    """An output without gaps: an array that is copied there afterwards where it has some."""
    out = f.output(connector)
    flat = f.flat(out)
    if flat is not None or _is_packed(out):
        yield flat or out
        return
    work = f.array("packed", out.dtype, out.shape)
    yield work
    f.add(Copy(work.memlet, out.memlet))
