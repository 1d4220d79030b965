"""Pending waits for a device: commands that follow may join one, or have to come behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dcpy.codegen.lir.tree import Statement

Rescue = Mapping[str, Statement]  #: commands that fetch arguments, by their names
NOTHING: Rescue = {}


@dataclass(frozen=True)
class PendingWait:
    """A wait, as a statement. Where `checks` fail on the device, `rescue` fetches what the device alone had before."""

    wait: Statement | None = None
    checks: bool = False
    rescue: Rescue = field(default_factory=dict)

    def joins(self, checks: bool, rescue: Rescue, fetches: str) -> bool:
        """Return whether another command may come before the wait, too: where a check fails, each argument is fetched
        as it was before that one, or not at all."""
        if not self.checks:
            return True
        return (not fetches or fetches in self.rescue) and (not checks or rescue == self.rescue)
