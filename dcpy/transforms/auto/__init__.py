"""The auto-optimizer: a pipeline of the transformations that users apply by hand."""
