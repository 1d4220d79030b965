"""Basic linear algebra: products of matrices and vectors, as loops or through cblas."""
