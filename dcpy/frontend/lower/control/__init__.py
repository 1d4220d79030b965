"""Control flow: branches, loops and parallel maps, and what names stand for where paths meet."""
