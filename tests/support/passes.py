"""Passes on texts: what they make of a program, verified after each change, and what they say about it."""

from dcpy import plugins
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.text import print_sdfg
from dcpy.transforms.pass_manager import run_pipeline
from dcpy.transforms.pipeline import Pipeline
from tests.support.expect import assert_same_text, assert_same_values, parse


class Passed:
    """A program before and after passes, and their remarks."""

    def __init__(self, text, *passes):
        plugins.load()
        self.before = parse(text)
        self.after = copy_sdfg(self.before)
        self.remarks = run_pipeline(self.after, Pipeline("passes", *passes), check=True, explain=True).remarks

    def becomes(self, text):
        """It has this text."""
        assert_same_text(print_sdfg(self.after), print_sdfg(parse(text)))
        return self

    def same_values(self, **values):
        """The interpreter gives the same before and after, for all combinations of the given values."""
        assert_same_values(self.before, self.after, values)
        return self

    def says(self, *reasons, applied=True):
        """For each of these texts there is a remark that holds it."""
        told = [str(remark) for remark in self.remarks if remark.applied == applied]
        for reason in reasons:
            assert any(reason in remark for remark in told), told
        return self

    @property
    def text(self):
        return print_sdfg(self.after)
