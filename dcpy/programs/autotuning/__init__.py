"""Autotuning: measured variants of a program."""
