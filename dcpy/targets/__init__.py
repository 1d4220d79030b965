"""Targets: for each machine the passes that lead to it, its code generator and its compiler. Read `target` first."""
