"""Explanations of compiled programs: decisions, refusals, and the roofline. Those of one target are in `targets`."""
