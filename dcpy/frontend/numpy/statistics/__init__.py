"""Statistics: reductions, moments, quantiles, histograms, and what is not NaN."""
