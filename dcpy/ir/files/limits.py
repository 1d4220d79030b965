"""Limits on the parts of an SDFG: readers and rules refuse larger ones, so that no document exhausts anything.

Walks of trees are recursive, here and in C++ compilers; numbers of symbolic expressions have no width of their own.
Programs that people write are far from all of these.
"""

from __future__ import annotations

DEEPEST_EXPRESSION = 100  # operations in each other
DEEPEST_REGION = 48  # loops, branches and maps in each other
DEEPEST_DOCUMENT = 320  # lists and objects in each other: an operation is three of them, a loop five
MOST_BITS = 1024  # of a number in a symbolic expression
HIGHEST_POWER = 64  # that a text may write
