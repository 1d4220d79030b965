"""Former names of a module's attributes."""

from __future__ import annotations

import pytest

from dcpy.codegen.lir import tree
from dcpy.targets import command_line


def test_a_former_name_works_with_a_warning():
    with pytest.warns(DeprecationWarning, match=r"dcpy.codegen.lir.tree.Team is called TeamCall now"):
        assert tree.Team is tree.TeamCall
    with pytest.warns(DeprecationWarning, match="is called LibraryOptions now"):
        assert command_line.Library is command_line.LibraryOptions


def test_other_names_are_unknown():
    with pytest.raises(AttributeError, match="has no attribute"):
        tree.Teams  # noqa: B018
