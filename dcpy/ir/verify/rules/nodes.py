"""Copies, maps, calls, library nodes and foreign calls."""

from __future__ import annotations

from dcpy.base.callback_sites import names_of
from dcpy.base.errors import CallbackError
from dcpy.ir.analysis.dataflow.value_ranges import assumed_bounds
from dcpy.ir.data import Array, Data, Scalar, Stream
from dcpy.ir.expressions.scalar import Ref, walk
from dcpy.ir.nodes import Call, Callback, Copy, ForeignCall, LibraryNode, Map, Tasklet
from dcpy.ir.region import Loop
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.verify.rule import Findings, rule
from dcpy.ir.verify.rules.containers import differ
from dcpy.ir.verify.subjects import Scope


@rule("copy.shapes", Copy)
def copies_keep_their_shape(node: Copy, scope: Scope) -> Findings:
    """Source and destination of a copy have one dtype and the same shape, as far as it is surely reached."""
    src, dst = scope.desc(node.src.container), scope.desc(node.dst.container)
    if src is None or dst is None:
        return
    if src.dtype != dst.dtype:
        yield f"{node.src} is {src.dtype}, {node.dst} is {dst.dtype}", "use a tasklet with a cast"
    if isinstance(src, Stream) or isinstance(dst, Stream):
        yield from _not_in_tokens(node, src, dst)
        return
    taken, given = node.src.subset.shape, node.dst.subset.shape
    if len(taken) != len(given) or (not scope.guarded and any(map(differ, taken, given))):
        shapes = " and ".join(f"[{', '.join(map(str, shape))}]" for shape in (taken, given))
        yield f"{node.src} and {node.dst} have different shapes: {shapes}"


@rule("copy.moves", Copy)
def moves_give_up_their_source(node: Copy, scope: Scope) -> Findings:
    """A copy that moves takes all of a transient array."""
    src = scope.desc(node.src.container)
    if not node.moves or src is None:
        return
    if not isinstance(src, Array) or not src.transient or node.src.container == node.dst.container:
        yield f"{node.src.container!r} is no transient array that can be given up", "copy it"
    elif node.src.subset != Subset.whole(src.shape):
        yield f"{node.src} is not all of {node.src.container!r}", "copy it"


def _not_in_tokens(node: Copy, src: Data, dst: Data) -> Findings:
    """Yield copies that move no whole number of tokens."""
    src_token = src.token if isinstance(src, Stream) else ()
    dst_token = dst.token if isinstance(dst, Stream) else ()
    if isinstance(src, Stream) and isinstance(dst, Stream):
        if src_token != dst_token:
            yield f"{node.src} has tokens of {list(src_token)}, {node.dst} of {list(dst_token)}"
        return
    moved, token = (node.dst, src_token) if isinstance(src, Stream) else (node.src, dst_token)
    shape = moved.subset.shape
    outer = len(shape) - len(token)
    if outer < 0 or [size.constant for size in shape[outer:]] != list(token):
        yield (
            f"{moved} is [{', '.join(map(str, shape))}], which is not made of tokens of {list(token)}",
            "the last dimensions are those of a token, in numbers: [16*i:16*i + 16]",
        )


@rule("copy.tokens", Tasklet)
def tasklets_push_elements(node: Tasklet, scope: Scope) -> Findings:
    """A tasklet pushes elements: no whole tokens."""
    for memlet in node.outputs.values():
        desc = scope.desc(memlet.container)
        if isinstance(desc, Stream) and desc.token:
            yield f"a tasklet pushes an element to {memlet}, which takes tokens of {list(desc.token)}", "push by a copy"


@rule("map.parameters", Map)
def maps_have_a_range_per_parameter(node: Map, scope: Scope) -> Findings:
    """A map has at least one parameter, a range for each, and no parameter twice."""
    if not node.params:
        yield "a map has no parameter"
    if len(node.params) != len(node.domain):
        yield f"a map has {len(node.params)} parameters and {len(node.domain)} ranges"
    if len(set(node.params)) != len(node.params):
        yield f"a map has two parameters of one name: {', '.join(node.params)}"


@rule("map.step", Map)
def steps_of_maps_are_not_zero(node: Map, scope: Scope) -> Findings:
    """The step of a map's range is not 0."""
    for name, values in zip(node.params, node.domain, strict=False):
        if values.step.constant == 0:
            yield f"the range of {name!r} has a step of 0"


@rule("loop.step", Loop)
def steps_of_loops_are_not_zero(block: Loop, scope: Scope) -> Findings:
    """The step of a loop's range is not 0."""
    if block.range.step.constant == 0:
        yield f"the range of {block.param!r} has a step of 0"


@rule("call.containers", Call)
def calls_pass_all_containers(node: Call, scope: Scope) -> Findings:
    """A call has a memlet for each argument container of the callee, of its dtype and shape, and no other."""
    callee = node.sdfg
    passed = (name for name in callee.containers if name not in callee.constants)
    needed = {name: callee.containers[name] for name in passed if not callee.containers[name].transient}
    for name in node.arguments:
        if name not in needed:
            yield f"@{callee.name} has no argument {name!r}"
    for name, desc in needed.items():
        memlet = node.arguments.get(name)
        given = None if memlet is None else scope.desc(memlet.container)
        if memlet is None:
            yield f"the call of @{callee.name} lacks its argument {name!r}"
        elif not isinstance(desc, Scalar | Array):
            yield f"the argument {name!r} of @{callee.name} cannot be passed: only arrays and scalars can"
        elif memlet is not None and given is not None:
            if given.dtype != desc.dtype:
                yield f"{name!r} of @{callee.name} is {desc.dtype}, {memlet} is {given.dtype}"
            wanted = tuple(size.subs(node.symbols) for size in desc.shape)
            shape = memlet.subset.shape
            if len(wanted) != len(shape) or any(map(differ, wanted, shape)):
                yield f"{name!r} of @{callee.name} has another shape than {memlet}"


@rule("call.symbols", Call)
def calls_pass_all_symbols(node: Call, scope: Scope) -> Findings:
    """A call has a value for each free symbol of the callee, and no other."""
    for name in node.sdfg.symbols:
        if name not in node.symbols:
            yield f"the call of @{node.sdfg.name} lacks the value of its symbol {name!r}"
    for name in node.symbols:
        if name not in node.sdfg.symbols:
            yield f"@{node.sdfg.name} has no symbol {name!r}"


@rule("call.assumptions", Call)
def calls_keep_assumptions(node: Call, scope: Scope) -> Findings:
    """Facts known where an SDFG is called imply what the callee assumes of its symbols."""
    callee, ranges = node.sdfg, scope.ranges
    passed = {name: value for name, value in node.symbols.items() if name in callee.assumed}
    for name, value in passed.items():
        assumed = callee.assumed[name]
        low, high = assumed_bounds(assumed, size=False)
        below = low is not None and not ranges.proves_le(low, value)
        above = high is not None and not ranges.proves_le(value, high)
        if below or above or ranges.remainder(value, assumed.multiple_of) != 0:
            told = f"it gets {value}, of which that is not known"
            yield f"@{callee.name} assumes that {name!r} is {assumed.in_words()}, but {told}"
    for fact in callee.assumptions:
        if not ranges.proves_nonneg(fact.subs(node.symbols)):
            yield f"@{callee.name} assumes that {fact} is not negative, which is not known of what it gets"


@rule("library.problems", LibraryNode)
def library_nodes_are_consistent(node: LibraryNode, scope: Scope) -> Findings:
    """A library node finds nothing wrong with itself; behind a check, its sizes may never agree."""
    yield from (problem for problem in node.problems() if not (scope.guarded and "do not agree" in problem))


@rule("foreign.arguments", ForeignCall)
def foreign_arguments_are_connectors(node: ForeignCall, scope: Scope) -> Findings:
    """A foreign call passes its connectors and scalars, and returns its value to one of its outputs."""
    for arg in node.args:
        if isinstance(arg, str):
            if arg not in node.inputs and arg not in node.outputs:
                yield f"{node.function} is passed {arg!r}, which is no connector"
            continue
        for part in walk(arg):
            memlet = node.inputs.get(part.name) if isinstance(part, Ref) else None
            if memlet is not None and not memlet.subset.is_point:
                yield f"{node.function} is passed {memlet} by value, which is no single element"
    if node.result and node.result not in node.outputs:
        yield f"{node.function} returns to {node.result!r}, which is no output"


@rule("callback.operands", Callback)
def callbacks_name_their_operands(node: Callback, scope: Scope) -> Findings:
    """The results of a callback go to its outputs; an output that takes none is an input too."""
    try:
        results = names_of(node.returns)
        names_of(node.call)
    except CallbackError as error:
        yield error.message
        return
    for name in sorted(results):
        if name not in node.outputs:
            yield f"{node.function} returns to {name!r}, which is no output"
    for name in node.outputs:
        if name not in results and name not in node.inputs:
            yield f"{node.function} neither returns to {name!r} nor gets it"


@rule("scope.operands", Map)
def scopes_declare_plain_containers(node: Map, scope: Scope) -> Findings:
    """A map's body declares scalars, arrays and views: no stream is private to an iteration."""
    for name, desc in node.body.containers.items():
        if isinstance(desc, Stream):
            yield f"the stream {name!r} is declared in a map's body", "declare it outside"
        if any(isinstance(size, Range) for size in getattr(desc, "shape", ())):
            yield f"a size of {name!r} is a range"
