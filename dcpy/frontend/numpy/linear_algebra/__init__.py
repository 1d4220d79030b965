"""Linear algebra: products, decompositions, equations, norms."""
