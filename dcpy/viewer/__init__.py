"""Pictures of SDFGs: one HTML file to look at in any browser, without a network or a server.

`draw` turns the IR into pictures, `layered_layout` places graphs, `page` makes the document. Read `draw` first.
"""

from dcpy.viewer.page import notebook_html, view_html

__all__ = ["notebook_html", "view_html"]
