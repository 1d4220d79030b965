"""What an index shows of dcpy, and what messages tell people to install: one name, one home, one version."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import dcpy
from dcpy.base.installation import DISTRIBUTION, HOME, install_extra, installed_from

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
TEXTS = (".py", ".md", ".yml", ".yaml", ".cff", ".toml", ".ipynb", ".j2")
HINT = re.compile(
    r"""pip install (?:-e )?['"]?(\.(?=\[)|\w[\w.-]*)(?:\\*\[([a-z-]+))?|['"`](dcpy)\\*\[([a-z-]+)"""
)  # NAME, NAME[extra], or .[extra] in a clone
URL = re.compile(r"https://example\.org/[\w/.-]*")


def texts():
    folders = ("dcpy", "docs", "tests", "examples", "benchmarks", ".github")
    files = [path for folder in folders for path in sorted((ROOT / folder).rglob("*"))]
    for path in (*sorted(ROOT.glob("*")), *files):
        if (
            path.suffix in TEXTS and path.is_file() and path != Path(__file__) and path.parent.name != "decisions"
        ):  # those say why
            yield path.relative_to(ROOT), path.read_text(encoding="utf-8")


def test_the_project_is_named_by_the_constant():
    assert PROJECT["name"] == DISTRIBUTION


def test_hints_name_what_dcpy_was_installed_from(tmp_path):
    assert install_extra("mpi") == f"pip install -e '{ROOT}[mpi]'"
    clone, site = tmp_path / "my clone", tmp_path / "site-packages"
    note = site / "datacentric_python-0.1.dist-info" / "direct_url.json"
    for folder in (clone, note.parent):
        folder.mkdir(parents=True)
    note.write_text(json.dumps({"url": clone.as_uri(), "dir_info": {}}))
    assert installed_from(site) == ("", str(clone))
    wheel = tmp_path / "datacentric_python-0.1-cp311-cp311-linux_x86_64.whl"
    wheel.touch()
    note.write_text(json.dumps({"url": wheel.as_uri(), "archive_info": {}}))
    installed_from.cache_clear()
    assert installed_from(site) == ("", str(wheel))


@pytest.mark.parametrize("url", ["https://example.org/dcpy/dcpy.whl", "file:///no/such/folder"])
def test_hints_name_the_index_where_no_clone_is_left(url, tmp_path):
    note = tmp_path / "datacentric_python-0.1.dist-info" / "direct_url.json"
    assert installed_from(tmp_path) == ("", DISTRIBUTION)
    note.parent.mkdir()
    note.write_text(json.dumps({"url": url}))
    installed_from.cache_clear()
    assert installed_from(tmp_path) == ("", DISTRIBUTION)


def test_no_message_names_another_distribution():
    extras = PROJECT["optional-dependencies"]
    named, wrong = 0, []
    for path, text in texts():
        for match in HINT.finditer(text):
            name, extra = match[1] or match[3], match[2] or match[4]
            ours = name in (DISTRIBUTION, ".")
            named += ours
            stranger = name == "dcpy" or extra in extras
            if (extra and extra not in extras) if ours else stranger:
                wrong.append(f"{path}: {match[0]}")
    assert wrong == []
    assert named > 10


def test_hints_of_the_code_are_made_of_extras_that_there_are():
    asked = {
        extra
        for path, text in texts()
        if path.parts[0] == "dcpy"
        for extra in re.findall(r"install_extra\(['\"]([\w-]+)['\"]\)", text)
    }
    assert {"mpi", "gpu", "fft"} <= asked <= set(PROJECT["optional-dependencies"])


def test_addresses_are_below_the_one_home():
    assert all(url.startswith(HOME) for url in PROJECT["urls"].values())
    strangers = [f"{path}: {url}" for path, text in texts() for url in URL.findall(text) if not url.startswith(HOME)]
    assert strangers == []


def test_the_version_is_written_once():
    assert "version" in PROJECT["dynamic"]
    assert not re.search(r"^version: ", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+|rc\d+)?", dcpy.__version__)


def test_the_command_is_a_module_too():
    done = subprocess.run([sys.executable, "-m", "dcpy", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"dcpy {dcpy.__version__}\n"
