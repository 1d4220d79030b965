"""Data movement: what is copied, kept or accumulated close to where it is used."""
