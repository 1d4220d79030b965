"""The stages of the tutorial: title, what to look at, and the output of running it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import numpy as np

from dcpy import driver
from dcpy.signatures import signature_of
from examples import gemm


def stages() -> Iterator[tuple[str, str, str, str]]:
    """Title, text, language of the output, output."""
    program = gemm.gemm
    yield (
        "The function",
        "Plain NumPy. The annotations give types ahead of time; without them, the first call would.",
        "python",
        inspect.getsource(program.function),
    )
    written = program.to_sdfg(simplify=False)
    yield (
        "The SDFG as written",
        "The frontend takes the expression apart in NumPy's order of operations. Each step reads containers through "
        "memlets (`<-`) and writes a container of its own (`->`); elementwise steps are maps, the product is a library "
        "node. Nothing has been optimized, and nothing is hidden.",
        "text",
        str(written),
    )
    simple = program.to_sdfg()
    yield (
        "After simplify",
        "Dataflow coarsening: states are fused, what is copied for no reason is not copied, what is never read is "
        "gone. "
        f"Transformations that ran: {', '.join(f'{name} ({count})' for name, count in simple.applied().items())}.",
        "text",
        str(simple),
    )
    yield (
        "What could be transformed, and what could not",
        "`sdfg.explain()` gives every match of every transformation with its verdict.",
        "text",
        simple.explain(),
    )
    arguments = gemm.initialize(3)
    expected = program.function(**{k: np.copy(v) for k, v in arguments.items()})
    simple.interpret(**arguments)
    yield (
        "What it means",
        "The reference interpreter runs an SDFG without a compiler. It is slow, and what it computes is what the SDFG "
        "means.",
        "text",
        f"C[0] = {arguments['C'][0]}" + ("" if expected is None else f"\n{expected}"),
    )
    artifact = driver.artifact_of(simple, signature_of(simple), program.options)
    yield (
        "The generated C++",
        "Library nodes are expanded (here to OpenBLAS), schedules and storages made explicit, and a small tree of "
        "loops and calls is printed. Comments lead back to the Python line.",
        "cpp",
        "\n".join(text for _, text in artifact.files),
    )
    yield (
        "The signature",
        "What the native dispatcher checks at every call, in a tenth of a microsecond: dtypes, ranks, sizes that must "
        "agree, strides, overlap.",
        "text",
        "\n".join(str(part) for part in (*artifact.signature.args, *artifact.signature.checks)),
    )
