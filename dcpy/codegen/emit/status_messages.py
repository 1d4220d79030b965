"""Status messages: the C function ``NAME_message``, in a library that is used without Python."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dcpy.codegen.artifact import Check
from dcpy.codegen.emit.dialect import Dialect

LONGEST = 1024  # bytes of one message, with its numbers
_HEAD = """
{foreign} int snprintf(char *, size_t, const char *, ...);

{exported} const char *{name}_message(int32_t status) {{
    static {local} char text[{longest}];
    text[0] = 0;
    switch (status) {{
"""
_TAIL = """    }
    return text;
}
"""


def message_function(name: str, checks: Sequence[Check], dialect: Dialect) -> str:
    """Return the function behind a program with these checks: it writes the message of the thread's last failure."""
    cases = "".join(f"        case {number}: {_printed(check)} break;\n" for number, check in enumerate(checks, 1))
    words = {"foreign": dialect.word("foreign"), "exported": dialect.word("exported"), "local": dialect.word("local")}
    return _HEAD.format(name=name, longest=LONGEST, **words).replace("\n const", "\nconst") + cases + _TAIL


def _printed(check: Check) -> str:
    parts = re.split(r"\{([0-3])\}", check.message)
    form = "%lld".join(part.replace("%", "%%") for part in parts[::2])
    numbers = "".join(f", (long long)error[{number}]" for number in parts[1::2])
    place = f" ({', '.join((str(check.span), *check.span.call_notes()))})" if check.span is not None else ""
    text = f"{check.exception}: {form}{place.replace('%', '%%')}"
    return f"snprintf(text, sizeof text, {quoted(text)}{numbers});"


def quoted(text: str) -> str:
    """A string literal of C: everything but plain characters by its bytes."""
    data = text.encode(errors="backslashreplace")
    plain = (chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}" for byte in data)
    return f'"{"".join(plain)}"'
