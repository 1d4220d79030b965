"""The site builds, strictly: each page is found, each link leads somewhere, each name of the API exists."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from docs.generate import DOCS, MADE_FOR_THE_SITE, page


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    shutil.copy(DOCS.parent / "mkdocs.yml", folder)
    shutil.copytree(DOCS, folder / "docs", ignore=shutil.ignore_patterns("__pycache__"))
    for name in MADE_FOR_THE_SITE:
        (folder / "docs" / name).parent.mkdir(exist_ok=True)
        (folder / "docs" / name).write_text(page(name))
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder / "built")]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(DOCS.parent)}
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return folder / "built"


def test_links_of_the_landing_page_lead_somewhere(site):
    text = (site / "index.html").read_text()
    (article,) = re.findall("<article.*?</article>", text, re.DOTALL)
    links = [link.partition("#")[0] for link in re.findall('href="([^"]+)"', article)]
    inside = [link for link in links if link and "://" not in link]
    assert len(inside) > 10
    assert [link for link in inside if not (site / link).exists()] == []


def test_the_api_has_programs_and_sdfgs(site):
    text = (site / "reference" / "api" / "index.html").read_text()
    assert "dcpy.api.program" in text
    assert "dcpy.ir.building.builder.SdfgBuilder" in text


WORDS = ("install", "conda", "macOS", "compiler", "cache", "progress", "thread", "GPU", "gradient", "vectorize")


@pytest.mark.parametrize("word", WORDS)
def test_the_search_finds_what_newcomers_look_for(site, word):
    sections = json.loads((site / "search" / "search_index.json").read_text())["docs"]
    answers = [each for each in sections if each["location"].startswith(("faq/#", "get-started/"))]
    found = [each["text"] for each in answers if re.search(rf"\b{word}", f"{each['title']} {each['location']}", re.I)]
    assert any(len(text.split()) >= 12 for text in found)


def test_answers_for_users_come_before_decisions(site):
    sections = json.loads((site / "search" / "search_index.json").read_text())["docs"]
    answers = [each.get("boost", 1) for each in sections if each["location"].startswith("faq/")]
    decisions = [each.get("boost", 1) for each in sections if each["location"].startswith("decisions/0")]
    assert min(answers) > 1 > max(decisions)
