"""Mathematical functions: running sums, calculus on samples, polynomials, windows."""
