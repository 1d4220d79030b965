"""Expansions of the nodes that communicate: calls of MPI, or of nobody where there is one rank."""
