"""Core statements: what is left of Python syntax before anything is typed."""
