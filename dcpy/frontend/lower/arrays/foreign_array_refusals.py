"""Refusals of foreign arrays: computation with arrays of other libraries that a program reads from outside.

Their attributes that are numbers, shapes or arrays of NumPy's may be read: ``series.values``.
"""

from __future__ import annotations

from dcpy.base.errors import FrontendError
from dcpy.base.foreign_arrays import foreign_array
from dcpy.frontend.abstract_values.values import Static, Value


def refuse_foreign(*values: Value) -> None:
    """Raise `FrontendError` where one of the values is an array of another library."""
    for value in values:
        found = foreign_array(value.value) if isinstance(value, Static) else None
        if found is not None:
            raise FrontendError(
                f"this is {found.message}",
                notes=(found.note,),
                help=found.help("it", converts=False) if found.columns else "make an array of NumPy's of it outside of "
                f"the program: {found.to_numpy.format('it')}",
            )
