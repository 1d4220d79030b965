"""The picture of the README: which bars it has."""

import xml.etree.ElementTree as ElementTree

import pytest

from benchmarks.overview import FRAMEWORKS, KERNELS, draw, speedups


def rows(numpy=2.0, dcpy=0.5):
    common = {"preset": "large", "threads": 2, "status": "ok", "numpy_median": numpy}
    for kernel in KERNELS:
        yield {"kernel": kernel, "framework": "numpy"} | common
        yield {"kernel": kernel, "framework": "dcpy", "median": dcpy} | common
        yield {"kernel": kernel, "framework": "numba"} | common | {"status": "refused: TypingError"}
        yield {"kernel": kernel, "framework": "jax", "median": 9.0} | common | {"preset": "S"}


def test_bars_are_times_as_fast_as_numpy_at_large_sizes():
    table = speedups(list(rows()))
    assert table["gemm"] == dict.fromkeys(FRAMEWORKS) | {"dcpy": 4.0}


def test_the_picture_has_all_frameworks_and_is_the_same_each_time(tmp_path):
    pytest.importorskip("matplotlib", reason="pip install '.[bench]'")
    table = speedups(list(rows()))
    for name in ("one.svg", "two.svg"):
        draw(table, tmp_path / name)
    text = (tmp_path / "one.svg").read_text()
    assert text == (tmp_path / "two.svg").read_text()
    words = " ".join(ElementTree.fromstring(text).itertext())
    assert all(word in words for word in ("dcpy", "Numba", "JAX", "times as fast as NumPy", "matrix product"))
