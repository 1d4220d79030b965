"""Overrides: decisions that a user, or `program.tune`, takes in the place of the compiler.

Each is a text, ``NAME=VALUE``. ``tile=64`` gives a number by which passes decide another value
(`ir.machine_model.Costs`), ``loops-into-tiles=off`` leaves out a pass, ``auto-optimize=off`` a whole pipeline. They
decide how a program computes what it does: all passes keep its meaning, so that it has its meaning without some of
them, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dcpy.base.options import InvalidOption
from dcpy.base.registry import unknown_name
from dcpy.ir.machine_model import COSTS, Costs, entries
from dcpy.transforms.passes import Pass
from dcpy.transforms.pipeline import Pipeline, Repeat

OFF = "off"
FACTORS = (4, 2)  # by which the numbers of neighbours are larger and smaller
#: The numbers that a search varies: those that choose between ways to compute, not those that group sums of floats.
VARIED = (
    "threads_pay_above", "lanes", "tile", "unrolled_terms", "predicated", "recomputed", "call", "bytes_per_unit",
    "few_rows",
)  # fmt: skip


def numbers(overrides: Sequence[str]) -> dict[str, int]:
    """The numbers among them, by their dotted names. Raises `UnknownName` and `InvalidOption`, as `left_out` does."""
    return {name: int(value) for name, value in _parsed(overrides) if value != OFF}


def left_out(overrides: Sequence[str]) -> frozenset[str]:
    """The passes and pipelines among them, by name."""
    return frozenset(name for name, value in _parsed(overrides) if value == OFF)


def without(pipeline: Pipeline, overrides: Sequence[str]) -> Pipeline:
    """A pipeline without what is left out of it; an empty one where that is the whole of it."""
    names = left_out(overrides)
    if not names:
        return pipeline
    passes = () if pipeline.name in names else _remaining(pipeline.passes, names)
    return Pipeline(pipeline.name, *passes, ensures=pipeline.ensures)


def neighbours(overrides: Sequence[str], pipelines: Sequence[Pipeline], costs: Costs) -> Iterator[tuple[str, ...]]:
    """Override that differ from these in one decision: a pass more is left out, or a number is another one.

    The costs are those in force. Deterministic, in the order of the pipelines; numbers come last.
    """
    names = left_out(overrides)
    candidates = [*(pipeline.name for pipeline in pipelines if _is_optional(pipeline))]
    candidates += [step.name for pipeline in pipelines for step in pipeline.parts() if step.optional]
    for name in dict.fromkeys(candidates):
        if name not in names:
            yield (*overrides, f"{name}={OFF}")
    table = dict(entries(costs))
    for name in VARIED:
        others = [each for each in overrides if not each.startswith(f"{name}=")]
        factors = (*(float(one) for one in FACTORS), *(1 / one for one in reversed(FACTORS)))
        for value in dict.fromkeys(max(round(table[name] * factor), 1) for factor in factors):
            if value != table[name]:
                yield (*others, f"{name}={value}")


def _is_optional(pipeline: Pipeline) -> bool:
    """Return whether a program can do without all of it: nothing behind it needs the form in which it leaves programs.
    """
    return pipeline.ensures == Pass.ensures


def _remaining(passes: tuple[Pass, ...], names: frozenset[str]) -> Iterator[Pass]:
    for step in passes:
        if isinstance(step, Repeat):
            yield Repeat(*_remaining(step.passes, names))
        elif isinstance(step, Pipeline):
            kept = () if step.name in names else _remaining(step.passes, names)
            yield Pipeline(step.name, *kept, ensures=step.ensures)
        elif step.name not in names:
            yield step


def _parsed(overrides: Sequence[str]) -> Iterator[tuple[str, str]]:
    table = dict(entries(COSTS))
    for text in overrides:
        name, _, value = text.partition("=")
        if value == OFF:
            name = _optional(name, text)
        elif not value.isdecimal() or int(value) == 0:
            raise InvalidOption(
                f"the override {text!r} has no value",
                help=f"write a number above 0, as in tile=64, or {name or 'map-fusion'}={OFF} for a pass",
            )
        elif name not in table:
            raise unknown_name("cost", name, list(table))
        yield name, value


def _optional(name: str, text: str) -> str:
    """Return today's name of a pass; `UnknownName` where there is none, `InvalidOption` where it is no choice."""
    from dcpy.transforms.auto.pipeline import AUTO_OPTIMIZE  # late: for overrides only
    from dcpy.transforms.catalog import PASSES, TRANSFORMATIONS

    if name == AUTO_OPTIMIZE.name:
        return name
    if name not in TRANSFORMATIONS and name not in PASSES:
        raise unknown_name("pass", name, [AUTO_OPTIMIZE.name, *TRANSFORMATIONS, *PASSES])
    name = (TRANSFORMATIONS if name in TRANSFORMATIONS else PASSES).current(name)
    if not (TRANSFORMATIONS[name] if name in TRANSFORMATIONS else PASSES[name]).optional:
        optional = [step.name for step in AUTO_OPTIMIZE.parts() if step.optional]
        raise InvalidOption(
            f"the override {text!r} leaves out a pass that is no choice",
            help=f"among those that are: {', '.join(dict.fromkeys(optional))}",
        )
    return name

