"""Files of SDFGs: what is written comes back; what is broken, newer or unknown is refused."""

from __future__ import annotations

import copy
import json as stdlib_json
import random
import textwrap

import pytest

from dcpy.base.errors import DcpyError, ParseError
from dcpy.base.source import SrcSpan
from dcpy.ir.expressions.scalar import Const
from dcpy.ir.files import json
from dcpy.ir.nodes import Tasklet
from dcpy.ir.text import parse_sdfg, print_sdfg
from dcpy.ir.types import float32
from dcpy.ir.verify import verify
from tests.ir.text.test_round_trip import PROGRAMS

SMALL = "sdfg @f(A: f64[N]) { state s { tasklet t (a <- A[0]) -> (o -> A[1]) { o = a * 2 } } }"


def through_text(sdfg):
    return json.from_json(stdlib_json.loads(stdlib_json.dumps(json.to_json(sdfg), allow_nan=False)))


@pytest.mark.parametrize("name", PROGRAMS)
def test_everything_comes_back(name):
    sdfg = parse_sdfg(textwrap.dedent(PROGRAMS[name]))
    assert print_sdfg(through_text(sdfg)) == print_sdfg(sdfg)
    assert json.to_json(through_text(sdfg)) == json.to_json(sdfg)


def test_spans_and_history_are_kept():
    sdfg = parse_sdfg(SMALL)
    span = SrcSpan("gemm.py", 12, 4, 12, 9)
    node = next(sdfg.body.walk_nodes())
    node.span, node.state.span, sdfg.history = span, span, ["map-fusion /0"]
    loaded = through_text(sdfg)
    fresh = next(loaded.body.walk_nodes())
    assert (fresh.span, fresh.state.span, loaded.history) == (span, span, ["map-fusion /0"])
    assert fresh.state is loaded.body.blocks[0]
    assert loaded.body.owner is loaded


def test_numbers_are_exact():
    sdfg = parse_sdfg(SMALL)
    node = next(sdfg.body.walk_nodes())
    values = [0.1, -0.0, float("nan"), float("-inf"), 1e300, complex(0.0, float("inf")), 2**70, True]
    node.code = tuple((f"t{i}", Const(value, float32)) for i, value in enumerate(values))
    fresh = next(through_text(sdfg).body.walk_nodes())
    assert isinstance(fresh, Tasklet)
    assert [(type(c.value), repr(c.value)) for _, c in fresh.code] == [(type(v), repr(v)) for v in values]


@pytest.mark.parametrize("factor", ["2", "1.5", "complex(1.5, -2.0)"])
def test_factors_of_products_are_numbers_of_any_kind(factor):
    """A field that takes complex numbers takes those that are not."""
    sdfg = parse_sdfg(f"""sdfg @f(A: c128[N, N], B: c128[N, N], C: c128[N, N]) symbols(N: size) {{ state {{
        blas.gemm (a <- A[0:N, 0:N], b <- B[0:N, 0:N]) -> (c -> C[0:N, 0:N]) {{alpha = {factor}}} }} }}""")
    assert print_sdfg(through_text(sdfg)) == print_sdfg(sdfg)
    assert f"alpha = {factor}" in print_sdfg(sdfg)


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "f.sdfg"
    json.save(parse_sdfg(SMALL), path)
    before = path.read_bytes()
    broken = parse_sdfg(SMALL)
    broken.results = (object(),)
    with pytest.raises(Exception, match="has no JSON"):
        json.save(broken, path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["f.sdfg"]
    assert print_sdfg(json.load(path)) == print_sdfg(parse_sdfg(SMALL))


def test_every_truncation_is_refused(tmp_path):
    path = tmp_path / "f.sdfg"
    json.save(parse_sdfg(SMALL), path)
    text = path.read_bytes().rstrip()
    for length in range(0, len(text), 7):
        path.write_bytes(text[:length])
        with pytest.raises(ParseError, match=r"f\.sdfg is not a complete JSON file"):
            json.load(path)


def damaged(**changes):
    document = json.to_json(parse_sdfg(SMALL))
    document["sdfgs"][0].update(changes)
    return document


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], 'it has no version under "dcpy"'),
        ({"dcpy": "1"}, 'it has no version under "dcpy"'),
        ({"dcpy": 2, "sdfgs": []}, "this document has version 2, and this dcpy reads up to 1"),
        ({"dcpy": 1}, "this document holds no SDFG"),
        ({"dcpy": 1, "sdfgs": [{}]}, "other fields than it should"),
        (damaged(name=3), "sdfg.name cannot be int 3"),
        (damaged(body={"regiment": []}), "nothing in an SDFG is of kind 'regiment'"),
        (damaged(body={"region": []}), "this document is damaged"),
        (damaged(body={"region": [{"dict": {}}, [{"map": {}}]]}), "this document is damaged"),
        (damaged(body={"region": [{"dict": {"x": 3}}, []]}), "region.containers cannot be dict"),
        (damaged(body={"region": [{"dict": {}}, [{"loop": {"params": "i"}}]]}), "a loop has no field 'params'"),
        (damaged(body={"region": [{"dict": {}}, [{"loop": {"param": ["i"]}}]]}), "loop.param cannot be tuple"),
        (damaged(results=[{"result": {"kind": "array"}, "x": 1}]), "expected one kind of value"),
        (damaged(symbols={"dict": {"N": {"dtype": "f65"}}}), "this document is damaged"),
        (damaged(structure={"expr": "__import__('os')"}), "in the expression"),
        (damaged(structure={"sdfg": 7}), "this document has no SDFG number 7"),
    ],
)
def test_what_is_no_sdfg_is_refused(document, message):
    with pytest.raises(ParseError) as caught:
        json.from_json(document)
    assert message in caught.value.message


@pytest.mark.parametrize("kind", ["reference", "structure"])
def test_what_older_versions_had_is_refused_with_what_to_write_instead(kind):
    with pytest.raises(ParseError) as caught:
        json.from_json(damaged(body={"region": [{"dict": {"r": {kind: {}}}}, []]}))
    assert "are gone" in caught.value.help



def test_an_older_version_is_migrated(monkeypatch):
    monkeypatch.setattr(json, "VERSION", 2)
    monkeypatch.setitem(json.MIGRATIONS, 1, lambda old: {**old, "sdfgs": old["programs"]})
    document = json.to_json(parse_sdfg(SMALL))
    old = {"dcpy": 1, "programs": document["sdfgs"]}
    assert print_sdfg(json.from_json(old)) == print_sdfg(parse_sdfg(SMALL))


def test_whatever_a_file_holds_is_an_sdfg_or_refused():
    rng = random.Random(5)
    documents = [json.to_json(parse_sdfg(textwrap.dedent(text))) for text in PROGRAMS.values()]
    refused = 0
    for _ in range(400):
        document = copy.deepcopy(rng.choice(documents))
        put_anything(document["sdfgs"], rng)
        try:
            verify(json.from_json(document))
        except DcpyError:
            refused += 1
    assert 200 < refused < 400


def put_anything(document, rng):
    """Something else at a place inside of a document: a value of JSON, or what stands at another place."""
    places = list(places_in(document))
    holder, key = rng.choice(places)
    if rng.random() < 0.5:
        holder[key] = rng.choice([None, -1, 2**70, True, 1.5, "", "A", [], [[0]], {}, {"dict": {}}, {"expr": "N"}])
    else:
        other, place = rng.choice(places)
        holder[key] = copy.deepcopy(other[place])


def places_in(part):
    for key, inner in part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ():
        yield part, key
        yield from places_in(inner)
