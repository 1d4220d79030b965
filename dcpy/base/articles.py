"""Articles of nouns in messages."""

from __future__ import annotations


def with_article(noun: str) -> str:
    """``a check``, ``an einsum``."""
    return f"an {noun}" if noun[:1].lower() in tuple("aeiou") else f"a {noun}"
