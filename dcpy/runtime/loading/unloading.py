"""Unloading of libraries: when the last holder of a program is gone, its machine code leaves the memory of the process.

Holders are programs, their specializations, and calls that run. What a program returned holds none of it: results are
memory of their own. Buffers that a program kept for its next call are given back before (``NAME_exit``). These stay:

* libraries that programs are linked with (OpenMP, BLAS, a user's): their threads sleep in them;
* programs with threads of LLVM's OpenMP, which keeps addresses of places in the program that started a team;
* programs that know MPI, which may have been given their functions and variables;
* everything on other systems than Linux, where nothing of this has been tried.

The GIL is held meanwhile: a child that another thread forks would find the loader's lock taken, for ever.
"""

from __future__ import annotations

import ctypes
import os
import sys
import weakref

UNLOADS = sys.platform == "linux"
LASTING = ("kmp_set_blocktime", "MPI_Initialized")  # functions of libraries that may keep addresses of a program
_LINK_MAP, _NEEDED, _STRINGS = 2, 1, 5  # RTLD_DI_LINKMAP, DT_NEEDED, DT_STRTAB
_needed: dict[bytes, ctypes.CDLL] = {}


class _LinkMap(ctypes.Structure):
    """The beginning of a ``link_map``: a library in memory."""

    _fields_ = [("offset", ctypes.c_size_t), ("file", ctypes.c_char_p), ("dynamic", ctypes.c_void_p)]


class _Entry(ctypes.Structure):
    """An ``ElfW(Dyn)``: one fact for the loader."""

    _fields_ = [("tag", ctypes.c_ssize_t), ("value", ctypes.c_size_t)]


def unload_with_last_holder(library: ctypes.CDLL, leave: str) -> bool:
    """Unload a library as soon as this object is released; False where it has to stay.

    `leave`: the name of the function that is called before.
    """
    if not UNLOADS or any(address_of(library, name) for name in LASTING) or not _keep_needed(library):
        return False
    finalizer = weakref.finalize(library, _unload, library._handle, address_of(library, leave))
    finalizer.atexit = False  # threads may still run when the process ends
    return True


def address_of(library: ctypes.CDLL, name: str) -> int:
    """The address of a symbol; 0 where there is none. (Asked by attribute, ctypes keeps a cycle of references.)"""
    try:
        return ctypes.addressof(ctypes.c_char.in_dll(library, name))
    except ValueError:
        return 0


def _keep_needed(library: ctypes.CDLL) -> bool:
    """Let the libraries that this one is linked with stay in memory for ever; False where one of them is not found."""
    try:
        for name in _names_of_needed(library._handle):
            if name not in _needed:  # no handle of ctypes is ever closed
                _needed[name] = ctypes.CDLL(os.fsdecode(name), mode=os.RTLD_NOW | os.RTLD_NOLOAD)
    except OSError:
        return False
    return True


def _names_of_needed(handle: int) -> list[bytes]:
    """The libraries that the loader knows. Raises `OSError`."""
    found = ctypes.POINTER(_LinkMap)()
    if ctypes.PyDLL(None).dlinfo(ctypes.c_void_p(handle), _LINK_MAP, ctypes.byref(found)) != 0:
        raise OSError("dlinfo")
    loaded = found.contents
    facts: list[tuple[int, int]] = []
    entries = ctypes.cast(loaded.dynamic, ctypes.POINTER(_Entry))
    while entries[len(facts)].tag != 0:
        facts.append((entries[len(facts)].tag, entries[len(facts)].value))
    strings = next(value for tag, value in facts if tag == _STRINGS)
    if strings < loaded.offset:  # some systems write the address where it is in memory over that in the file
        strings += loaded.offset
    return [ctypes.string_at(strings + value) for tag, value in facts if tag == _NEEDED]


def _unload(handle: int, leave: int) -> None:
    if leave:
        ctypes.PYFUNCTYPE(None)(leave)()
    ctypes.PyDLL(None).dlclose(ctypes.c_void_p(handle))
