"""How reductions are computed."""
