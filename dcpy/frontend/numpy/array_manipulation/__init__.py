"""Array manipulation routines: shapes, joining, splitting, padding, inserting."""
