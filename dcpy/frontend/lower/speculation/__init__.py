"""Speculation: facts that lowering requests of run-time values, and the guards that test them."""
