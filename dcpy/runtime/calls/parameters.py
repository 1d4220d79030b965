"""Parameters of Python functions for the native dispatcher, and errors for calls that do not match them.

The dispatcher binds arguments and comes here only when that has failed: for calls that give symbols by keyword, and
for the TypeError that Python itself would raise, in its words.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from dcpy.base.errors import FrontendError
from dcpy.base.source import definition_span
from dcpy.base.tracebacks import raised_by_program

Parameters = tuple[tuple[Any, ...], ...]


def parameters_of(function: Callable[..., Any]) -> tuple[Parameters, int, int]:
    """(name,) or (name, default) per parameter, how many are positional-only, and how many keyword-only.

    ``*args`` is one parameter: a tuple. Raises `FrontendError` for ``**kwargs``.
    """
    parameters = inspect.signature(function).parameters.values()
    for parameter in parameters:
        if parameter.kind is parameter.VAR_KEYWORD:
            raise FrontendError(
                f"{function.__qualname__} takes {parameter}: which arguments that are is not known at compile time",
                span=definition_span(function.__code__),
                notes=("each argument is compiled for its own type",),
                help="give each argument its own parameter",
            )
    kinds = [parameter.kind for parameter in parameters]
    encoded = tuple((p.name,) if p.default is p.empty else (p.name, p.default) for p in parameters)
    return encoded, kinds.count(inspect.Parameter.POSITIONAL_ONLY), kinds.count(inspect.Parameter.KEYWORD_ONLY)


def call_otherwise(
    name: str,
    parameters: Parameters,
    positional_only: int,
    keyword_only: int,
    args: tuple[object, ...],
    keywords: tuple[str, ...],
    values: tuple[object, ...],
    miss: Callable[..., Any] | None = None,
) -> Any:
    """The result of a call whose arguments do not match the parameters, where its keywords are symbols.

    The dispatcher's owner knows: `call_with_symbols`. Every other call raises what Python would.
    """
    with_symbols = getattr(getattr(miss, "__self__", None), "call_with_symbols", None)
    if with_symbols is not None:
        result = with_symbols(args, dict(zip(keywords, values, strict=True)))
        if result is not NotImplemented:
            return result
    raise raised_by_program(call_error(name, parameters, positional_only, keyword_only, args, keywords, miss))


def call_error(
    name: str,
    parameters: Parameters,
    positional_only: int,
    keyword_only: int,
    args: tuple[object, ...],
    keywords: tuple[str, ...],
    miss: Callable[..., Any] | None = None,
) -> TypeError:
    """Return Python's error, in Python's words, for a call whose arguments do not match the parameters.

    `parameters` are (name,) or (name, default); the first `positional_only` and the last `keyword_only` are so. Notes
    say where the program is defined, which `miss`, the dispatcher's method for other calls, knows.
    """
    error = _call_error(name, parameters, positional_only, keyword_only, args, keywords)
    names = [parameter[0] for parameter in parameters]
    code = getattr(getattr(getattr(miss, "__self__", None), "function", None), "__code__", None)
    if code is not None:
        error.add_note(definition_span(code).render())
    shown = ", ".join(p[0] if len(p) == 1 else f"{p[0]}={p[1]!r:.30}" for p in parameters)
    error.add_note(f"  = note: the program is {name}({shown})")
    unknown = [keyword for keyword in keywords if keyword not in names]
    near = difflib.get_close_matches(unknown[0], names, n=1) if unknown else []
    missing = [p[0] for k, p in enumerate(parameters) if len(p) == 1 and k >= len(args) and p[0] not in keywords]
    if near:
        error.add_note(f"  = help: did you mean {near[0]!r}?")
    elif missing:
        error.add_note(f"  = help: pass {_list(missing)}, or give it a default: `{missing[0]}=...`")
    elif len(args) > len(names):
        error.add_note(f"  = help: pass {len(names)}, or give the program one more parameter")
    return error


def _call_error(
    name: str,
    parameters: Parameters,
    positional_only: int,
    keyword_only: int,
    args: tuple[object, ...],
    keywords: tuple[str, ...],
) -> TypeError:
    names = [parameter[0] for parameter in parameters]
    positional = names[: len(names) - keyword_only]
    taken = dict.fromkeys(positional[: len(args)])
    for keyword in keywords:
        if keyword not in names[positional_only:]:
            wrong = [k for k in keywords if k in names[:positional_only]]
            if wrong:
                return TypeError(
                    f"{name}() got some positional-only arguments passed as keyword arguments: '{', '.join(wrong)}'"
                )
            return TypeError(f"{name}() got an unexpected keyword argument '{keyword}'")
        if keyword in taken:
            return TypeError(f"{name}() got multiple values for argument '{keyword}'")
        taken[keyword] = None
    if len(args) > len(positional):
        return _too_many(name, parameters[: len(positional)], len(args), [k for k in keywords if k not in positional])
    required = [parameter[0] for parameter in parameters if len(parameter) == 1 and parameter[0] not in taken]
    missing = [n for n in required if n in positional]
    kind = "positional" if missing else "keyword-only"
    missing = missing or required
    return TypeError(
        f"{name}() missing {len(missing)} required {kind} {plural('argument', len(missing))}: {_list(missing)}"
    )


def _too_many(name: str, positional: Sequence[tuple[Any, ...]], given: int, keyword_only: list[str]) -> TypeError:
    most = len(positional)
    least = sum(len(parameter) == 1 for parameter in positional)
    takes = f"{most}" if least == most else f"from {least} to {most}"
    count = f"{given}"
    if keyword_only:
        extra = len(keyword_only)
        count += f" positional {plural('argument', given)} (and {extra} keyword-only {plural('argument', extra)})"
    verb = "was" if given == 1 and not keyword_only else "were"
    noun = plural("argument", most if least == most else 2)
    return TypeError(f"{name}() takes {takes} positional {noun} but {count} {verb} given")


def plural(noun: str, count: int) -> str:
    """`noun` with an s unless there is one of it."""
    return noun if count == 1 else f"{noun}s"


def _list(names: list[str]) -> str:
    quoted = [f"'{name}'" for name in names]
    if len(quoted) <= 2:
        return " and ".join(quoted)
    return f"{', '.join(quoted[:-1])}, and {quoted[-1]}"
