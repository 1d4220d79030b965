"""W13: the same function in another file, folder or line is the same compiled program; messages find its place."""

import importlib.util
import itertools
import re
import sys

import numpy as np
import pytest

import dcpy
from dcpy.cli.main import main
from dcpy.codegen.annotated_source import listings
from dcpy.driver import artifact_of, program_cache
from dcpy.programs.signatures import signature_of
from dcpy.runtime.compilers.openmp_flags import SHARES

pytestmark = pytest.mark.cc

TEXT = '''"""A module."""
import numpy as np
import dcpy


def halved(x, k):
    if x[0] < 0:
        raise ValueError("negative")
    return x[k] / 2


@dcpy.program
def kernel(a, k):
    assert k < 9, f"{k} is too large"
    b = np.sin(a) ** 2
    return b + halved(a, k)
'''


@pytest.fixture(name="cache", autouse=True)
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("DCPY_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return program_cache


def module_at(path, text=TEXT):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(f"made_{path.parent.name}_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def call(module, k=2):
    a = np.linspace(0.5, 1.5, 7)
    np.testing.assert_allclose(module.kernel(a, k), np.sin(a) ** 2 + a[k] / 2)
    return module.kernel.profile


def test_w13_a_copy_elsewhere_is_found_without_lowering(tmp_path, cache):
    first = call(module_at(tmp_path / "one" / "code.py"))
    assert first["compiler"] > 0
    for place in ("two/code.py", "one/other.py", "three/another.py"):
        assert set(call(module_at(tmp_path / place))) == {"frontend"}  # a warm start: nothing is even lowered
    moved = module_at(tmp_path / "four" / "code.py", TEXT.replace("import dcpy\n", "import dcpy\n\n# said\n\n"))
    assert set(call(moved)) == {"frontend"}
    assert len(cache().entries()) == 1


def test_w13_another_layout_needs_no_compiler(tmp_path, cache):
    call(module_at(tmp_path / "one" / "code.py"))
    spaced = TEXT.replace("    b = np", "\n    # the square\n    b = np").replace("x[k] / 2", "(x[k]\n / 2)")
    profile = call(module_at(tmp_path / "two" / "code.py", spaced))
    assert "lower" in profile
    assert profile["compiler"] == 0
    assert len(cache().entries()) == 1
    assert set(call(module_at(tmp_path / "three" / "code.py", spaced))) == {"frontend"}


@pytest.mark.parametrize("change", [("** 2", "** 3"), ("/ 2", "/ 3"), ("x[k]", "x[-k]")])
def test_w13_another_meaning_is_another_program(tmp_path, cache, change):
    module_at(tmp_path / "one" / "code.py").kernel(np.ones(7), 2)
    module_at(tmp_path / "two" / "code.py", TEXT.replace(*change)).kernel(np.ones(7), 2)
    assert len(cache().entries()) == 2


def mistake(module, *arguments):
    with pytest.raises((IndexError, ValueError, AssertionError)) as caught:
        module.kernel(*arguments)
    return type(caught.value), caught.value.__notes__[0]


MISTAKES = {
    "IndexError": ((np.ones(4), 5), 9, "    return x[k] / 2"),
    "ValueError": ((-np.ones(4), 2), 8, '        raise ValueError("negative")'),
    "AssertionError": ((np.ones(12), 10), 14, '    assert k < 9, f"{k} is too large"'),
}


@pytest.mark.parametrize("kind", MISTAKES)
def test_w13_messages_of_each_copy_name_its_own_place(tmp_path, kind):
    arguments, line, text = MISTAKES[kind]
    copies = {
        "first.py": (TEXT, 0),
        "second.py": (TEXT, 0),
        "lower.py": (TEXT.replace("import dcpy\n", "import dcpy\n\n\n"), 2),
        "spaced.py": (TEXT.replace("import dcpy\n", "import dcpy\n# one\n"), 1),
    }
    for name, (source, below) in copies.items():
        module = module_at(tmp_path / name.partition(".")[0] / name, source)
        raised, note = mistake(module, *arguments)
        assert raised.__name__ == kind
        assert note.startswith(f"  --> {name}:{line + below}:"), note
        assert text in note
        call(module)


def test_w13_places_after_a_change_of_the_layout(tmp_path):
    mistake(module_at(tmp_path / "one" / "code.py"), np.ones(4), 5)
    spaced = TEXT.replace("    return x[k]", "\n\n    return x[k]")
    _, note = mistake(module_at(tmp_path / "two" / "code.py", spaced), np.ones(4), 5)
    assert note.startswith("  --> code.py:11:")


def test_w13_helpers_of_other_files_have_places_of_their_own(tmp_path, monkeypatch):
    """The functions of one program may be in several files, which move apart."""
    head, _, tail = TEXT.partition("@dcpy.program")
    for folder, above in (("one", ""), ("two", "# a line\n")):
        monkeypatch.syspath_prepend(str(tmp_path / folder))
        module_at(tmp_path / folder / "parts.py", above + head)
        monkeypatch.delitem(sys.modules, "parts", raising=False)
        imports = f"import dcpy\nimport numpy as np\nfrom parts import halved\n{above}\n@dcpy.program{tail}"
        module = module_at(tmp_path / folder / "whole.py", imports)
        _, note = mistake(module, np.ones(4), 5)
        assert note.startswith(f"  --> parts.py:{9 + len(above.splitlines())}:")
        _, note = mistake(module, np.ones(12), 10)
        assert note.startswith(f"  --> whole.py:{7 + len(above.splitlines())}:")
    assert {len(entry.used_by) for entry in program_cache().entries()} == {2}  # one entry for each version


def test_w13_generated_code_names_no_file(tmp_path, cache):
    module = module_at(tmp_path / "one" / "code.py")
    call(module)
    (entry,) = cache().entries()
    folder = cache().programs / entry.key
    files = {path.name for path in folder.iterdir()} - {SHARES.name}  # beside programs by clang
    assert files == {"kernel.cpp", "program.so", "manifest", "used-by"}
    for path in folder.iterdir():
        assert (b"code.py" in path.read_bytes()) == (path.name == "used-by"), path
    for record in cache().records.iterdir():
        assert b"code.py" not in record.read_bytes()
        assert str(tmp_path).encode() not in record.read_bytes()


def test_w13_the_cache_says_where_a_program_is(tmp_path, cache, capsys):
    for place in ("one/code.py", "two/code.py", "one/code.py", "three/code.py"):
        call(module_at(tmp_path / place))
    (entry,) = cache().entries()
    assert entry.used_by == tuple(str(tmp_path / name / "code.py") for name in ("one", "two", "three"))
    assert main(["cache", "list"]) == 0
    assert f"kernel  in {tmp_path / 'three' / 'code.py'} and 2 more\n" in capsys.readouterr().out


def test_w13_functions_of_functions_and_lambdas(tmp_path, cache):
    text = "import dcpy\ndef made(n):\n    return dcpy.program(lambda a, k: a[k] * n)\nkernel = made(3)\n"
    counts = []
    for place, above in (("one", ""), ("two", "\n\n")):
        module = module_at(tmp_path / place / "code.py", above + text)
        assert module.kernel(np.ones(3), 1) == 3
        with pytest.raises(IndexError) as caught:
            module.kernel(np.ones(3), 5)
        assert caught.value.__notes__[0].startswith(f"  --> code.py:{3 + len(above)}:")
        counts.append(len(cache().entries()))
    assert counts[0] == counts[1]
    assert set(module.kernel.profile) == {"frontend"}


def test_w13_a_program_of_an_sdfg_is_shared_too(tmp_path, cache):
    modules = [module_at(tmp_path / place / "code.py") for place in ("one", "two")]
    compiled = [module.kernel.to_sdfg(np.ones(4), 1).compile() for module in modules]
    assert compiled[0].path == compiled[1].path
    for module, program in zip(modules, compiled):
        np.testing.assert_allclose(program(np.ones(4), 1), dcpy.program(module.kernel.function)(np.ones(4), 1))
        with pytest.raises(IndexError) as caught:
            program(np.ones(4), 5)
        assert caught.value.__notes__[0].startswith("  --> code.py:9:")


def test_w13_what_numpy_writes_in_python_is_placed_at_the_call(tmp_path, cache):
    head = "import numpy as np\nimport dcpy\n@dcpy.program\n"
    text = head + "def kernel(a):\n    b = a + 1\n    return np.interp(b, a, a)\n"
    for place, above in (("one", ""), ("two", "\n\n")):
        module = module_at(tmp_path / place / "code.py", above + text)
        with pytest.raises(ValueError, match="array of sample points is empty") as caught:
            module.kernel(np.ones(0))
        assert caught.value.__notes__[0].startswith(f"  --> code.py:{6 + len(above)}:")
    assert set(module.kernel.profile) == {"frontend"}


def test_w13_listings_name_the_places(tmp_path):
    program = module_at(tmp_path / "one" / "code.py").kernel
    sdfg = program.to_sdfg(np.ones(4), 1)
    text = listings(artifact_of(sdfg, signature_of(sdfg), program.options))[0][1]
    marks = re.findall(r"  // code.py:(\d+)$", text, re.MULTILINE)
    assert {"9", "16"} <= set(marks)
    assert not any(a == b for a, b in itertools.pairwise(marks[1:]))
