"""Expansions of the nodes that communicate: calls of MPI, or copies where there is one rank."""
