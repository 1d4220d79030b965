"""The textual form of the IR: printed for people, parsed from tests and bug reports, the same bytes every time.

`printer` and `parser` stand side by side and are each other's inverse; `lexer` has the tokens, ``expr_*`` the scalar
expressions, ``declaration_*`` the containers.
"""

from dcpy.ir.text.expr_printer import print_expr
from dcpy.ir.text.parser import parse_code, parse_scalar, parse_sdfg
from dcpy.ir.text.printer import print_block, print_node, print_sdfg

__all__ = ["parse_code", "parse_scalar", "parse_sdfg", "print_block", "print_expr", "print_node", "print_sdfg"]
