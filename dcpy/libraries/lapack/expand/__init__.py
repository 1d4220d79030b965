"""How the nodes of `libraries.lapack` are computed: by LAPACK itself, and for some by loops (`maps`)."""
