"""Control flow: branches, joins of paths, path-sensitive states, and path splitting."""
