"""Fusion of maps; the temporaries between them become private."""
