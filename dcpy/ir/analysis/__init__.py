"""Questions about an SDFG: what is touched, what is known, what depends on what. Nothing here changes one."""
