"""How products over ranks are computed."""
