"""Solving and decomposing: what LAPACK computes, as library nodes (`nodes`) and their expansions (`expand`)."""
