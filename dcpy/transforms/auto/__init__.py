"""The auto-optimizer: the same transformations that users apply, in an order that pays."""
