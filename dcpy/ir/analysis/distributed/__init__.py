"""Analyses of programs on many ranks: who owns which elements, what copies cost, and which values all ranks share.

`ownership` has the formulas of distributions, `communication_cost` the time of copies between them, `uniformity` the
values that are the same on all ranks.
"""
