"""Stores under a mask, ``x[m] = f(y[m])``, as choices between whole arrays, ``x = np.where(m, f(y), x)``.

A mask is a comparison, a call that compares, what combines masks, or a name that is given nothing else. Values that are
read under the same mask are read as a whole: what they are elsewhere is not chosen.
"""

from __future__ import annotations

import ast

COMPARING = (
    "less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "logical_and", "logical_or", "logical_not",
    "logical_xor", "isnan", "isinf", "isfinite",
)  # fmt: skip


def names_of_masks(function: ast.FunctionDef) -> set[str]:
    """The names that a function gives masks, and nothing else."""
    given: dict[str, list[ast.expr]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    given.setdefault(target.id, []).append(node.value)
    found: set[str] = set()
    for _ in given:  # as often as one may be made of others
        found = {name for name, values in given.items() if all(is_mask(value, found) for value in values)}
    return found


def is_mask(node: ast.expr, names: set[str]) -> bool:
    """Whether an expression is a mask, where these names are."""
    match node:
        case ast.Compare():
            return True
        case ast.Name(id=name):
            return name in names
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np"), attr=name)):
            return name in COMPARING
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            return is_mask(operand, names)
        case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr() | ast.BitXor(), right=right):
            return is_mask(left, names) and is_mask(right, names)
    return False


def stored_in_place(source: str) -> str:
    """A source whose stores under masks write the whole array where it is."""
    lines = source.splitlines()
    for function in [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]:
        masks = names_of_masks(function)
        for node in ast.walk(function):
            if isinstance(node, ast.stmt) and (text := under_mask(node, masks)) and node.lineno == node.end_lineno:
                name, _, value = text[0].partition(" = ")
                lines[node.lineno - 1] = f"{' ' * node.col_offset}{name}[...] = {value}"
    return "\n".join(lines) + "\n"


def under_mask(node: ast.stmt, names: set[str]) -> list[str] | None:
    """A store under a mask, as a line; None for other statements."""
    match node:
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name), slice=mask)], value=value):
            fresh = whole(value, mask)
        case ast.AugAssign(target=ast.Subscript(value=ast.Name(id=name), slice=mask), op=op, value=value):
            operand = ast.parse(whole(value, mask), mode="eval").body
            fresh = ast.unparse(ast.BinOp(ast.Name(name), op, operand))
        case _:
            return None
    return [f"{name} = np.where({ast.unparse(mask)}, {fresh}, {name})"] if is_mask(mask, names) else None


def whole(value: ast.expr, mask: ast.expr) -> str:
    """An expression that reads whole arrays where it reads them under this mask."""

    class Whole(ast.NodeTransformer):
        def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
            self.generic_visit(node)
            return node.value if ast.dump(node.slice) == ast.dump(mask) else node

    return ast.unparse(Whole().visit(ast.parse(ast.unparse(value), mode="eval").body))
