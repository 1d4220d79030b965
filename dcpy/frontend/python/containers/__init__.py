"""Python's containers whose contents are known at run time only, as classes that are lowered like a user's."""
