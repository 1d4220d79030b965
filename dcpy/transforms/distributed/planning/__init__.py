"""Choosing distributions: candidates, what each choice costs, and the cheapest of all choices."""
