"""How the random nodes are computed."""
