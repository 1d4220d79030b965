"""Rules for FPGAs: processes of fixed number and size that share queues, and never memory."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from dcpy.ir.analysis.accesses.access_relations import accesses_in
from dcpy.ir.analysis.fpga.port_demand import port_demands
from dcpy.ir.analysis.fpga.token_rates import token_counts
from dcpy.ir.analysis.polyhedral.symbolic_equality import always_equal
from dcpy.ir.data import Allocation, Array, Scalar, Space, Stream
from dcpy.ir.effects import Effect
from dcpy.ir.fpga.memory import how_to_number
from dcpy.ir.nodes import Node
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Dataflow, Loop, Process, Resize, While
from dcpy.ir.schedules import SEQUENTIAL, Parallel, Vector
from dcpy.ir.verify.rule import Findings, rule
from dcpy.ir.verify.subjects import Declaration, Scope

LONGEST_NAME = 40  #: characters; tools add theirs, and cut at 61
ON_CHIP = (Allocation.REGISTER, Allocation.REGISTERS, Allocation.SHIFT_REGISTER, Allocation.BRAM)


def _in_process(scope: Scope) -> bool:
    return any(isinstance(owner, Process) for owner in scope.owners)


def _processes(block: Dataflow) -> list[Process]:
    return [inner for inner in block.body.blocks if isinstance(inner, Process)]


@rule("fpga.tokens", Dataflow)
def tokens_come_and_go(block: Dataflow, scope: Scope) -> Findings:
    """Each queue has one process that pushes and one that pops, and as many tokens are popped as are pushed."""
    counts = token_counts(_processes(block), scope.uses, scope.ranges)
    if isinstance(counts, Refusal):
        yield f"the tokens cannot be counted: {counts}", "push and pop as often as loops say, without conditions"
        return
    for (stream, index), tokens in counts.items():
        queue = f"{stream}[{', '.join(map(str, index))}]" if index else stream
        for names, one, many in (
            (tokens.producers, "pushes to", "push to"), (tokens.consumers, "pops from", "pop from")
        ):  # fmt: skip
            if len(names) != 1:
                who = f"{' and '.join(map(repr, names))} {many}" if names else f"no process {one}"
                yield f"{who} the queue {queue!r}", "a queue has one process at each end"
        both = tokens.producers and tokens.consumers
        if both and not always_equal(tokens.pushed, tokens.popped, scope.ranges):
            yield (
                f"{tokens.pushed} tokens are pushed to {queue!r}, and {tokens.popped} are popped",
                "what is left in a queue is the first input of the next run",
            )


@rule("fpga.memory", Dataflow)
def arrays_have_one_writer(block: Dataflow, scope: Scope) -> Findings:
    """An array that one process writes is touched by no other process of the same dataflow block."""
    uses = scope.uses
    accessed: dict[str, dict[str, bool]] = {}  # memory, process: whether it writes there
    for process in _processes(block):
        for access in accesses_in(process, uses):
            if not access.of_queue:
                by = accessed.setdefault(access.memory, {})
                by[process.name] = by.get(process.name, False) or access.is_write
    for memory, by in accessed.items():
        writer = next((name for name, writes in by.items() if writes), "")
        other = next((name for name in by if name != writer), "")
        if writer and other:
            yield (
                f"the process {writer!r} writes the array {memory!r}, which {other!r} touches, too",
                "nothing orders them on a board: hand the values over through a stream",
            )


@rule("fpga.sizes", Declaration)
def sizes_are_numbers(subject: Declaration, scope: Scope) -> Findings:
    """Data on the chip have sizes in numbers: arrays of streams, tokens, and memory of a process."""
    desc = subject.desc
    if isinstance(desc, Stream):
        if any(size < 1 for size in desc.token):
            yield f"the tokens of {subject.name!r} are {list(desc.token)}, which is empty"
    elif not (isinstance(desc, Array) and desc.transient and _in_process(scope)):
        return
    symbols = [size for size in desc.shape if size.constant is None]
    if symbols:
        yield (
            f"{subject.name!r} is on the chip, and has the size {symbols[0]}",
            f"tile the loops so that a block fits, or {how_to_number(symbols[0].symbols)}",
        )


@rule("fpga.copies", Process)
def copies_of_processes_are_counted(block: Process, scope: Scope) -> Findings:
    """The number of copies of a process is constant, and each copy ends."""
    for param, values in zip(block.params, block.domain, strict=False):
        if any(bound.constant is None for bound in (values.start, values.stop, values.step)):
            yield (
                f"the process {block.name!r} has a copy for each {param} in {values}",
                f"hardware has a fixed number of them: {how_to_number(values.symbols)}",
            )
    if block.endless:
        yield f"the process {block.name!r} may wait for ever", "count its tokens, and make it a loop over these"


@rule("fpga.storage", Declaration)
def memory_is_on_the_chip(subject: Declaration, scope: Scope) -> Findings:
    """Containers declared in a process are on the chip; memory beside it is declared outside of all processes."""
    desc = subject.desc
    if not isinstance(desc, Scalar | Array) or not desc.transient or not _in_process(scope):
        return
    if isinstance(desc, Array) and desc.space is not Space.LOCAL and desc.allocation is not Allocation.REGISTER:
        yield (
            f"{subject.name!r} is declared in a process, but is not on the chip",
            "write @local @bram, or declare it outside and pass it",
        )
    elif desc.allocation not in ON_CHIP:
        yield f"{subject.name!r} is on the chip, and has the storage {desc.allocation.value!r}", "it is @bram, perhaps"


@rule("fpga.dtypes", Declaration)
def dtypes_have_hardware(subject: Declaration, scope: Scope) -> Findings:
    """Numbers are integers, or floats of 32 or 64 bits."""
    dtype = subject.desc.dtype
    if dtype.kind == "c":
        help = "hold the real and the imaginary part in arrays of their own"
        yield f"{subject.name!r} is {dtype}, and hardware has no complex numbers", help
    elif dtype.name == "f16":
        yield f"{subject.name!r} is {dtype}, and hardware has floats of 32 and 64 bits", "use float32"


@rule("fpga.nodes", Node)
def nodes_are_hardware(node: Node, scope: Scope) -> Findings:
    """A process calls no Python and no C, and its maps are loops."""
    if not _in_process(scope):
        return
    if node.effects & Effect.CALLS_OUT:
        yield f"a process calls {node.title}", "call it before or after the part that runs on the device"
    elif node.callees():
        yield f"a process makes a {node.title}", "inline it: sdfg.simplify()"
    elif isinstance(schedule := getattr(node, "schedule", SEQUENTIAL), Parallel | Vector):
        yield f"{node.title} has the schedule {schedule}", "@pipelined, @unrolled and @sequential are hardware"


@rule("fpga.loops", While)
def ends_are_known(block: While, scope: Scope) -> Findings:
    """A loop in a process has a number of iterations that is known when it starts."""
    if _in_process(scope):
        yield "a while loop in a process ends when data say so", "make it a loop over a range, with a condition inside"


@rule("fpga.resizes", Resize)
def arrays_do_not_grow(block: Resize, scope: Scope) -> Findings:
    """No array of a process grows."""
    if _in_process(scope):
        yield f"the array {block.container!r} grows in a process", "give it the most that it can need"


@rule("fpga.capacities", Declaration)
def queues_have_depths(subject: Declaration, scope: Scope) -> Findings:
    """Each queue has a capacity in numbers, of at least one token."""
    desc = subject.desc
    if isinstance(desc, Stream) and (desc.capacity.constant or 0) < 1:
        yield f"the queue {subject.name!r} has the capacity {desc.capacity}", "write: capacity 2"


@rule("fpga.banks", Declaration)
def banks_divide_evenly(subject: Declaration, scope: Scope) -> Findings:
    """An array in several banks has a dimension that they divide evenly; only what is beside the chip is in banks."""
    desc = subject.desc
    if not isinstance(desc, Array) or desc.bank is None:
        return
    bank = desc.bank
    if bank.first < 0 or bank.count < 1:
        yield f"{subject.name!r} is in the banks {bank}"
    elif bank.axis not in range(len(desc.shape)):
        yield f"{subject.name!r} has no dimension {bank.axis}, along which its banks would divide it"
    elif scope.ranges.multiple_of(desc.shape[bank.axis]) % bank.count:
        yield (
            f"{bank.count} banks are not shown to divide dimension {bank.axis} of {subject.name!r} evenly",
            "assume so: N = dcpy.symbol('N', multiple_of=...)",
        )
    if desc.space is Space.LOCAL:
        yield f"{subject.name!r} is on the chip, and has a bank beside it"


@rule("fpga.partitions", Declaration)
def partitions_fit(subject: Declaration, scope: Scope) -> Findings:
    """Memory on the chip is cut along dimensions that it has, each once, in at least two pieces."""
    desc = subject.desc
    if not isinstance(desc, Array) or not desc.partition:
        return
    if desc.space is not Space.LOCAL:
        yield f"{subject.name!r} is cut in pieces, but is not on the chip", "write @local"
    axes = [part.axis for part in desc.partition]
    for part in desc.partition:
        if part.axis not in range(len(desc.shape)):
            yield f"{subject.name!r} has no dimension {part.axis} to be cut along"
        elif axes.count(part.axis) > 1:
            yield f"{subject.name!r} is cut twice along dimension {part.axis}"
        elif (part.factor > 1) is (part.style == "complete"):
            yield f"{subject.name!r} is cut {part}", "write: complete 0, or: cyclic 0 by 4"


@rule("fpga.ports", Loop)
def ports_suffice(block: Loop, scope: Scope) -> Findings:
    """Ports suffice for the accesses of a pipelined loop that is to start an iteration every ii cycles."""
    if not _in_process(scope):
        return
    for demand in port_demands(block, scope.uses):
        if demand.needed > demand.available * demand.ii:
            yield (
                f"each iteration of the loop {block.param} goes {demand.needed} times to {demand.container!r}, which "
                f"has {demand.available} ports: {demand.available * demand.ii} in {demand.ii} cycles",
                f"cut it: partition cyclic 0 by {-(-demand.needed // (2 * demand.ii))}; or allow a larger ii",
            )


@rule("fpga.names", Process)
def names_of_processes_are_names_of_modules(block: Process, scope: Scope) -> Findings:
    """Names become those of modules: no two underscores in a row, none at an end, 40 characters at most."""
    yield from _name("process", block.name)


@rule("fpga.names-of-queues", Declaration)
def names_of_queues_are_names_of_modules(subject: Declaration, scope: Scope) -> Findings:
    """Names of queues and memories become those of modules, too."""
    if isinstance(subject.desc, Stream) or (_in_process(scope) and isinstance(subject.desc, Array)):
        yield from _name("stream" if isinstance(subject.desc, Stream) else "array", subject.name)


def _name(what: str, name: str) -> Iterator[tuple[str, str]]:
    if "__" in name or name.strip("_") != name or len(name) > LONGEST_NAME:
        yield (
            f"the {what} {name!r} cannot be the name of a module",
            f"no two underscores in a row, none at an end, at most {LONGEST_NAME} characters",
        )


@rule("fpga.tokens-width", Declaration)
def tokens_fit_a_port(subject: Declaration, scope: Scope) -> Findings:
    """A token has at most 512 bits, a port of the memory moves no more in a cycle; and a power of two of elements."""
    desc = subject.desc
    if isinstance(desc, Stream) and prod(desc.token) & (prod(desc.token) - 1):
        yield f"a token of {subject.name!r} has {prod(desc.token)} elements", "hardware packs powers of two of them"
    if isinstance(desc, Stream) and prod(desc.token) * desc.dtype.itemsize > 64:
        bits = prod(desc.token) * desc.dtype.itemsize * 8
        yield f"a token of {subject.name!r} has {bits} bits", "512 are the most: use smaller tokens"
