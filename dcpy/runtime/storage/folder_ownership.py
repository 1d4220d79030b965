"""Folder ownership: whether a folder belongs to its user alone, since the code in it is run.

A folder is only as safe as those that it lies in: a user who may rename one of them may put another one in its place.
So each must belong to the user or to the system's administrator, and no other user may write to it; unless it is
sticky, as ``/tmp`` is, where all users may add entries, and replace only their own. (OpenSSH and sudo ask the same of
the files that they trust.)
"""

from __future__ import annotations

import grp
import os
import stat
from collections.abc import Iterator
from pathlib import Path

ROOT = 0
NOBODY = 65534  # to whom folders seem to belong whose owner has no number in a container


def problem_of(folder: Path) -> str:
    """Return what is wrong with a private folder, in words; "" where nothing is, or where it does not exist yet."""
    try:
        facts = os.lstat(folder)
    except OSError:
        return ""  # not there, or not to be seen: then nothing of it is used
    if not stat.S_ISDIR(facts.st_mode):
        return "is not a folder"
    if facts.st_uid != os.geteuid():
        return f"belongs to user {facts.st_uid}, not to you ({os.geteuid()})"
    return "can be written by others" if facts.st_mode & 0o022 else ""


def problem_around(folder: Path) -> tuple[Path, str] | None:
    """The first folder around `folder` (links followed, too) that lets others replace it, and why; None: none does."""
    for parent in _parents(folder):
        problem = _problem_of_parent(parent)
        if problem:
            return parent, problem
    return None


def _parents(folder: Path) -> Iterator[Path]:
    plain = Path(os.path.abspath(folder))
    yield from dict.fromkeys((*reversed(plain.parents), *reversed(Path(os.path.realpath(plain)).parents)))


def _problem_of_parent(folder: Path) -> str:
    try:
        facts = os.lstat(folder)
    except OSError:
        return ""
    if facts.st_uid not in (os.geteuid(), ROOT, NOBODY):
        return f"belongs to user {facts.st_uid}, not to you ({os.geteuid()})"
    if stat.S_ISLNK(facts.st_mode) or facts.st_mode & stat.S_ISVTX:
        return ""
    if facts.st_mode & stat.S_IWOTH or (facts.st_mode & stat.S_IWGRP and not _is_own_group(facts.st_gid)):
        return "can be written by others"
    return ""


def _is_own_group(group: int) -> bool:
    """Return whether a group has no other members: many systems give each user one, to which new folders belong."""
    if group == ROOT:
        return True
    try:
        members = grp.getgrgid(group).gr_mem
    except KeyError:
        members = []
    return group == os.getegid() and len(members) <= 1
