"""Comprehensions: a list whose items are written out where they are few and known, else a loop that fills an array.

Without a condition, and with sizes known beforehand, the place of each item is known, and the
loop becomes a parallel map if an iteration does nothing but compute its own items. Where conditions leave items out,
the items are counted.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.dynamic_arrays import VARYING
from dcpy.frontend.abstract_values.list_values import LazyGenerator, Level
from dcpy.frontend.abstract_values.values import ArrayValue, Static, TupleValue, Value, VariantValue, integer
from dcpy.frontend.desugar.bound_and_free_names import bound_names
from dcpy.frontend.lower.arrays import dynamic_sizes
from dcpy.frontend.lower.arrays.name_aliases import held
from dcpy.frontend.lower.control import joins
from dcpy.frontend.lower.expressions import evaluate, require_no_late_variables
from dcpy.frontend.lower.functions.stored_texts import as_item
from dcpy.frontend.lower.name_binding import materialize
from dcpy.frontend.lower.objects import special_methods
from dcpy.frontend.lower.parallel_maps.loop_parallelization import as_map
from dcpy.frontend.lower.sequences import item_kinds, list_types
from dcpy.frontend.lower.sequences import items as sequences
from dcpy.frontend.lower.sequences.amortized_append import appended, empty_growing, shown
from dcpy.frontend.lower.sequences.generator_inlining import in_frame, is_generated
from dcpy.frontend.lower.sequences.iteration import ItemIteration, variant_in
from dcpy.frontend.python.containers.ragged_lists import RaggedLists
from dcpy.ir.symbolic import Expr, product_of

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

Comprehension = ast.ListComp | ast.GeneratorExp


def comprehend(frame: Frame, node: Comprehension | ast.DictComp, first: Value) -> Value:
    """The list of a comprehension, or of a generator expression whose items are all asked for; a dictionary's pairs."""
    if isinstance(node, ast.DictComp):
        if isinstance(first, LazyGenerator) and sequences.is_short(frame.b, first.first):
            first = all_items(frame, first)
        return _pairs(frame, node, first)
    if not sequences.is_short(frame.b, first):
        return _fill(frame, node, first)
    return _written_out(frame, node, first) if _is_known(frame, node, first) else _fill(frame, node, first)


def _is_known(frame: Frame, node: Comprehension, first: Value) -> bool:
    """Return whether the number of items is known, where that of the first iterable is, and each is written once."""
    if any(variant_in(item) is not None for item in sequences.items(frame.b, first)):
        return False
    if len(node.generators) == 1 and not node.generators[0].ifs:
        return True
    walk, _ = _look(frame, node, first)
    return all(size.constant is not None for sizes in walk.sizes.values() for size in sizes) and not walk.counts


def _pairs(frame: Frame, node: ast.DictComp, first: Value) -> Value:
    """The keys and values of a dictionary, of which the keys have to be known."""
    pair = ast.copy_location(ast.Tuple([node.key, node.value], ast.Load()), node)
    pairs = ast.copy_location(ast.ListComp(pair, node.generators), node)
    if not sequences.is_countable(frame.b, first) or not _is_known(frame, pairs, first):
        raise FrontendError(
            "the items of a dictionary comprehension are known at run time only",
            notes=("the keys of a dictionary are known when the program is compiled",),
            help="make two lists, keys = [...] and values = [...]; where keys count from 0, the list of values will do",
        )
    return _written_out(frame, pairs, first)


def _written_out(frame: Frame, node: Comprehension, first: Value) -> Value:
    """Each item by code of its own."""
    found: list[Value] = []

    def visit(_: Sequence[Expr]) -> None:
        found.append(_element(frame, node))

    ItemIteration(frame, node, node.generators, first, visit).run()
    return TupleValue(tuple(found), is_list=True)


def _element(frame: Frame, node: Comprehension) -> Value:
    value = as_item(frame, sequences.stable(frame.b, _with_sizes(frame, evaluate(frame, node.elt))))
    require_no_late_variables(value, {name for generator in node.generators for name in bound_names(generator.target)})
    return value


def _with_sizes(frame: Frame, value: Value) -> Value:
    """Return an item with symbols for sizes that only the path to it tells."""
    if isinstance(value, VARYING):
        return dynamic_sizes.concrete(frame, value)
    if not isinstance(value, VariantValue):
        return value
    return replace(value, options=tuple((number, _with_sizes(frame, option)) for number, option in value.options))


def _look(frame: Frame, node: Comprehension, first: Value) -> tuple[ItemIteration, list[Value]]:
    """A dry run: what the items are, and how many."""
    found: list[Value] = []
    env = frame.env
    frame.env = dict(env)
    walk = ItemIteration(frame, node, node.generators, first, lambda _: found.append(_element(frame, node)))
    try:
        with frame.emit.dry_run():
            walk.run()
    finally:
        frame.env = env
    return walk, found


def _fill(frame: Frame, node: Comprehension, first: Value) -> Value:
    """Items that are computed in loops."""
    materialize(frame)
    is_empty = isinstance(node.elt, ast.List) and not node.elt.elts and isinstance(node, ast.ListComp)
    if is_empty and len(node.generators) == 1 and not node.generators[0].ifs and sequences.has_length(first):
        return frame.b.call(Static(RaggedLists), integer(sequences.length(frame.b, first)))
    used = sorted({part.id for part in ast.walk(node) if isinstance(part, ast.Name)} & frame.env.keys())
    varying = {name: frame.env[name] for name in used if dynamic_sizes.varies(frame.env[name])}
    frame.env.update({name: dynamic_sizes.materialized_sizes(frame, value) for name, value in varying.items()})
    try:  # the sizes of what the items are made of are known before the first one
        return _fill_with(frame, node, first)
    finally:
        frame.env.update(varying)


def _fill_with(frame: Frame, node: Comprehension, first: Value) -> Value:
    """Items that are computed in loops, from arrays of sizes that do not depend on the path."""
    walk, found = _look(frame, node, first)
    if not found:  # nothing is ever reached, or it raises
        ItemIteration(frame, node, node.generators, first, lambda _: None).run()
        return TupleValue((), is_list=True)
    kind = item_kinds.joined_kind(frame.b, [item_kinds.kind_of_item(frame.b, value) for value in found])
    inside = [size for size in kind.shape if not joins.known_outside(frame, (size,))]
    if inside:
        error = FrontendError(
            "the rows of the list have different lengths, which are known at run time only",
            help="make them one length, or fill an array",
        )
        merges = (frame.b.sizes_by_path.get(name) for size in inside for name in size.symbols)
        raise frame.b.by_path(next((merge for merge in merges if merge is not None), None), error)
    sizes = [_one_size(frame, walk.sizes[number]) for number in sorted(walk.sizes)]
    known = [size for size in sizes if size is not None]
    if walk.filtered or len(known) < len(node.generators):
        capacity = product_of(*known) if len(known) == len(node.generators) else None
        return _count(frame, node, first, kind.unfilled(), capacity)
    return _place(frame, node, first, kind, known)


def _one_size(frame: Frame, sizes: Sequence[Expr]) -> Expr | None:
    """Return the number of items that a level has each time, where it is known before."""
    same = all(size is sizes[0] for size in sizes)
    return frame.b.exact(sizes[0]) if same and joins.known_outside(frame, (sizes[0],)) else None


def _place(frame: Frame, node: Comprehension, first: Value, kind: item_kinds.ItemKind, sizes: Sequence[Expr]) -> Value:
    """Each item has its place."""
    b = frame.b
    out = b.empty([*sizes, *kind.shape], kind.dtype, name="list")

    def visit(places: Sequence[Expr]) -> None:
        _put(frame, node, out, places, kind.levels)

    walk = ItemIteration(frame, node, node.generators, first, visit)
    walk.wrap = lambda loop, _: as_map(frame, loop, out)
    walk.run()
    if len(sizes) > 1:
        out = b.reshape(out, (product_of(*sizes), *kind.shape))
    return kind.list_of(out)


def _put(
    frame: Frame, node: Comprehension, out: ArrayValue, places: Sequence[Expr], levels: tuple[Level, ...]
) -> None:  # fmt: skip
    """Store an item; those of a comprehension inside are stored where they belong at once."""
    inner = node.elt
    if not isinstance(inner, ast.ListComp) or len(inner.generators) > 1 or inner.generators[0].ifs:
        list_types.put(frame.b, out, places, _held(frame, _element(frame, node), out), levels)
        return
    first = special_methods.iterated(frame, evaluate(frame, inner.generators[0].iter))
    if sequences.is_short(frame.b, first):
        row = sequences.stable(frame.b, comprehend(frame, inner, first))
        list_types.put(frame.b, out, places, _held(frame, row, out), levels)
        return
    size = sequences.length(frame.b, first)
    frame.b.same_size(out.shape[len(places)], size, "the rows of the list have different lengths")

    def visit(more: Sequence[Expr]) -> None:
        _put(frame, inner, out, [*places, *more], levels[1:])

    walk = ItemIteration(frame, inner, inner.generators, first, visit)
    walk.wrap = lambda loop, _: as_map(frame, loop, out)
    walk.run()


def _held(frame: Frame, item: Value, out: ArrayValue) -> Value:
    held(frame, "", item, frame.b.root(out.container))
    return item


def _count(frame: Frame, node: Comprehension, first: Value, kind: item_kinds.ItemKind, capacity: Expr | None) -> Value:
    """Items one behind the other, as many as there are."""
    found = empty_growing(frame, kind, capacity)

    def visit(_: Sequence[Expr]) -> None:
        item = _held(frame, _element(frame, node), found.array)
        appended(frame, found, item, bounded=capacity is not None)

    ItemIteration(frame, node, node.generators, first, visit).run()
    items = shown(frame, found)
    return replace(items, array=replace(items.array, fresh=True))


def all_items(frame: Frame, value: Value) -> Value:
    """Return the items of an iterator that is used up on the way, as a list; any other value as it is."""
    value = special_methods.iterated(frame, value)
    if isinstance(value, LazyGenerator):
        return comprehend(frame, in_frame(frame, value).node, value.first)
    return frame.b.call(Static(list), value) if is_generated(value) or sequences.is_stepped(value) else value


