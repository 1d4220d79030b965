"""Library nodes by kind, their expansions, foreign functions, and Python functions that stay Python."""
