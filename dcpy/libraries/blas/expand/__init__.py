"""How products of matrices and vectors are computed."""
