"""Control-flow simplification: dead branches, empty states, and trivial loops and maps."""
