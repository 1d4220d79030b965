"""The pipeline that distributes: homes, then what is to be sent. `localize` makes the program of one rank of it."""

from __future__ import annotations

from dcpy.transforms.distributed.distribute_map import DistributeMap
from dcpy.transforms.distributed.insert_communication import InsertCommunication
from dcpy.transforms.distributed.localize import Localize
from dcpy.transforms.pipeline import Pipeline

DISTRIBUTE = Pipeline("distribute", DistributeMap(), InsertCommunication())
LOCALIZE = Pipeline("one-rank", Localize())
