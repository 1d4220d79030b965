"""The wheels that are configured: which Pythons and systems, and that metadata, workflow and configuration agree."""

import re
import tomllib
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")  # mkdocs brings it

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
WHEELS = PROJECT["tool"]["cibuildwheel"]


def test_each_python_of_the_metadata_has_a_wheel():
    told = re.findall(r":: (3\.\d+)$", "\n".join(PROJECT["project"]["classifiers"]), re.MULTILINE)
    built = [f"3.{minor}" for minor in re.findall(r"cp3(\d+)-", " ".join(WHEELS["build"]))]
    assert told == built
    assert PROJECT["project"]["requires-python"] == f">={told[0]}"


def test_the_demo_is_what_a_wheel_is_tested_by():
    assert all((ROOT / folder).is_dir() for folder in WHEELS["test-sources"])
    assert (ROOT / "benchmarks" / "demo.py").is_file() or (ROOT / "benchmarks" / "demo").is_dir()
    assert "--strip" in WHEELS["linux"]["repair-wheel-command"]


def test_workflows_and_templates_are_read():
    files = sorted((ROOT / ".github").rglob("*.yml"))
    assert len(files) >= 5
    parts = {path.name: yaml.safe_load(path.read_text()) for path in files}
    jobs = parts["wheels.yml"]["jobs"]
    assert jobs["publish"]["needs"] == ["wheels", "sdist"]
    assert set(jobs["publish"]["permissions"]) == {"id-token"}  # no secret is kept
    archs = [*WHEELS["linux"]["archs"], *WHEELS["macos"]["archs"]]
    assert len(jobs["wheels"]["strategy"]["matrix"]["machine"]) == len(archs)
    for name in ("wrong-result.yml", "slow-program.yml", "missing-function.yml"):
        assert {"name", "description", "body"} <= set(parts[name])
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["cff-version"] == "1.2.0"
