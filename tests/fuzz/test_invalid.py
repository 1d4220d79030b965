"""Programs that are wrong are refused by errors of dcpy's that have a place; `make fuzz-invalid N=10000` has more."""

from collections import Counter

import pytest

import dcpy
from tests.fuzz import invalid
from tests.fuzz.program import HEAD, Program

#: what the campaign has found
FOUND = (
    "return np.ceil(np.int8(None))",
    "@dcpy.map\ndef body(i: _[0:2]):\n    yield from a\nreturn a",
    "t = [b, a]\nt[0], t[1] = (t[1], [t][0])\nt[0] += 1\nreturn t[0]",
    "x = []\nfor i in range(k):\n    x.append(x)\nreturn a",
    "return (1, 2).count(key=3)",
    "return (1, 2).index()",
    "return isinstance(a, 3)",
    "while k < 3:\n    k += 1\n    x = y = []\n    x.append(y)\nreturn a",
    "return len(range)",
    "return a.astype(np)",
    "t = {}\nt[['x']] = k\nreturn a",
    "return np.einsum(c, 'ij,ij->', c)",
)


def test_programs_that_are_wrong_are_refused():
    found = invalid.check(range(9000, 9200))
    assert found.failures == []
    assert found.outcomes.keys() <= {"refused", "refused later", "raised", "valid"}
    assert found.outcomes["refused"] > 100


@pytest.mark.parametrize("body", FOUND)
def test_faults_that_were_found_are_refusals(body):
    source = HEAD + "".join(f"    {line}\n" for line in body.split("\n"))
    assert invalid.outcome_of(Program(source)) == "refused"


def test_a_seed_names_a_program():
    sources = Counter(invalid.mutated(seed).source for seed in (3, 3, 4))
    assert sorted(sources.values()) == [1, 2]


def test_faults_and_hidden_places_are_told(monkeypatch):
    def outcome(error):
        def fail(*_, **__):
            raise error

        monkeypatch.setattr(dcpy, "program", fail)
        return invalid.outcome_of(Program(HEAD + "    return a\n")).partition("\n")[0]

    assert outcome(dcpy.CompilerFault("it broke")) == "fault"
    assert outcome(dcpy.FrontendError("no")) == "no place"
    assert outcome(KeyError("x")) == "escaped"
