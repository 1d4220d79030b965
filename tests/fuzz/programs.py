"""Random small NumPy programs: typed enough to run, wild enough to surprise.

`statements` writes the body, `expressions` what is in it, `program` makes arguments, `choice` decides.
"""

from __future__ import annotations

from hypothesis import strategies as st

from tests.fuzz.choice import Drawn, RandomSource, Seeded, chance, pick
from tests.fuzz.expressions import same_type
from tests.fuzz.program import ALIASES, DTYPES, HEAD, LAYOUTS, SCALARS, SHAPES, Program
from tests.fuzz.statements import Writer
from tests.fuzz.themes import THEMES


def make_program(choice: RandomSource, statements: int = 5) -> Program:
    """A program of a few statements, with branches and loops."""
    theme = pick(choice, list(THEMES))
    sizes = (3, 2, 4, 1, 0) if theme == "anything" else (3, 2, 4, 1)  # a loop that never runs gives no number its kind
    dtypes = [pick(choice, DTYPES) for _ in SHAPES]
    alias = pick(choice, ALIASES) if chance(choice, 25) else ""
    if alias:
        dtypes[1], dtypes[3] = dtypes[0], dtypes[0 if alias == "d is in a" else 2]
    sample = Program(
        "",
        tuple(dtypes),
        (pick(choice, sizes), pick(choice, (sizes[1], sizes[0], *sizes[2:]))),
        tuple(pick(choice, LAYOUTS) if chance(choice, 40) else "C" for _ in SHAPES),
        alias,
        choice.number(0, len(SCALARS) - 1),
        choice.number(0, 1000),
    )
    writer = Writer(choice, sample, THEMES[theme])
    writer.several(statements, 2)
    names = [pick(choice, list(writer.known)) for _ in range(choice.number(1, 3))]
    results = [name if chance(choice, 60) else writer.expressions.expression(2) for name in names]
    if writer.returned:  # all returns give values of one type
        alike = [name for name, value in writer.known.items() if same_type(value, writer.returned[0])]
        results = alike[:1] or results
    if writer.theme.results and not writer.returned and chance(choice, 40):
        writer.ending()
    lines = [line.real for line in writer.lines]
    source = HEAD + "\n".join([*lines, f"    return {', '.join(results)}"]) + "\n"
    return Program(source, sample.dtypes, sample.sizes, sample.layouts, alias, sample.scalar, sample.seed)


@st.composite
def programs(draw: st.DrawFn, statements: int = 5) -> Program:
    """Programs decided by hypothesis, which makes those that fail smaller."""
    return make_program(Drawn(draw), statements)


def seeded(seed: int, statements: int = 5) -> Program:
    """The program of a seed."""
    return make_program(Seeded(seed), statements)
