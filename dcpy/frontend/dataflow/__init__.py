"""Explicit dataflow: tasklets, memlets and scopes as users of data-centric Python write them by hand."""

import dcpy.frontend.lower  # noqa: F401  (the package that calls this one comes first, whoever asks for either)
