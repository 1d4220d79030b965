"""`compiled`: a hand-written program, built in the cache that all tests share."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dcpy.base.options import resolve_options
from dcpy.codegen.artifact import Signature
from dcpy.runtime.dispatch import Dispatcher
from dcpy.runtime.loading.load import load
from tests.runtime.handwritten import artifact_of, dispatcher_for


@pytest.fixture
def compiled() -> Callable[..., Dispatcher]:
    """``compiled(signature, body, shapes=…, parameters=…, closure=…, guards=…)``."""

    def make(signature: Signature, body: str, *, shapes: str = "", **rest: object) -> Dispatcher:
        return dispatcher_for(load(artifact_of(signature, body, shapes=shapes), resolve_options()), **rest)

    return make
