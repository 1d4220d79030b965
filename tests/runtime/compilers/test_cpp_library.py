"""Programs that need no C++ library are compiled and linked without it."""

import numpy as np
import pytest

import dcpy
from dcpy.base.library_environment import Environment
from dcpy.base.options import resolve_options
from dcpy.base.platforms import LINUX, MACOS
from dcpy.codegen.artifact import Artifact, Signature, Unit
from dcpy.runtime.compilers.build import compile_flags
from dcpy.runtime.compilers.cpp_library import ONLY_C, VECTORS, link_words


def artifact(text: str, *libraries: str, header: str = "") -> Artifact:
    units = (Unit("program.cpp", text, "C++"), Unit("other.h", header))
    return Artifact(Signature("none", ()), units, environments=(Environment("foreign", libraries=libraries),))


PLAIN = artifact("#include <math.h>\nint one;")


def words(given: Artifact, family: str = "gcc", *, executable: bool = False) -> tuple[str, ...]:
    return link_words(given, family, executable=executable, platform=LINUX)


def test_words_of_compilers():
    assert words(PLAIN) == ONLY_C
    assert words(PLAIN, "clang") == words(PLAIN, "zig") == ("-nostdlib++",)
    assert words(PLAIN, executable=True) == link_words(PLAIN, "gcc", executable=False, platform=MACOS) == ()
    options = resolve_options().cpu
    assert "-fno-exceptions" in compile_flags(PLAIN, PLAIN.units[0], options)
    including = artifact("#include <vector>")
    assert "-fno-exceptions" not in compile_flags(including, including.units[0], options)


@pytest.mark.parametrize("given", [artifact("#include <vector>"), artifact('#include "mine.h"'), artifact("", "mine")])
def test_what_may_need_it_is_linked_with_it(given):
    assert words(given) == words(given, "clang") == ()


OWN_HEADER = artifact('#include "dcpy_table.h"', header="#include <vector>")


@pytest.mark.parametrize("given", [OWN_HEADER, artifact("", VECTORS)])
def test_what_needs_headers_of_others_or_vector_functions_does_without(given):
    assert words(given) == ONLY_C


def test_zig_does_without_beside_foreign_libraries():
    assert words(artifact("", "mine"), "zig") == ("-nostdlib++",)


def smoothed(a, n):
    total = 0.0
    for i in range(n):
        b = a * 0.5 + i
        a = np.exp(-b) + b.sum() / b.size
        if total < 0.0:
            raise ValueError("too large")
        total += a[i, 0] ** 3
    return a, total


@pytest.mark.cc
def test_a_program_with_buffers_threads_and_checks_is_not_linked_with_it(monkeypatch, tmp_path):
    monkeypatch.setenv("DCPY_CACHE_DIR", str(tmp_path))
    program = dcpy.program(smoothed)
    a = np.arange(60_000.0).reshape(300, 200) / 1000
    mine, total = program(a.copy(), 3)
    theirs, expected = smoothed(a.copy(), 3)
    np.testing.assert_allclose(mine, theirs, rtol=1e-12)
    np.testing.assert_allclose(total, expected, rtol=1e-12)
    with pytest.raises(IndexError):
        program(a.copy(), 301)
    libraries = [path.read_bytes() for path in tmp_path.rglob("program.so")]
    assert libraries
    assert not any(b"libstdc++" in library for library in libraries)


def test_flags_that_only_one_family_knows():
    options = resolve_options().cpu
    words = {family: compile_flags(PLAIN, PLAIN.units[0], options, family) for family in ("gcc", "clang", "zig")}
    assert [family for family, flags in words.items() if "-fno-split-paths" in flags] == ["gcc"]
