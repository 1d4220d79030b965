"""How the nodes of indexing are computed."""
