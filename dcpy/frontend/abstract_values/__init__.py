"""Abstract values: what names and expressions stand for while a function is lowered."""
