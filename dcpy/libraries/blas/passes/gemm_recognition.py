"""GEMM recognition: loops that sum products element by element become products of a matrix and a vector, which
`dot_ger_recognition` lifts further.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.polyhedral.footprints import aligned_box
from dcpy.ir.expressions.scalar import Const, Op, Ref, ScalarExpr, substitute_refs, walk
from dcpy.ir.field_roles import Axes
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.region import Loop, State
from dcpy.ir.schedules import Undecided
from dcpy.ir.symbolic import ONE
from dcpy.libraries.blas.nodes import Gemv
from dcpy.libraries.blas.passes.elementwise_terms import elementwise_of
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True, slots=True)
class RecognizedUpdate:
    """``target = value`` at each point of a map in a loop; a `Ref` in `value` names one of the `leaves`."""

    target: Memlet
    value: ScalarExpr
    leaves: dict[str, Memlet]
    loop: tuple[str, ...]
    map: tuple[str, ...]


@dataclass(frozen=True)
class GemmRecognition(Transformation["tuple[Gemv, ...]"]):
    """Make a product of a matrix and a vector of a loop that adds its terms to a vector.

    before   loop k = 0:K { map j = 0:M { C[j] = C[j] + s*A[j, k]*X[k] } }
    after    gemv (a <- A[0:M, 0:K], x <- X[0:K], alpha <- s, y <- C[0:M]) -> (y -> C[0:M])

    A sum of several such terms becomes as many products. Applies where the loop does nothing else, where each term has
    one factor that moves with both parameters, one that moves with that of the loop, at most one more scalar, and
    numbers; where all are floats of one dtype; and where the vector overlaps no factor. The order of sums may change.
    """

    name: ClassVar[str] = "gemm-recognition"
    loop = capture(Loop)
    pattern = one(loop)

    def plan(self, m: Match) -> tuple[Gemv, ...] | Refusal:
        """The products."""
        loop, uses = m[self.loop], m.uses
        update = _update_of(loop)
        if isinstance(update, Refusal):
            return update
        node = _map_in(loop)
        assert node is not None
        axes: Axes = (*loop.iteration_space(), *node.iteration_space())
        for name, values in axes:
            if values.step is not ONE or {*update.loop, *update.map} & {*values.symbols}:
                return Refusal(f"the range {values} of {name!r} has a step, or depends on the loop")
        ranges = uses.ranges_at(loop)
        if not all(ranges.proves_nonneg(values.stop - values.start) for _, values in axes):
            return Refusal("a range may be inside out")
        dtypes = {uses.desc(memlet.container).dtype for memlet in (update.target, *update.leaves.values())}
        if len(dtypes) > 1 or not next(iter(dtypes)).is_inexact:
            return Refusal("the operands have several dtypes, or are no floats")
        return _products(update, axes, uses, loop)

    def apply(self, m: Match, plan: tuple[Gemv, ...], rw: Rewriter) -> State:
        """Return the state of the products, which takes the place of the loop."""
        state = State(nodes=list(plan), span=m[self.loop].span)
        rw.replace(m[self.loop], state)
        return state


def _map_in(loop: Loop) -> Map | None:
    """The map that ends the body of a loop, behind tasklets alone."""
    match loop.body.blocks:
        case [State(nodes=[*tasklets, Map() as node])] if all(isinstance(one, Tasklet) for one in tasklets):
            fits = isinstance(node.schedule, Undecided) and len(node.params) == 1
            return node if fits else None
    return None


def _update_of(loop: Loop) -> RecognizedUpdate | Refusal:
    """Return the update at each point of the map in a loop, without values private to an iteration."""
    node = _map_in(loop)
    if node is None or node.state is None:
        return Refusal("the body is not one map over one parameter, behind tasklets")
    found = elementwise_of(node)
    if isinstance(found, Refusal):
        return found
    private: dict[str, ScalarExpr] = {}
    leaves: dict[str, Memlet] = {}
    for tasklet in node.state.nodes[:-1]:
        assert isinstance(tasklet, Tasklet)
        known = _known(tasklet.inputs, _refs(expr for _, expr in tasklet.code), private, leaves)
        for name, expr in tasklet.code:
            known[name] = substitute_refs(expr, known)
        for connector, memlet in tasklet.outputs.items():
            if memlet.container not in loop.body.containers or memlet.subset.dims or memlet.wcr:
                return Refusal(f"the loop writes {memlet}, too")
            private[memlet.container] = known[connector]
    value = substitute_refs(found.value, _known(found.leaves, _refs([found.value]), private, leaves))
    return RecognizedUpdate(found.target, value, leaves, (loop.param,), node.params)


def _known(
    memlets: Mapping[str, Memlet], refs: dict[str, Ref], private: dict[str, ScalarExpr], leaves: dict[str, Memlet]
) -> dict[str, ScalarExpr]:
    """Return the values of connectors: computed before, or a leaf."""
    known: dict[str, ScalarExpr] = {}
    for name, memlet in memlets.items():
        if memlet.container in private:
            known[name] = private[memlet.container]
        elif name in refs:
            leaves[str(memlet)] = memlet
            known[name] = Ref(str(memlet), refs[name].dtype)
    return known


def _refs(values: Iterable[ScalarExpr]) -> dict[str, Ref]:
    return {part.name: part for value in values for part in walk(value) if isinstance(part, Ref)}


Term = tuple[complex, tuple[str, ...]]  # a number, and the leaves that it is multiplied with


def _products(update: RecognizedUpdate, axes: Axes, uses: Uses, loop: Loop) -> tuple[Gemv, ...] | Refusal:
    terms = list(_terms(update.value, 1))
    itself = (1, (str(update.target),))
    if any(term is None for term in terms) or terms.count(itself) != 1:
        return Refusal(f"it does not add products to {update.target}")
    near = uses.overlapping(update.target.container)
    place = aligned_box(update.target.subset, axes[1:])
    if place is None or {*update.loop} & {*update.target.subset.symbols}:
        return Refusal(f"{update.target} is not one element per point of the map")
    products: list[Gemv] = []
    for term in terms:
        if term == itself or term is None:
            continue
        number, names = term
        memlets = [update.leaves[name] for name in names]
        if any(memlet.container in near for memlet in memlets):
            return Refusal(f"a factor overlaps {update.target.container!r}")
        found = _product(number, memlets, axes, replace(update.target, subset=place.subset))
        if isinstance(found, Refusal):
            return found
        found.span = loop.span
        products.append(found)
    return tuple(products) or Refusal("it adds nothing")


def _product(number: complex, factors: list[Memlet], axes: Axes, target: Memlet) -> Gemv | Refusal:
    """One term, summed up over the loop."""
    (over, values), (along, _) = axes
    fixed = [memlet for memlet in factors if not {over, along} & {*memlet.subset.symbols}]
    vectors = [memlet for memlet in factors if {over, along} & {*memlet.subset.symbols} == {over}]
    matrices = [memlet for memlet in factors if {over, along} <= {*memlet.subset.symbols}]
    if (len(vectors), len(matrices)) != (1, 1) or len(fixed) > 1 or len(factors) > 2 + len(fixed):
        return Refusal("a term is not a product of a matrix, a vector, and at most one scalar")
    if fixed and not fixed[0].subset.is_point:
        return Refusal(f"{fixed[0]} is no scalar")
    x, a = aligned_box(vectors[0].subset, ((over, values),)), aligned_box(matrices[0].subset, axes)
    if x is None or a is None:
        return Refusal(f"{vectors[0]} or {matrices[0]} does not move one step at a time")
    inputs = {"a": replace(matrices[0], subset=a.subset), "x": replace(vectors[0], subset=x.subset), "y": target}
    if fixed:
        inputs["alpha"] = fixed[0]
    return Gemv(inputs, {"y": target}, alpha=number, trans_a=a.params[0] == over)


def _terms(expr: ScalarExpr, number: complex) -> Iterator[Term | None]:
    """The summands, each as a product of leaves; None for what is none."""
    match expr:
        case Op(name="neg", args=(arg,)):
            yield from _terms(arg, -number)
        case Op(name="add" | "sub" as name, args=(left, right)):
            yield from _terms(left, number)
            yield from _terms(right, -number if name == "sub" else number)
        case _:
            yield product_of(expr, number)


def product_of(expr: ScalarExpr, number: complex) -> Term | None:
    """A product of numbers and leaves, times a number; None for what is none."""
    match expr:
        case Ref(name=name):
            return number, (name,)
        case Const(value=value):
            return number * value, ()
        case Op(name="neg", args=(arg,)):
            return product_of(arg, -number)
        case Op(name="mul", args=(left, right)):
            first = product_of(left, number)
            second = None if first is None else product_of(right, first[0])
            return None if first is None or second is None else (second[0], (*first[1], *second[1]))
    return None

