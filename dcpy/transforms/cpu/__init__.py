"""Lowering for CPUs: every map gets a schedule, every transient a storage."""
