"""Contractions as maps without schedules: a map over the results around one over what each of them combines.

Nothing of a machine is in it, so that any target can fuse it with its neighbours, and then tile and schedule it.
"""

from __future__ import annotations

from dcpy.libraries.contraction.contraction import Contraction
from dcpy.libraries.fragment import Fragment


def contract(f: Fragment, spec: Contraction) -> None:
    """Write the nest; of the summed dimensions the one that runs along memory comes last."""
    summed = sorted(spec.summed, key=lambda dim: dim == spec.inner)
    with f.maps([spec.whole(dim) for dim in spec.kept]) as kept:
        acc = f.scalar("acc", spec.dtype)
        if not summed:
            spec.element(f, acc.at(), kept, "")
        else:
            f.put(acc.at(), spec.identity)
            with f.maps([spec.whole(dim) for dim in summed], param="k") as terms:
                place = dict(zip((*spec.kept, *summed), (*kept, *terms), strict=True))
                spec.element(f, acc.at(), spec.in_order(place), spec.op)
        spec.store(f, kept, acc.at())
