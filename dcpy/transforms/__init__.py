"""Transformations of SDFGs: their API, the simplify pass, optimizations of maps and loops, schedules, expansions.

Read `api` for what a transformation is, `catalog` for which there are, `pipeline` for how they run in rows.
"""
