"""Specialization: from a call's arguments to a compiled version with guards. Read `specializer` first."""
