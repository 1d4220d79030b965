"""The order of search results on the site: answers for users first, decisions last. A hook of MkDocs."""

from __future__ import annotations

from typing import Any

#: how much hits on the pages of a folder count; the others count once
BOOSTS = {
    "faq.md": 4.0,
    "get-started/": 4.0,
    "guide/": 2.0,
    "how-to/": 1.5,
    "tutorials/": 1.5,
    "decisions/": 0.1,
    "earlier.md": 0.1,
}


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> None:
    """Give a page its weight in the index of the search."""
    for place, boost in BOOSTS.items():
        if page.file.src_uri.startswith(place):
            page.meta["search"] = {"boost": boost}
