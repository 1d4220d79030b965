"""How scans are computed."""
