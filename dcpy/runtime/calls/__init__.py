"""Calls: parameters, argument conversion, errors, and callbacks."""
