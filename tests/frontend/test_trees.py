"""The traversal of Python's trees visits what `ast.walk` visits, in the same order."""

import ast
import inspect

import pytest

from dcpy.frontend import trees
from dcpy.frontend.desugar import core, names, statements


@pytest.mark.parametrize("module", [trees, core, names, statements, ast, inspect], ids=lambda module: module.__name__)
def test_the_order_is_that_of_ast_walk(module):
    tree = ast.parse(inspect.getsource(module))
    assert list(map(id, trees.walk(tree))) == list(map(id, ast.walk(tree)))


def test_a_tree_may_be_left_before_its_end():
    assert isinstance(next(iter(trees.walk(ast.parse("x = 1")))), ast.Module)
