"""Automatic differentiation of SDFGs: forward and reverse mode, each a transformation whose result is an SDFG.

`dcpy.programs.gradients` has the user's words. Rules of library nodes are the libraries' own, and meet in a registry.
"""
