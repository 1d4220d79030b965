"""What one can do with an SDFG in one's hands: look, transform, check, save, build, run."""

import json

import numpy as np
import pytest

import dcpy
from dcpy.transforms import InlineCall, LoopToMap, MapFusion, StateFusion
from examples import gemm, jacobi_2d

N = dcpy.symbol("N")


@dcpy.program
def scale_and_add(A: dcpy.float64[N], B: dcpy.float64[N]):
    scaled = A * 2
    B[:] = scaled + 1


@pytest.fixture
def sdfg() -> dcpy.SDFG:
    return scale_and_add.to_sdfg()


def values(run) -> np.ndarray:
    A, B = np.arange(5.0), np.zeros(5)
    run(A=A, B=B)
    return B


EXPECTED = np.arange(5.0) * 2 + 1


def test_as_written_and_simplified():
    written, simple = scale_and_add.to_sdfg(simplify=False), scale_and_add.to_sdfg()
    assert str(written).count("transient") > str(simple).count("transient")
    for each in (written, simple):
        each.validate()
        np.testing.assert_array_equal(values(each.interpret), EXPECTED)


def test_the_text_parses_again(sdfg):
    again = dcpy.parse(str(sdfg))
    assert str(again) == str(sdfg)
    np.testing.assert_array_equal(values(again.interpret), EXPECTED)


def test_save_and_load(sdfg, tmp_path):
    sdfg.save(tmp_path / "f.sdfg")
    again = dcpy.load(tmp_path / "f.sdfg")
    assert str(again) == str(sdfg)


def test_a_truncated_file_is_refused(sdfg, tmp_path):
    path = tmp_path / "f.sdfg"
    sdfg.save(path)
    path.write_text(path.read_text()[:-20])
    with pytest.raises(dcpy.DcpyError, match=r"f\.sdfg|truncated|end"):
        dcpy.load(path)


def test_apply_where_it_fits(sdfg):
    sdfg.apply(MapFusion)
    assert str(sdfg).count("map ") == 1
    assert sdfg.applied()["map-fusion"] == 1
    np.testing.assert_array_equal(values(sdfg.interpret), EXPECTED)


def test_apply_at_a_node(sdfg):
    first = next(node for node in sdfg.body.walk_nodes() if node.kind == "map")
    sdfg.apply(MapFusion, first=first)
    assert str(sdfg).count("map ") == 1


def test_apply_says_why_not(sdfg):
    with pytest.raises(dcpy.DcpyError, match="loop-to-map applies nowhere"):
        sdfg.apply(LoopToMap)


def test_apply_by_name_and_repeatedly():
    sdfg = jacobi_2d.jacobi_2d.to_sdfg()
    assert sdfg.apply_repeated("map-fusion") == 8
    assert sdfg.apply_repeated(StateFusion) == 0


def test_explain_one_and_all(sdfg):
    assert sdfg.explain(MapFusion).startswith("map-fusion: 1 of 1 match applies")
    assert "map-fusion" in sdfg.explain()


def test_expand_library_nodes():
    sdfg = gemm.gemm.to_sdfg()
    assert "blas.matmul" in str(sdfg)
    sdfg.expand_library_nodes("openblas")
    assert "cblas_dgemm" in str(sdfg)
    sdfg.validate()


def test_expand_to_plain_loops_that_the_interpreter_runs():
    sdfg = gemm.gemm.to_sdfg()
    sdfg.expand_library_nodes("pure")
    arguments = gemm.initialize(4)
    expected = {name: np.copy(value) for name, value in arguments.items()}
    gemm.gemm.function(**expected)
    sdfg.interpret(**arguments)
    np.testing.assert_allclose(arguments["C"], expected["C"], rtol=1e-12)


def test_calls_are_inlined():
    written = outer.to_sdfg(simplify=False)
    assert "call @" in str(written)
    assert written.apply_repeated(InlineCall) >= 1
    assert "call @" not in str(outer.to_sdfg())


def inner(x):
    return x * 2


@dcpy.program
def outer(A: dcpy.float64[N]):
    A[:] = inner(A) + inner(A + 1)


@pytest.mark.cc
def test_compile(sdfg):
    np.testing.assert_array_equal(values(sdfg.compile()), EXPECTED)
    np.testing.assert_array_equal(values(sdfg), EXPECTED)


def test_view_is_one_file(sdfg, tmp_path):
    page = sdfg.view(tmp_path / "f.html").read_text()
    assert "<svg" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "<svg" in sdfg._repr_html_() or "srcdoc" in sdfg._repr_html_()


def test_an_invalid_sdfg_is_refused(sdfg):
    sdfg.containers.pop("scaled", None) or sdfg.containers.pop("A")
    with pytest.raises(dcpy.DcpyError, match=r"scaled|A"):
        sdfg.validate()


def test_build_by_hand():
    b = dcpy.Builder("axpy")
    n = b.size("N")
    x, y = b.array("x", dcpy.float64, (n,)), b.array("y", dcpy.float64, (n,))
    with b.state(), b.map(i=(0, n)) as (i,):
        b.tasklet("o = 2.0 * xi + yi", xi=x[i], yi=y[i], o=dcpy.Out(y[i]))
    sdfg = b.sdfg
    sdfg.validate()
    vector = np.ones(3)
    sdfg.interpret(x=np.arange(3.0), y=vector)
    np.testing.assert_array_equal(vector, [1, 3, 5])


def test_auto_optimize():
    sdfg = jacobi_2d.jacobi_2d.to_sdfg().auto_optimize()
    assert str(sdfg).count("map ") == 2
    assert str(jacobi_2d.jacobi_2d.to_sdfg().auto_optimize(dcpy.DeviceType.FPGA)) == str(sdfg)


@pytest.mark.parametrize("structure", [{"dict": {"effects": 0}}, [[7]], "x"])
def test_machine_code_is_made_of_valid_sdfgs_only(tmp_path, structure):
    path = tmp_path / "f.sdfg"
    dcpy.parse("sdfg @f(A: f64[3]) -> (A: argument) as 0 { }").save(path)
    document = json.loads(path.read_text())
    document["sdfgs"][0]["structure"] = structure
    path.write_text(json.dumps(document))
    with pytest.raises(dcpy.InvalidSdfg, match="the structure of the results"):
        dcpy.SDFG.load(path)(np.zeros(3))


# -- W15: transformations as the paper names them ----------------------------------------------------------------------


def test_w15_transformations_have_the_names_of_their_classes(sdfg):
    written = scale_and_add.to_sdfg(simplify=False)
    by_name = written.apply("state-fusion").history
    for spelling in ("StateFusion", dcpy.StateFusion, dcpy.StateFusion()):
        assert scale_and_add.to_sdfg(simplify=False).apply(spelling).history == by_name
    assert dcpy.MapFusion is MapFusion
    assert sdfg.explain("MapFusion") == sdfg.explain("map-fusion")
    assert not hasattr(dcpy, "MapFusoin")


def test_w15_a_misspelt_transformation(sdfg):
    for name in ("Statefusion", "state_fusion", "stat-fusion"):
        with pytest.raises(dcpy.UnknownName) as refused:
            sdfg.apply(name)
        assert refused.value.help == "did you mean state-fusion?"


def test_w15_places_are_given_by_name(sdfg):
    reason = "name the place where map-fusion is applied"
    with pytest.raises(dcpy.TransformationRefused, match=reason) as refused:
        sdfg.apply("map-fusion", 5)
    assert "first=Map, tmp=Access, second=Map" in str(refused.value)


def test_w15_types_of_the_ir_equal_those_of_annotations(sdfg):
    assert sdfg.symbols["N"] == dcpy.int64
    assert dcpy.int64 == sdfg.symbols["N"]
    assert dcpy.int64 != dcpy.int32
    assert dcpy.float64 != "float64"
    assert len({dcpy.int64, sdfg.symbols["N"], dcpy.float64}) == 2


def test_code_is_what_is_compiled(sdfg):
    text = sdfg.code()
    assert 'extern "C" int32_t scale_and_add_entry(' in text
    assert "// test_sdfg_api.py:" in text
    in_c = sdfg.code(**{"cpu.language": "c"})
    assert "int32_t scale_and_add_entry(" in in_c
    assert 'extern "C"' not in in_c


@pytest.mark.cc
def test_a_program_in_c(sdfg):
    np.testing.assert_array_equal(values(sdfg.compile(**{"cpu.language": "c"})), EXPECTED)
