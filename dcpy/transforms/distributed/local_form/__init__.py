"""Local form: the program of one rank. Read `localize` first."""
