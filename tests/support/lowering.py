"""Functions lowered and interpreted as written: the frontend against NumPy, without a compiler or a transformation."""

import copy
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dcpy import plugins
from dcpy.base.errors import DcpyError
from dcpy.frontend.lower.function_to_sdfg import Lowered, lower_function
from dcpy.frontend.specialize.types_from_call import types_from_call
from dcpy.ir.interp import run
from dcpy.ir.text import print_sdfg
from dcpy.ir.verify import verify
from dcpy.programs.signatures import Convention
from tests.support.oracles import assert_equal

Function = Callable[..., Any]


def lower(function: Function, *arguments: Any) -> Lowered:
    """The function for arguments like these."""
    plugins.load()
    return lower_function(function, types_from_call(_named(function, arguments)))


def text(function: Function, *arguments: Any) -> str:
    """The SDFG as written."""
    return print_sdfg(lower(function, *arguments).sdfg)


def body(function: Function, *arguments: Any) -> str:
    """The SDFG as written, without its first line, last brace and indentation."""
    lines = text(function, *arguments).strip().split("\n")[1:-1]
    return "\n".join(line[2:] for line in lines)


def refusal(function: Function, *arguments: Any) -> str:
    """The error of a function that is refused, without its place: the source would say whatever a test asks for."""
    lines = str(_refused(function, *arguments)).split("\n")
    return "\n".join([lines[0], *(line for line in lines if line.startswith("  = "))])


def refused_line(function: Function, *arguments: Any) -> str:
    """The line of the source at which a function is refused."""
    span = _refused(function, *arguments).span
    assert span is not None
    return span.excerpt().strip()


def _refused(function: Function, *arguments: Any) -> DcpyError:
    with pytest.raises(DcpyError) as caught:
        lower(function, *arguments)
    return caught.value


def same(function: Function, *arguments: Any, rtol: float = 0.0) -> None:
    """Results, arguments afterwards and exceptions are those of Python, in the interpreter."""
    theirs, mine = copy.deepcopy(arguments), copy.deepcopy(arguments)
    expected, raised = _outcome(lambda: function(*theirs))
    lowered = lower(function, *mine)
    verify(lowered.sdfg)
    convention = Convention.of(lowered, _named(function, mine))
    given = {extra.name: extra.array for extra in lowered.extra_arguments}
    known = {*lowered.sdfg.containers, *lowered.sdfg.symbols}
    given |= {name: value for name, value in _named(function, mine).items() if name in known}
    got, error = _outcome(lambda: convention.delivered(_named(function, mine), run(lowered.sdfg, given)))
    assert type(error) is type(raised), f"{error!r} instead of {raised!r}"
    if raised is not None:
        assert str(error).strip() == str(raised).strip()
        return
    assert_equal(got, expected, rtol)
    assert_equal(tuple(mine), tuple(theirs), rtol)
    assert _returned(got, mine) == _returned(expected, theirs)


def _returned(result: Any, arguments: tuple[Any, ...]) -> list[list[int]]:
    """For each result the arguments that it is itself."""
    results = result if isinstance(result, tuple) else (result,)
    arrays = {k: argument for k, argument in enumerate(arguments) if isinstance(argument, np.ndarray)}
    return [[k for k, array in arrays.items() if one is array] for one in results]


def _named(function: Function, arguments: tuple[Any, ...]) -> dict[str, Any]:
    return dict(zip(inspect.signature(function).parameters, arguments, strict=False))


def _outcome(call: Callable[[], Any]) -> tuple[Any, Exception | None]:
    try:
        with np.errstate(all="ignore"):
            return call(), None
    except DcpyError:
        raise
    except Exception as error:
        return None, error
