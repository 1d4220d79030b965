"""Analyses of programs on many ranks: owners of elements, costs of copies, and values that all ranks share.

`ownership` has the formulas of distributions, `communication_cost` the time of copies between them, `uniformity` the
values that are the same on all ranks.
"""
