"""Arrays are in the banks that somebody chose."""

import pytest

from dcpy.base.errors import TransformationRefused
from dcpy.transforms.fpga.place_in_banks import PlaceInBanks
from tests.support.passes import Passed

COPIED = """sdfg @f(x: f32[64, N]{x}, y: f32[64, N]{y}) symbols(N: size) {{
    state {{ copy x[0:64, 0:N] -> y[0:64, 0:N] }} }}"""


def test_arrays_are_placed():
    Passed(COPIED.format(x="", y=""), PlaceInBanks("x=ddr 1, y = hbm 0:4 axis 1")).becomes(
        COPIED.format(x=" bank ddr 1", y=" bank hbm 0:4 axis 1")
    ).same_values(N=[0, 3])


@pytest.mark.parametrize("places", ["", "x=ddr", "x=ddr 1 axis 0", "N=ddr 1", "x=ddr 1; y=ddr 2"])
def test_what_is_no_place(places):
    with pytest.raises(TransformationRefused):
        Passed(COPIED.format(x="", y=""), PlaceInBanks(places))
