"""The reference interpreter: what an SDFG means, in plain Python and NumPy.

Slow and obviously right: no pass, no code generator and no test decides what a program means, this package does.
`scalars` evaluates expressions, `memory` holds containers, `machine` runs blocks and nodes, `running` takes and
returns Python values, `race_detection` finds iterations that depend on each other.
"""

from dcpy.ir.interp.running import interpret, run

__all__ = ["interpret", "run"]
