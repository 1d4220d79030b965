"""Parameters of kernels: what is only read is const and restrict; what may be written under another name is not."""

from __future__ import annotations

import re

import pytest

from dcpy.base.option_groups.gpu import GpuOptions
from dcpy.base.options import resolve_options
from dcpy.codegen.gpu.program import generate_gpu
from dcpy.ir.text import parse_sdfg
from dcpy.runtime.gpu.sass import count, instructions
from tests.codegen.test_kernels import AXPY
from tests.runtime.gpu import chips

OPTIONS = resolve_options({"device": "gpu", "gpu.backend": "simulator"}, environ={})
SHIFT = """
    sdfg @shift(A: f64[N]{a}, B: f64[N]{b}, C: f64[N]{c}) symbols(N: size) {{
      {views}
      state {{ map b = 0:N:256 @grid {{ state {{ map i = b:min(b + 256, N) @block {{ state {{
        tasklet (p <- {read}, q <- C[N - 1 - i]) -> (o -> B[i]) {{ o = p + q }}
      }} }} }} }} }}
    }}"""


def pointers(a="", b="", c="", views="", read="A[i]"):
    """Of the kernel of `SHIFT`, with arguments on the device: by name, how they are declared."""
    of_device = {"a": f" @global{a}", "b": f" @global{b}", "c": f" @global{c}"}
    unit = generate_gpu(parse_sdfg(SHIFT.format(views=views, read=read, **of_device)), None, None, OPTIONS).units[1]
    found = re.findall(r"((?:const )?double \*(?:__restrict )?)(\w)", unit.text)
    return {name: declared.strip() for declared, name in found}


def test_what_is_only_read_is_const():
    assert pointers() == {
        "A": "const double *__restrict", "B": "double *__restrict", "C": "const double *__restrict",
    }  # fmt: skip


def test_what_may_be_written_under_another_name_is_not_const():
    assert pointers(a=" alias x", b=" alias x") == {
        "A": "double *", "B": "double *", "C": "const double *__restrict",
    }  # fmt: skip


def test_what_overlaps_but_is_only_read_is_restrict():
    assert pointers(a=" alias x", c=" alias x") == {
        "A": "const double *__restrict", "B": "double *__restrict", "C": "const double *__restrict",
    }  # fmt: skip


def test_a_view_counts_as_its_array():
    view = "view v: f64[N] of B"
    assert pointers(views=view, read="v[i]") == {"B": "double *__restrict", "C": "const double *__restrict"}


@pytest.mark.cc
def test_what_is_only_read_comes_through_the_read_only_path():
    chips.needs("nvdisasm")
    artifact = generate_gpu(parse_sdfg(AXPY), None, None, OPTIONS)
    binary = chips.nvrtc().compile(artifact.units[1], chips.HEADERS, "sm_80", GpuOptions())
    (found,) = instructions(binary.code).values()
    assert (count(found, "LDG"), count(found, "LDG.CONSTANT")) == (2, 1)
