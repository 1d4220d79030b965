"""Compilers of host code: finding one, its flags, and building a library."""
