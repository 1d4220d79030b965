"""Communication: inserted where a rank lacks what it reads, and removed where it is redundant."""
