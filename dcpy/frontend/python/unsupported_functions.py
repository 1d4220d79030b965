"""Unsupported functions of Python's: keyboard, files, clocks, containers; each with what to write instead."""

from __future__ import annotations

import builtins
import datetime
import functools
import io
import sys
import time
from typing import Any

from dcpy.frontend.numpy.unsupported_functions import OUTSIDE, Reason

_KEYBOARD = Reason(
    "it waits for the keyboard",
    "read it before the call, and pass the number as an argument: `program(float(input()))`",
)
_FILES = Reason("it reads or writes files", OUTSIDE)
_SYSTEM = Reason("it asks the operating system", OUTSIDE)
_CODE = Reason(
    "it runs or looks at Python code, and a program is machine code",
    "write the expression itself, or evaluate it outside of the program, and pass the result as an argument",
)
_CLOCK = Reason(
    "it reads a clock",
    "measure around the call of the program; or read the clock in Python: make `clock = "
    "dcpy.callback(time.perf_counter, returns=float)` at the top of the file, and call `clock()`",
)
_WAIT = Reason(
    "it only waits",
    "leave it out; or wait in Python: make `wait = dcpy.callback(time.sleep, returns=None)` at the top of the file",
)
_END = Reason("it ends Python", "raise an exception (`raise RuntimeError(...)`), or return what there is")
_DATES = Reason("compiled programs have no dates", "pass seconds or days as numbers")
_STATISTICS = {
    "mean": "np.mean(x)", "fmean": "np.mean(x)", "median": "np.median(x)", "variance": "np.var(x, ddof=1)",
    "stdev": "np.std(x, ddof=1)", "pvariance": "np.var(x)", "pstdev": "np.std(x)", "quantiles": "np.quantile(x, q)",
    "correlation": "np.corrcoef(x, y)[0, 1]", "covariance": "np.cov(x, y)[0, 1]",
    "geometric_mean": "np.exp(np.log(x).mean())",
}  # fmt: skip

_MODULES = {
    **dict.fromkeys(("os", "posix", "genericpath", "posixpath", "glob", "pathlib", "shutil", "tempfile"), _SYSTEM),
    **dict.fromkeys(("subprocess", "socket", "urllib.request", "platform", "getpass"), _SYSTEM),
}
_NAMES = {"io.open": "open", "posix": "os", "genericpath": "os.path", "posixpath": "os.path"}


@functools.cache
def _refusals() -> dict[Any, Reason]:
    quitters = {type(found).__call__: _END for name in ("exit", "quit") if (found := getattr(builtins, name, None))}
    code = (eval, exec, compile, globals, locals, vars, __import__)
    clocks = (time.time, time.perf_counter, time.monotonic, time.process_time, time.time_ns, time.perf_counter_ns)
    dates = (datetime.datetime.now, datetime.datetime.today, datetime.date.today)
    return {
        input: _KEYBOARD,
        io.open: _FILES,
        time.sleep: _WAIT,
        sys.exit: _END,
        **quitters,
        **dict.fromkeys(code, _CODE),
        **dict.fromkeys(clocks, _CLOCK),
        **dict.fromkeys(dates, _DATES),
    }


def refusal_of_python(function: Any) -> Reason | None:
    """Return why a function of Python's is not compiled; None where there is no reason to give."""
    try:
        found = _refusals().get(function)
    except TypeError:  # not hashable
        return None
    instead = _STATISTICS.get(getattr(function, "__name__", ""))
    if instead is not None and getattr(function, "__module__", "") == "statistics":
        return Reason("it computes with exact fractions of Python's", f"write {instead}")
    return found or _MODULES.get(getattr(function, "__module__", None) or "")


def known_as(name: str) -> str:
    """Return the name under which Python's users know a function: ``os.path.exists`` for ``genericpath.exists``."""
    if name.startswith("_sitebuiltins."):
        return "exit"
    module, _, member = name.rpartition(".")
    return _NAMES.get(name) or (f"{_NAMES[module]}.{member}" if module in _NAMES else name)
