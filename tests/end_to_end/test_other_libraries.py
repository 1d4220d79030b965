"""Programs among other packages, as people use them there: pandas, xarray, Arrow, dask, joblib and pools."""

import concurrent.futures
import multiprocessing
import runpy

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import ArgumentError, ReadOnlyArgument
from docs.fences import peers
from docs.generate import DOCS

PAGE = peers((DOCS / "guide" / "arrays-of-others.md").read_text())
MODULES = {"JAX": "jax"}  # of tools whose name is not that of their module

pytestmark = [pytest.mark.cc, pytest.mark.others]


@dcpy.program
def doubled(x):
    return x * 2.0


@dcpy.program
def norm(x):
    return np.sqrt((x * x).sum())


@dcpy.program
def largest(x, factor):
    return x.max(axis=-1) * factor


@dcpy.program(convert=True)
def scaled(x, factor=2.0):
    return x * factor


@dcpy.program(convert=True)
def cleared(x):
    x[0] = 0.0


def test_columns_of_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"g": ["a", "a", "b"], "v": [1.0, 2.0, 3.0], "w": [1.0, 1.0, 1.0]})
    np.testing.assert_array_equal(scaled(frame["v"]), [2.0, 4.0, 6.0])
    np.testing.assert_array_equal(frame.assign(z=scaled(frame["v"]))["z"], [2.0, 4.0, 6.0])
    np.testing.assert_array_equal(frame["v"].pipe(scaled, factor=3.0), [3.0, 6.0, 9.0])
    assert np.shares_memory(dcpy.program(lambda x: x, convert=True)(frame["v"]), frame["v"].to_numpy())
    with pytest.raises(ArgumentError, match=r"pandas[\w.]*\.Series, which is not a NumPy array") as caught:
        doubled(frame["v"])
    assert caught.value.help.endswith("or let the program do so: @dcpy.program(convert=True)")
    doubled(frame["v"].to_numpy())


def test_functions_that_pandas_calls():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"g": ["a", "a", "b"], "v": [1.0, 2.0, 2.0], "w": [0.0, 1.0, 1.0]})
    np.testing.assert_allclose(frame[["v", "w"]].apply(norm, axis=1, raw=True) ** 2, [1.0, 5.0, 5.0])
    np.testing.assert_allclose(frame["v"].rolling(2).apply(norm, raw=True)[1:] ** 2, [5.0, 8.0])
    np.testing.assert_allclose(frame.groupby("g")["v"].agg(dcpy.program(norm.function, convert=True)) ** 2, [5.0, 4.0])


def test_what_pandas_cannot_show_without_a_copy_is_refused():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ArgumentError, match="whose memory NumPy cannot read as it is"):
        scaled(pandas.Series([1.0, None], dtype="Float64"))
    with pytest.raises(ArgumentError, match="dtype datetime64"):
        scaled(pandas.Series(pandas.date_range("2020", periods=3)))
    frozen = pandas.Series([1.0, 2.0])
    frozen = frozen if not np.asarray(frozen).flags.writeable else np.asarray(frozen).view()
    if isinstance(frozen, pandas.Series):  # copy on write, since pandas 3
        with pytest.raises(ReadOnlyArgument) as caught:
            cleared(frozen)
        assert caught.value.help == "pass np.array(x), and copy back what is written"


def test_arrays_of_xarray():
    xarray = pytest.importorskip("xarray")
    data = xarray.DataArray(np.arange(6.0).reshape(2, 3), dims=("t", "s"), coords={"t": [1, 2]})
    np.testing.assert_array_equal(scaled(data), 2.0 * data.values)
    cleared(data)
    np.testing.assert_array_equal(data.values[0], 0.0)
    for found in (
        xarray.apply_ufunc(largest, data, 2.0, input_core_dims=[["s"], []]),
        xarray.apply_ufunc(norm, data, input_core_dims=[["s"]], vectorize=True),
    ):
        assert found.dims == ("t",)
        assert list(found["t"]) == [1, 2]


def test_xarray_over_dask():
    xarray, _ = pytest.importorskip("xarray"), pytest.importorskip("dask.array")
    data = xarray.DataArray(np.arange(6.0).reshape(2, 3), dims=("t", "s")).chunk({"t": 1})
    found = xarray.apply_ufunc(doubled, data, dask="parallelized", output_dtypes=[float])
    np.testing.assert_array_equal(found.compute(), 2.0 * np.arange(6.0).reshape(2, 3))
    with pytest.raises(ArgumentError, match="which is not computed yet") as caught:
        scaled(data)
    assert caught.value.help.startswith("pass x.compute(), or let its library call the program")


def test_arrays_of_arrow():
    arrow = pytest.importorskip("pyarrow")
    given = arrow.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(scaled(given), [2.0, 4.0, 6.0])
    with pytest.raises(ArgumentError, match=r"DoubleArray, which is not a NumPy array"):
        doubled(given)
    with pytest.raises(ReadOnlyArgument):
        cleared(given)
    for kept in (arrow.array([1.0, None]), arrow.array([True, False]), arrow.chunked_array([[1.0], [2.0]])):
        with pytest.raises(ArgumentError, match="whose memory NumPy cannot read as it is"):
            scaled(kept)


def test_blocks_of_dask():
    dask, array = pytest.importorskip("dask"), pytest.importorskip("dask.array")
    blocks = array.ones((8, 6), chunks=(4, 3))
    assert blocks.map_blocks(doubled).compute().sum() == 96.0
    assert blocks.map_overlap(doubled, depth=1, boundary="reflect").compute().sum() == 96.0
    rows = blocks.rechunk((4, 6))
    np.testing.assert_array_equal(array.map_blocks(largest, rows, 2.0, drop_axis=1).compute(), [2.0] * 8)
    np.testing.assert_array_equal(array.apply_gufunc(largest, "(i),()->()", rows, 2.0).compute(), [2.0] * 8)
    assert dask.delayed(norm)(np.ones(4)).compute() == 2.0
    with pytest.raises(ArgumentError, match="which is not computed yet"):
        doubled(blocks)


def test_dask_tells_programs_apart():
    tokenize = pytest.importorskip("dask.base").tokenize
    others = [doubled, norm, dcpy.program(norm.function, simplify=False), dcpy.program(lambda x: x * 3.0)]
    assert len({tokenize(one) for one in others}) == len(others)
    assert tokenize(doubled) == tokenize(doubled)


def test_joblib(tmp_path):
    joblib = pytest.importorskip("joblib")
    for kind in ("threads", "processes"):
        found = joblib.Parallel(2, prefer=kind, max_nbytes=8)(joblib.delayed(norm)(np.ones(k * k)) for k in (1, 2, 3))
        assert found == [1.0, 2.0, 3.0]
    remembered = joblib.Memory(tmp_path, verbose=0).cache(norm)
    assert [remembered(np.ones(4)), remembered(np.ones(4))] == [2.0, 2.0]
    assert joblib.hash(norm) != joblib.hash(doubled)


def test_pools_of_python():
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        assert list(threads.map(norm, [np.ones(4), np.ones(9)])) == [2.0, 3.0]
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as processes:
        assert list(processes.map(abs_of_twice, [-1.0, 2.0])) == [2.0, 4.0]


def abs_of_twice(x):
    return abs(doubled(np.array([x]))[0])


def test_programs_by_value():
    cloudpickle = pytest.importorskip("cloudpickle")
    sent = cloudpickle.dumps(dcpy.program(lambda x: x + 1))
    np.testing.assert_array_equal(cloudpickle.loads(sent)(np.ones(2)), [2.0, 2.0])


def test_functions_of_numpy_that_call_programs():
    rows = np.ones((3, 4))
    np.testing.assert_array_equal(np.vectorize(norm, signature="(n)->()")(rows), [2.0] * 3)
    np.testing.assert_array_equal(np.apply_along_axis(norm, 1, rows), [2.0] * 3)


@pytest.mark.parametrize("tool", PAGE)
def test_the_programs_of_the_page_run(tool, tmp_path):
    pytest.importorskip(MODULES.get(tool, tool))
    path = tmp_path / "page.py"
    path.write_text(PAGE[tool])
    runpy.run_path(str(path))
