"""Arrays: indexing and assignment, aliasing, memory order, dynamic views and dynamic sizes."""
