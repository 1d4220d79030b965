"""The pipeline that distributes: homes, what is sent, what need not be; `localize` makes one rank's program of it."""

from __future__ import annotations

from dcpy.ir.machine import NETWORK, Network
from dcpy.transforms.distributed.deep_halos import DeepHalos
from dcpy.transforms.distributed.distribute_map import DistributeMap
from dcpy.transforms.distributed.infer_halos import InferHalos
from dcpy.transforms.distributed.insert_communication import InsertCommunication
from dcpy.transforms.distributed.localize import Localize
from dcpy.transforms.distributed.localize_reductions import LocalizeReductions
from dcpy.transforms.distributed.overlap_exchange import OverlapExchange
from dcpy.transforms.distributed.place_temporaries import PlaceTemporaries
from dcpy.transforms.distributed.redundant_communication import RemoveRedundantCommunication
from dcpy.transforms.distributed.specialize_products import SpecializeProducts
from dcpy.transforms.distributed.specialize_solvers import SpecializeSolvers
from dcpy.transforms.distributed.whole_copies import WholeCopies
from dcpy.transforms.pipeline import Pipeline


def distribute(
    network: Network = NETWORK, solvers: SpecializeSolvers | None = None, steps: int = 0
) -> Pipeline:
    """The pipeline; products run where they take least on this network, and so do solvers.

    `steps` iterations of a loop run between two updates of halos; 0: as many as take least; -1: updates are where maps
    need them.
    """
    return Pipeline(
        "distribute",
        WholeCopies(),
        LocalizeReductions(),
        DistributeMap(),
        SpecializeProducts(network),
        solvers or SpecializeSolvers(network),
        InsertCommunication(),
        RemoveRedundantCommunication(),
        InferHalos(),
        *([DeepHalos(network, steps)] if steps >= 0 else []),
    )


DISTRIBUTE = distribute()
TEMPORARIES = Pipeline("temporaries", PlaceTemporaries())
GATHERED = Pipeline("gathered", WholeCopies(everything=True))
LOCALIZE = Pipeline("one-rank", Localize())
OVERLAP = Pipeline("overlap", OverlapExchange())
