"""Arrays: indexing and assignment, who shares memory with whom, arrays that move and change their size."""
