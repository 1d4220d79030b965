"""How the nodes of sorting are computed."""
