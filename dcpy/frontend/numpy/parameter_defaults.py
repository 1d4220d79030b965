"""Default values of parameters of NumPy's functions, as values."""

from __future__ import annotations

from dcpy.frontend.abstract_values.values import Static

NONE = Static(None)
TRUE = Static(True)
FALSE = Static(False)
NUMBER_0 = Static(0)
NUMBER_1 = Static(1)
LAST_AXIS = Static(-1)
SAMPLES = Static(50)
FLOAT = Static(float)
ORDER_C = Static("C")
ORDER_K = Static("K")
SAME_KIND = Static("same_kind")
TWO_NONES = Static((None, None))
