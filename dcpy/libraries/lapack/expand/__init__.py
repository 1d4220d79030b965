"""Expansions of the nodes of `libraries.lapack`: calls of LAPACK itself, and for some nodes loops (`maps`)."""
