"""The pipeline that distributes: homes, what is sent, what need not be; `localize` makes one rank's program of it."""

from __future__ import annotations

from dcpy.ir.machine_model import NETWORK, Network
from dcpy.transforms.distributed.communication.insert_communication import InsertCommunication
from dcpy.transforms.distributed.communication.remove_redundant_communication import RemoveRedundantCommunication
from dcpy.transforms.distributed.grids.specialize_products import SpecializeProducts
from dcpy.transforms.distributed.grids.specialize_solvers import SpecializeSolvers
from dcpy.transforms.distributed.halos.deep_halos import DeepHalos
from dcpy.transforms.distributed.halos.infer_halos import InferHalos
from dcpy.transforms.distributed.halos.overlap_exchange import OverlapExchange
from dcpy.transforms.distributed.local_form.localize import Localize
from dcpy.transforms.distributed.local_form.localize_reductions import LocalizeReductions
from dcpy.transforms.distributed.owner_computes.distribute_map import DistributeMap
from dcpy.transforms.distributed.owner_computes.pack_returned_views import PackReturnedViews
from dcpy.transforms.distributed.owner_computes.place_temporaries import PlaceTemporaries
from dcpy.transforms.distributed.owner_computes.whole_copies import WholeCopies
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
RESULTS = Pipeline("results", PackReturnedViews())
TEMPORARIES = Pipeline("temporaries", PlaceTemporaries())
GATHERED = Pipeline("gathered", WholeCopies(everything=True))
LOCALIZE = Pipeline("one-rank", Localize())
OVERLAP = Pipeline("overlap", OverlapExchange())
