"""The traversal of Python's trees visits what `ast.walk` visits, in the same order."""

import ast
import inspect

import pytest

from dcpy.frontend.desugar import bound_and_free_names, core, statements
from dcpy.frontend.introspection import ast_traversal


@pytest.mark.parametrize(
    "module", [ast_traversal, core, bound_and_free_names, statements, ast, inspect], ids=lambda module: module.__name__
)
def test_the_order_is_that_of_ast_walk(module):
    tree = ast.parse(inspect.getsource(module))
    assert list(map(id, ast_traversal.walk(tree))) == list(map(id, ast.walk(tree)))


def test_a_tree_may_be_left_before_its_end():
    assert isinstance(next(iter(ast_traversal.walk(ast.parse("x = 1")))), ast.Module)
