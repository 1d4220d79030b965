"""Programs of science for the gallery of the site: each has sizes, arguments, and a figure of its result.

`SMALL` and `LARGE` are the sizes that are tested and measured, `initialize(n)` makes the arguments, and
`draw(axes, result)` draws with matplotlib's axes.
"""
