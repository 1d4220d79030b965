"""Results of functions: containers, nesting, returned views, and agreement of several returns."""
