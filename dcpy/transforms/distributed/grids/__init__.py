"""Operations on grids of ranks: products, solvers, and elementwise operations in blocks."""
