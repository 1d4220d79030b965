"""Owner computes: where maps run, and where temporaries and results live."""
