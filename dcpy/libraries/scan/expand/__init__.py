"""Expansions of scans."""
